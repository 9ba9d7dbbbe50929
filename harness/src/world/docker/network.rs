//! A run's own bridge network.

use std::{collections::HashMap, net::Ipv4Addr};

use bollard::{
    models::{Ipam, IpamConfig, NetworkCreateRequest},
    query_parameters::ListNetworksOptionsBuilder,
};

use super::{
    engine::{Engine, LABEL_OWNER, LABEL_RUN, explain},
    owner,
};
use crate::error::{Error, Result};

/// 198.18.0.0/15 is set aside for test beds (RFC 2544): 512 networks of /24 that clash with nobody's LAN or VPN.
const SUBNETS: u32 = 512;

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
            match engine.docker.create_network(network.request(run)).await {
                Ok(_) => return Ok(network),
                Err(error) => refusal = explain(&error),
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

    fn request(&self, run: &str) -> NetworkCreateRequest {
        NetworkCreateRequest {
            name: self.name.clone(),
            driver: Some("bridge".into()),
            internal: Some(true),
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

    /// Removes it. The last containers may still be going: tried `tries` times, ten a second.
    pub async fn remove(engine: &Engine, name: &str, tries: u32) -> Result<()> {
        let mut refusal = String::new();
        for _ in 0..tries {
            match engine.docker.remove_network(name).await {
                Ok(()) => return Ok(()),
                Err(bollard::errors::Error::DockerResponseServerError { status_code: 404, .. }) => {
                    return Ok(());
                }
                Err(error) => refusal = explain(&error),
            }
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
        Err(Error::Harness(format!("failed to remove network {name}: {refusal}")))
    }
}

/// Names of networks of runs whose harness is gone.
pub async fn abandoned(engine: &Engine) -> Result<Vec<String>> {
    let filter = HashMap::from([("label".to_string(), vec![LABEL_RUN.to_string()])]);
    let options = ListNetworksOptionsBuilder::default().filters(&filter).build();
    let networks = engine
        .docker
        .list_networks(Some(options))
        .await
        .map_err(|error| Error::Unavailable(format!("failed to list networks: {}", explain(&error))))?;
    Ok(networks
        .into_iter()
        .filter_map(|network| {
            let labels = network.labels?;
            owner::is_gone(labels.get(LABEL_OWNER)?).then_some(network.name?)
        })
        .collect())
}
