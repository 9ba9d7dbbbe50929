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
    engine::{Engine, LABEL_NODE, LABEL_OWNER, LABEL_RUN, explain},
    link::{Done, Link, Upward},
    owner,
};
use crate::{
    agent::protocol::Command,
    error::{Error, Result},
    systems::DATA,
    world::SHORT,
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
}

/// A node that exists.
pub struct Node {
    /// Its name.
    pub name: String,
    /// Its address.
    pub address: Ipv4Addr,
    /// Control over its agent.
    pub link: Rc<Link>,
}

impl Node {
    /// Makes the container, attaches to it, then starts it, so that nothing it says is missed.
    pub async fn create(
        engine: &Engine,
        spec: NodeSpec<'_>,
        upward: impl Fn(Upward) + 'static,
    ) -> Result<Node> {
        let name = format!("fencepost-{}-{}", spec.run, spec.node);
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
        let link = Link::open(spec.node, attached, upward);
        let start = StartContainerOptionsBuilder::default().build();
        engine
            .docker
            .start_container(&container, Some(start))
            .await
            .map_err(|error| failed("start", error))?;
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
            log_config: Some(HostConfigLogConfig { typ: Some("none".into()), config: None }),
            tmpfs: Some(HashMap::from([(DATA.to_string(), "rw,exec,mode=1777".to_string())])),
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
    match engine.docker.remove_container(container, Some(options)).await {
        Ok(()) => Ok(()),
        Err(bollard::errors::Error::DockerResponseServerError { status_code: 404 | 409, .. }) => Ok(()),
        Err(error) => {
            Err(Error::Harness(format!("failed to remove container {container}: {}", explain(&error))))
        }
    }
}
