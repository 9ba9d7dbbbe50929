//! The Docker engine: connection, facts about it, labels of what is ours.

use bollard::Docker;
use serde::Serialize;

use crate::error::{Error, Result};

/// Every container, network and image that we make carries this label; nothing without it is ever touched.
pub const LABEL_RUN: &str = "fencepost.run";
/// Which process owns a run's things: `host/boot/pid/start`, so that leftovers of a dead one can be told apart.
pub const LABEL_OWNER: &str = "fencepost.owner";
/// The node that a container is.
pub const LABEL_NODE: &str = "fencepost.node";
/// On images: the digest of what the image was made from.
pub const LABEL_MADE_FROM: &str = "fencepost.made-from";

/// A connection to an engine, with the API version agreed.
#[derive(Clone)]
pub struct Engine {
    /// The library's handle.
    pub docker: Docker,
    /// What the engine said of itself.
    pub facts: EngineFacts,
}

/// What a reader of a run needs to know about the engine.
#[derive(Clone, Debug, Serialize)]
pub struct EngineFacts {
    /// The engine's version.
    pub engine: String,
    /// The API version in use.
    pub api: String,
    /// Kernel of the machine that the nodes run on.
    pub kernel: String,
    /// Storage driver.
    pub storage: String,
    /// Processor architecture as the engine names it.
    pub architecture: String,
    /// Processors of that machine.
    pub processors: i64,
}

impl Engine {
    /// Connects to `DOCKER_HOST` or the local socket, and agrees on an API version: engines from 20.10 (API 1.41)
    /// to those that refuse anything older than 1.44 must all work.
    pub async fn connect() -> Result<Engine> {
        let at = std::env::var("DOCKER_HOST").unwrap_or_else(|_| "/var/run/docker.sock".into());
        let unavailable = |error: bollard::errors::Error| {
            Error::Unavailable(format!(
                "no Docker engine answers at {at}: {}\n  start one (`systemctl start docker`), point DOCKER_HOST at one, or use --on sim; `fencepost doctor` tells more",
                root(&error)
            ))
        };
        let docker = Docker::connect_with_defaults().map_err(unavailable)?;
        let docker = docker.with_timeout(std::time::Duration::from_secs(300));
        let docker = docker.negotiate_version().await.map_err(unavailable)?;
        let info = docker.info().await.map_err(unavailable)?;
        let facts = EngineFacts {
            engine: info.server_version.unwrap_or_default(),
            api: docker.client_version().to_string(),
            kernel: info.kernel_version.unwrap_or_default(),
            storage: info.driver.unwrap_or_default(),
            architecture: info.architecture.unwrap_or_default(),
            processors: info.ncpu.unwrap_or_default(),
        };
        Ok(Engine { docker, facts })
    }
}

/// The innermost cause: the outer ones speak of the HTTP client.
fn root(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), root)
}

/// The library's own message, without its nesting, and with the engine's words first.
pub fn explain(error: &bollard::errors::Error) -> String {
    match error {
        bollard::errors::Error::DockerResponseServerError { message, .. } => message.trim().to_string(),
        other => other.to_string(),
    }
}
