//! What dead runs left behind. The agents die with the harness; a network cannot.

use std::time::{Duration, Instant};

use futures_util::future::join_all;

use super::{
    layer,
    network::{self, Found},
    node,
};
use crate::engine::{Engine, LABEL_OWNER, LABEL_RUN, meant::Endpoint};
use crate::error::{Error, Result};
use crate::owner;

/// From one look to the next.
const LOOK: Duration = Duration::from_millis(100);
/// How long the engine may take to remove what there is.
const LIMIT: Duration = Duration::from_secs(60);

/// Removes everything of one run, whatever state it is in. Looks on until nothing has come up for `quiet`: the engine
/// still makes what a client asked for that is gone.
pub async fn remove_run(engine: &Engine, run: &str, quiet: Duration) -> Result<()> {
    let begun = Instant::now();
    let mut last = begun;
    loop {
        let refusal = match remove_once(engine, run).await {
            Ok(false) if last.elapsed() >= quiet => return Ok(()),
            Ok(false) => None,
            Ok(true) => {
                last = Instant::now();
                None
            }
            // Containers may still be going, and their network with them.
            Err(error) => Some(error),
        };
        if begun.elapsed() > LIMIT {
            let stuck = || Error::Harness(format!("the engine does not remove what there is of {run}"));
            return Err(refusal.unwrap_or_else(stuck));
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// Whether there was any container to remove; without one the network is removed.
async fn remove_once(engine: &Engine, run: &str) -> Result<bool> {
    let containers = engine
        .containers(&format!("{LABEL_RUN}={run}"))
        .await
        .map_err(|why| Error::Harness(format!("failed to list containers: {why}")))?;
    if containers.is_empty() {
        return network::Network::remove(engine, &network::name(run)).await.map(|()| false);
    }
    let removed = join_all(containers.iter().map(|container| node::remove(engine, &container.id))).await;
    removed.into_iter().collect::<Result<()>>().map(|()| true)
}

/// What was found of runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Leftovers {
    /// Containers of dead ones, by name; removed unless only looked for.
    pub containers: Vec<String>,
    /// Networks of dead ones, by name; likewise.
    pub networks: Vec<String>,
    /// Things of which it cannot be told from here whether their run lives, with its owner. They are left alone.
    pub out_of_sight: Vec<(String, String)>,
}

/// Things of runs whose harness is gone; never those of a living one, never what is not ours.
pub async fn find_abandoned(engine: &Engine) -> Result<Leftovers> {
    let containers = engine
        .containers(LABEL_RUN)
        .await
        .map_err(|why| Error::Unavailable(format!("failed to list containers: {why}")))?;
    let containers = containers.into_iter().filter_map(|mut container| {
        let name = container.names.first()?.trim_start_matches('/').to_string();
        Some(Found { name, owner: container.labels.remove(LABEL_OWNER)?, made: container.created })
    });
    let networks = network::of_runs(engine).await?;
    let mut found = Leftovers::default();
    let is_near = matches!(engine.meant.endpoint, Endpoint::Unix(_));
    let mut judged = |thing: Found, gone: fn(&mut Leftovers) -> &mut Vec<String>| {
        // At a far engine other machines have their things too, and one may bear our name: none is taken for what we
        // owned before we were started.
        let made = if is_near { thing.made } else { Some(i64::MAX) };
        if owner::is_gone(&thing.owner, made) {
            gone(&mut found).push(thing.name);
        } else if owner::is_out_of_sight(&thing.owner, made) {
            found.out_of_sight.push((thing.name, thing.owner));
        }
    };
    containers.for_each(|container| judged(container, |found| &mut found.containers));
    networks.into_iter().for_each(|network| judged(network, |found| &mut found.networks));
    Ok(found)
}

/// Removes them.
pub async fn remove_abandoned(engine: &Engine) -> Result<Leftovers> {
    let found = find_abandoned(engine).await?;
    for container in &found.containers {
        node::remove(engine, container).await?;
    }
    for name in &found.networks {
        let mut removed = network::Network::remove(engine, name).await;
        // Its containers are long gone, or just going: what does not go now is stuck in the engine.
        for _ in 0..3 {
            if removed.is_ok() {
                break;
            }
            tokio::time::sleep(LOOK).await;
            removed = network::Network::remove(engine, name).await;
        }
        removed?;
    }
    Ok(found)
}

/// Removes node images; those that containers use stay. Returns how many went.
pub async fn remove_node_images(engine: &Engine) -> Result<usize> {
    layer::remove_unused(engine, &[]).await
}
