//! What dead runs left behind. The agents die with the harness; a network cannot.

use std::collections::HashMap;

use bollard::query_parameters::ListContainersOptionsBuilder;
use futures_util::future::join_all;

use super::{
    engine::{Engine, LABEL_OWNER, LABEL_RUN, explain},
    layer, network, node, owner,
};
use crate::error::{Error, Result};

/// Removes everything of one run, whatever state it is in; what was under way in the engine meanwhile, too.
pub async fn remove_run(engine: &Engine, run: &str) -> Result<()> {
    let filter = HashMap::from([("label".to_string(), vec![format!("{LABEL_RUN}={run}")])]);
    let options = ListContainersOptionsBuilder::default().all(true).filters(&filter).build();
    for _ in 0..300 {
        let containers = engine
            .docker
            .list_containers(Some(options.clone()))
            .await
            .map_err(|error| Error::Harness(format!("failed to list containers: {}", explain(&error))))?;
        let ids: Vec<String> = containers.into_iter().filter_map(|container| container.id).collect();
        if ids.is_empty() {
            break;
        }
        let removed = join_all(ids.iter().map(|id| node::remove(engine, id))).await;
        removed.into_iter().collect::<Result<()>>()?;
        // Those that the engine was removing already take a moment.
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    network::Network::remove(engine, &network::name(run), 300).await
}

/// What was found, and removed unless only looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Leftovers {
    /// Containers by name.
    pub containers: Vec<String>,
    /// Networks by name.
    pub networks: Vec<String>,
}

/// Things of runs whose harness is gone; never those of a living one, never what is not ours.
pub async fn find_abandoned(engine: &Engine) -> Result<Leftovers> {
    let filter = HashMap::from([("label".to_string(), vec![LABEL_RUN.to_string()])]);
    let options = ListContainersOptionsBuilder::default().all(true).filters(&filter).build();
    let containers = engine
        .docker
        .list_containers(Some(options))
        .await
        .map_err(|error| Error::Unavailable(format!("failed to list containers: {}", explain(&error))))?;
    let containers = containers
        .into_iter()
        .filter(|container| {
            let label = container.labels.as_ref().and_then(|labels| labels.get(LABEL_OWNER));
            label.is_some_and(|label| owner::is_gone(label))
        })
        .filter_map(|container| container.names?.first().map(|name| name.trim_start_matches('/').to_string()))
        .collect();
    let networks = network::abandoned(engine).await?;
    Ok(Leftovers { containers, networks })
}

/// Removes them.
pub async fn remove_abandoned(engine: &Engine) -> Result<Leftovers> {
    let found = find_abandoned(engine).await?;
    for container in &found.containers {
        node::remove(engine, container).await?;
    }
    for name in &found.networks {
        // Its containers are long gone: what does not go now is stuck in the engine.
        network::Network::remove(engine, name, 3).await?;
    }
    Ok(found)
}

/// Removes node images; those that containers use stay. Returns how many went.
pub async fn remove_node_images(engine: &Engine) -> Result<usize> {
    layer::remove_unused(engine, &[]).await
}
