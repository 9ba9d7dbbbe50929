//! One node: a container with our agent as PID 1.

use std::{collections::HashMap, net::Ipv4Addr, rc::Rc};

use bollard::{
    models::{
        ContainerCreateBody, EndpointIpamConfig, EndpointSettings, HostConfig, HostConfigLogConfig,
        NetworkingConfig,
    },
    query_parameters::{
        AttachContainerOptionsBuilder, CreateContainerOptionsBuilder, RemoveContainerOptionsBuilder,
        StartContainerOptionsBuilder,
    },
};

use super::{
    link::{Done, Link, Upward},
    loss::Loss,
};
use crate::owner;
use crate::{
    agent::protocol::Command,
    error::{Error, Result},
    systems::DATA,
    world::SHORT,
};
use crate::{
    engine::{Engine, LABEL_NODE, LABEL_OWNER, LABEL_RUN, explain},
    own_ticks::OwnTicks,
};

/// What a container is made of.
pub struct NodeSpec<'a> {
    /// The run's name.
    pub run: &'a str,
    /// The node's name, also its host name.
    pub node: &'a str,
    /// The node image.
    pub image: &'a str,
    /// The run's network.
    pub network: &'a str,
    /// Its fixed address there.
    pub address: Ipv4Addr,
    /// Bytes of memory that it may use, its data among them.
    pub memory: i64,
}

/// What a server's node may use: far more than a run needs, and so little that the machine stands it.
pub const SERVER_MEMORY: i64 = 2 << 30;
/// The same for the other nodes.
pub const OTHER_MEMORY: i64 = 512 << 20;
/// Processes and threads of a node.
const PROCESSES: i64 = 4096;

/// A node that exists.
pub struct Node {
    /// Its name.
    pub name: String,
    /// Its address.
    pub address: Ipv4Addr,
    /// Control over its agent.
    pub link: Rc<Link>,
}

/// The name of a node's container.
pub fn container(run: &str, node: &str) -> String {
    format!("fencepost-{run}-{node}")
}

impl Node {
    /// Makes the container, attaches to it, then starts it, so that nothing it says is missed.
    pub async fn create(
        engine: &Engine,
        spec: NodeSpec<'_>,
        ticks: &OwnTicks,
        loss: &Loss,
        upward: impl Fn(Upward) + 'static,
    ) -> Result<Node> {
        let name = container(spec.run, spec.node);
        let failed = |what: &str, error: bollard::errors::Error| {
            Error::Unavailable(format!("failed to {what} container {name}: {}", explain(&error)))
        };
        let options = CreateContainerOptionsBuilder::default().name(&name).build();
        let container = engine
            .docker
            .create_container(Some(options), body(&spec))
            .await
            .map_err(|error| failed("make", error))?
            .id;
        let attach = AttachContainerOptionsBuilder::default()
            .stdin(true)
            .stdout(true)
            .stderr(true)
            .stream(true)
            .build();
        let attached = engine
            .docker
            .attach_container(&container, Some(attach))
            .await
            .map_err(|error| failed("attach to", error))?;
        let link = Link::open(spec.node, attached, ticks.clone(), loss.clone(), upward);
        let start = StartContainerOptionsBuilder::default().build();
        let joins = engine.change_endpoint().await;
        engine
            .docker
            .start_container(&container, Some(start))
            .await
            .map_err(|error| failed("start", error))?;
        drop(joins);
        Ok(Node { name: spec.node.to_string(), address: spec.address, link })
    }

    /// Runs a quick command on the agent.
    pub async fn call(&self, command: Command) -> Result<Done, String> {
        self.link.call(command, SHORT).await
    }
}

fn body(spec: &NodeSpec<'_>) -> ContainerCreateBody {
    let labels = [(LABEL_RUN, spec.run), (LABEL_NODE, spec.node), (LABEL_OWNER, &owner::this_process())];
    let endpoint = EndpointSettings {
        ipam_config: Some(EndpointIpamConfig {
            ipv4_address: Some(spec.address.to_string()),
            ..Default::default()
        }),
        ..Default::default()
    };
    // Full before the memory is: a server is told of the one, and killed for the other.
    let data = format!("rw,exec,mode=1777,size={}", spec.memory / 2);
    ContainerCreateBody {
        image: Some(spec.image.to_string()),
        hostname: Some(spec.node.to_string()),
        entrypoint: Some(vec!["/fencepost".into()]),
        cmd: Some(vec!["agent".into()]),
        user: Some("0:0".into()),
        working_dir: Some("/".into()),
        labels: Some(labels.into_iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()),
        open_stdin: Some(true),
        stdin_once: Some(true),
        attach_stdin: Some(true),
        attach_stdout: Some(true),
        attach_stderr: Some(true),
        tty: Some(false),
        host_config: Some(HostConfig {
            auto_remove: Some(true),
            cap_drop: Some(vec!["ALL".into()]),
            cap_add: Some(vec!["NET_ADMIN".into(), "SYS_PTRACE".into()]),
            network_mode: Some(spec.network.to_string()),
            security_opt: Some(vec!["no-new-privileges".into()]),
            memory: Some(spec.memory),
            // With swap, that is: no more.
            memory_swap: Some(spec.memory),
            pids_limit: Some(PROCESSES),
            log_config: Some(HostConfigLogConfig { typ: Some("none".into()), config: None }),
            tmpfs: Some(HashMap::from([(DATA.to_string(), data)])),
            ..Default::default()
        }),
        networking_config: Some(NetworkingConfig {
            endpoints_config: Some(HashMap::from([(spec.network.to_string(), endpoint)])),
        }),
        ..Default::default()
    }
}

/// Removes a container with its anonymous volumes; one that is gone already is what was wanted.
pub async fn remove(engine: &Engine, container: &str) -> Result<()> {
    let options = RemoveContainerOptionsBuilder::default().force(true).v(true).build();
    let _leaves = engine.change_endpoint().await;
    match engine.docker.remove_container(container, Some(options)).await {
        Ok(()) => Ok(()),
        Err(bollard::errors::Error::DockerResponseServerError { status_code: 404 | 409, .. }) => Ok(()),
        Err(error) => {
            Err(Error::Harness(format!("failed to remove container {container}: {}", explain(&error))))
        }
    }
}
