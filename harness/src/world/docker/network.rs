//! A run's own bridge network.

use std::{collections::HashMap, net::Ipv4Addr};

use bollard::{
    models::{Ipam, IpamConfig, NetworkCreateRequest},
    query_parameters::ListNetworksOptionsBuilder,
};

use crate::engine::{Engine, LABEL_OWNER, LABEL_RUN, explain};
use crate::error::{Error, Result};
use crate::owner;

/// 198.18.0.0/15 is set aside for test beds (RFC 2544): 512 networks of /24 that clash with nobody's LAN or VPN.
const SUBNETS: u32 = 512;

/// Keeps the engine from giving the bridge an address.
const NO_ADDRESS: &str = "com.docker.network.bridge.inhibit_ipv4";

/// The network's name in the engine.
pub fn name(run: &str) -> String {
    format!("fencepost-{run}")
}

/// A network that exists.
pub struct Network {
    /// Its name in the engine.
    pub name: String,
    third: u32,
}

impl Network {
    /// Makes an internal bridge with the first free /24, counting from one that depends on the run's name.
    pub async fn create(engine: &Engine, run: &str) -> Result<Network> {
        let name = name(run);
        let first =
            run.bytes().fold(7u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into())) % SUBNETS;
        let mut refusal = String::new();
        for step in 0..SUBNETS {
            let network = Network { name: name.clone(), third: (first + step) % SUBNETS };
            match network.made(engine, run).await {
                Ok(()) => return Ok(network),
                Err(error) => refusal = error,
            }
            let taken =
                refusal.contains("overlap") || refusal.contains("conflicts") || refusal.contains("in use");
            if !taken {
                break;
            }
        }
        Err(Error::Unavailable(format!(
            "no network of its own for the run: {refusal}\n  `fencepost clean` removes networks of dead runs; `docker network ls` shows the others"
        )))
    }

    async fn made(&self, engine: &Engine, run: &str) -> Result<(), String> {
        let made = |apart| engine.docker.create_network(self.request(run, apart));
        match made(true).await.map_err(|error| explain(&error)) {
            // Engines of another make take no option that they do not know.
            Err(refusal) if refusal.contains("option") => made(false).await.map_err(|error| explain(&error)),
            made => made,
        }
        .map(drop)
    }

    /// `apart`: the host has no address on the bridge, so that what listens there is not reached from the nodes.
    fn request(&self, run: &str, apart: bool) -> NetworkCreateRequest {
        let apart = apart.then(|| HashMap::from([(NO_ADDRESS.to_string(), "true".to_string())]));
        NetworkCreateRequest {
            name: self.name.clone(),
            driver: Some("bridge".into()),
            internal: Some(true),
            options: apart,
            ipam: Some(Ipam {
                config: Some(vec![IpamConfig { subnet: Some(self.subnet()), ..Default::default() }]),
                ..Default::default()
            }),
            labels: Some(HashMap::from([
                (LABEL_RUN.to_string(), run.to_string()),
                (LABEL_OWNER.to_string(), owner::this_process()),
            ])),
            ..Default::default()
        }
    }

    fn subnet(&self) -> String {
        format!("{}/24", self.address(0))
    }

    /// The address with this last byte.
    pub fn address(&self, last: u8) -> Ipv4Addr {
        let base = u32::from(Ipv4Addr::new(198, 18, 0, 0));
        Ipv4Addr::from(base + (self.third << 8) + u32::from(last))
    }

    /// Removes it; one that is gone already is what was wanted.
    pub async fn remove(engine: &Engine, name: &str) -> Result<()> {
        match engine.docker.remove_network(name).await {
            Ok(()) | Err(bollard::errors::Error::DockerResponseServerError { status_code: 404, .. }) => {
                Ok(())
            }
            Err(error) => {
                let why = if is_empty(engine, name).await { LOST_COUNT } else { "" };
                Err(Error::Harness(format!("failed to remove network {name}: {}{why}", explain(&error))))
            }
        }
    }
}

/// Seen of engine 20.10 under load; nothing but its end frees such a network.
const LOST_COUNT: &str = "; no container is connected to it, so the engine has lost count of them: restart the engine, \
                          then `fencepost clean` removes it";

/// Whether the engine itself says that no container is connected to a network.
async fn is_empty(engine: &Engine, name: &str) -> bool {
    let network = engine.docker.inspect_network(name, None).await;
    network.is_ok_and(|network| network.containers.is_some_and(|containers| containers.is_empty()))
}

/// A thing of some run's.
pub struct Found {
    /// Its name.
    pub name: String,
    /// What its label says.
    pub owner: String,
    /// When it was made, in seconds since 1970, if the engine tells.
    pub made: Option<i64>,
}

/// The networks of all runs.
pub async fn of_runs(engine: &Engine) -> Result<Vec<Found>> {
    let filter = HashMap::from([("label".to_string(), vec![LABEL_RUN.to_string()])]);
    let options = ListNetworksOptionsBuilder::default().filters(&filter).build();
    let networks = engine
        .docker
        .list_networks(Some(options))
        .await
        .map_err(|error| Error::Unavailable(format!("failed to list networks: {}", explain(&error))))?;
    let labelled = networks.into_iter().filter_map(|network| {
        let owner = network.labels?.remove(LABEL_OWNER)?;
        let made = network.created.and_then(|made| made.parse::<jiff::Timestamp>().ok());
        Some(Found { name: network.name?, owner, made: made.map(|made| made.as_second()) })
    });
    Ok(labelled.collect())
}
