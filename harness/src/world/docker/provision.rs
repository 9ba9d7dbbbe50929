//! From an experiment to nodes that are up and have really been used.

use std::{cell::RefCell, collections::BTreeMap, rc::Rc, time::Duration};

use futures_util::future::{join_all, try_join_all};
use history::{
    node::{client, is_server, server},
    record::{Facts, ImageFacts},
};
use workloads::{api::Endpoint, real_env::monotonic_ns};

use super::{
    DockerWorld,
    layer::Layer,
    link::{Done, Upward},
    loss,
    network::Network,
    node::{self, Node, NodeSpec, OTHER_MEMORY, SERVER_MEMORY},
};
use crate::{
    agent::{
        self,
        protocol::{Command, Message, Program, Tag},
    },
    client::Start,
    error::{Error, Result},
    experiment::Experiment,
    images,
    systems::{Member, ServerPlan},
    world::{Nodes, WorldEvent, WorldSink, client_configs},
};

/// Last byte of the resource's address.
const RESOURCE: u8 = 5;
/// Servers are numbered from here.
const SERVERS: u8 = 10;
/// Clients are numbered from here.
const CLIENTS: u8 = 100;
/// Where the resource listens.
pub(super) const RESOURCE_PORT: u16 = 7000;
/// How long servers may take until they have been used.
const READY: Duration = Duration::from_secs(60);

impl DockerWorld {
    pub(super) async fn provision_all(&self, experiment: &Experiment, sink: WorldSink) -> Result<Nodes> {
        let system = experiment.system();
        let (image, network) = futures_util::future::join(
            images::resolve(
                &self.engine,
                system.images,
                experiment.version.as_deref(),
                experiment.image.as_deref(),
            ),
            Network::create(&self.engine, &self.run),
        )
        .await;
        let subnet =
            |last| network.as_ref().map(|network| network.address(last)).unwrap_or([0, 0, 0, 0].into());
        let members: Vec<Member> = (0..experiment.nodes as u8)
            .map(|number| Member { node: server(u32::from(number) + 1), address: subnet(SERVERS + number) })
            .collect();
        let client_addresses: Vec<_> =
            (0..experiment.clients as u8).map(|number| subnet(CLIENTS + number)).collect();
        let resource_address = subnet(RESOURCE);
        let network_name = network?.name;
        let image = image?;

        let layer = Layer::of_this_binary()?;
        let server_image = layer.on(&self.engine, Some(&image.id)).await?;
        let bare_image = layer.on(&self.engine, None).await?;
        let setup = experiment.setup();
        let plan = |index| (system.plan)(&setup, &members, index, &image.layouts);
        let plans: Vec<ServerPlan> = (0..members.len()).map(plan).collect();

        let mut wanted = Vec::new();
        wanted.extend(members.iter().map(|member| (member.node.clone(), &server_image, member.address)));
        wanted.push(("resource".into(), &bare_image, resource_address));
        let clients = (1..=experiment.clients).map(client);
        wanted.extend(clients.zip(client_addresses).map(|(node, address)| (node, &bare_image, address)));
        let made = join_all(wanted.into_iter().map(|(node, image, address)| {
            let network = network_name.as_str();
            let sink = sink.clone();
            async move {
                let memory = if is_server(&node) { SERVER_MEMORY } else { OTHER_MEMORY };
                let spec = NodeSpec { run: &self.run, node: &node, image, network, address, memory };
                self.make(spec, sink).await
            }
        }))
        .await;
        {
            let mut inner = self.inner.borrow_mut();
            for node in made {
                let node = node?;
                inner.nodes.insert(node.name.clone(), Rc::new(node));
            }
            inner.system = Some(system);
            inner.names = Nodes {
                servers: members.iter().map(|member| member.node.clone()).collect(),
                clients: (1..=experiment.clients).map(client).collect(),
                resource: "resource".into(),
            };
            inner.plans =
                members.iter().map(|member| member.node.clone()).zip(plans.iter().cloned()).collect();
        }
        let versions = self.start_all(&members, &plans).await?;
        let endpoints: Vec<Endpoint> = members
            .iter()
            .map(|Member { node, address }| Endpoint {
                node: node.clone(),
                addr: format!("{address}:{}", system.port()),
            })
            .collect();
        let resource =
            Endpoint { node: "resource".into(), addr: format!("{resource_address}:{RESOURCE_PORT}") };
        let mut inner = self.inner.borrow_mut();
        inner.starts = client_configs(experiment, &endpoints, &resource)
            .into_iter()
            .map(|config| Start { start_ns: 0, seed: experiment.node_seed(&config.node), config })
            .collect();
        let image = ImageFacts { reference: image.reference, id: image.id, digests: image.digests };
        inner.facts = Facts { image: Some(image), versions, network: Some(network_name), ..Facts::default() };
        Ok(inner.names.clone())
    }

    async fn make(&self, spec: NodeSpec<'_>, sink: WorldSink) -> Result<Node> {
        let name = spec.node.to_string();
        let (greeted, hello) = tokio::sync::oneshot::channel();
        let greeted = RefCell::new(Some(greeted));
        let (logs, leaving, who) = (self.logs.clone(), self.leaving.clone(), name.clone());
        let (clock, ends) = (self.clock.clone(), self.ends.clone());
        let (engine, loss, container) =
            (self.engine.clone(), self.loss.clone(), node::container(&self.run, &name));
        let upward = move |what: Upward| match what {
            Upward::Line(Tag::Event, line) => match serde_json::from_slice(&line) {
                Ok(event) => sink(WorldEvent::History(event)),
                Err(error) => sink(WorldEvent::Failed(format!("{who} wrote an unreadable event: {error}"))),
            },
            Upward::Line(Tag::Resource, line) => match serde_json::from_slice(&line) {
                Ok(entry) => sink(WorldEvent::Resource(entry)),
                Err(error) => sink(WorldEvent::Failed(format!("{who} wrote an unreadable entry: {error}"))),
            },
            Upward::Line(Tag::Status, _) => sink(WorldEvent::ClientEnded(who.clone())),
            Upward::Line(Tag::Log | Tag::Agent, line) => {
                logs.borrow_mut().entry(who.clone()).or_default().push(&line);
            }
            Upward::Hello(message) => {
                if let Some(greeted) = greeted.borrow_mut().take() {
                    // Provisioning may have been given up.
                    let _ = greeted.send(message);
                }
            }
            Upward::Stall(stall) => {
                if let Some((from, to)) = clock.in_run(stall, true) {
                    sink(WorldEvent::Stalled { node: who.clone(), from, to });
                }
            }
            Upward::Exit(_) | Upward::Unheard(_) | Upward::Closed(_) if leaving.get() => {}
            Upward::Exit(status) => {
                ends.note(&who, &status);
                sink(WorldEvent::Exited(who.clone(), status));
            }
            Upward::Unheard(silence) => sink(WorldEvent::Gone(who.clone(), unheard(&who, silence))),
            Upward::Closed(broke) => {
                let (engine, loss, sink, ends) = (engine.clone(), loss.clone(), sink.clone(), ends.clone());
                let (who, container) = (who.clone(), container.clone());
                tokio::task::spawn_local(async move {
                    let why = loss::why_closed(&engine, &loss, &who, &container, broke).await;
                    // That the engine is lost is told once, for all nodes.
                    if loss.told().is_none() {
                        ends.note(&who, "its container is gone");
                        sink(WorldEvent::Gone(who, why));
                    }
                });
            }
        };
        let node = Node::create(&self.engine, spec, &self.ticks, &self.loss, upward).await?;
        match self.ticks.timeout(READY, hello).await {
            Some(Ok(hello)) => self.agree_on_time(&name, &hello)?,
            _ => {
                return Err(Error::Unavailable(format!(
                    "the agent of {name} did not start: {}",
                    self.last_words(&name)
                )));
            }
        }
        Ok(node)
    }

    /// The nodes' kernel may not be ours (`DOCKER_HOST` elsewhere): then its clock is what the run counts by.
    fn agree_on_time(&self, node: &str, hello: &Message) -> Result<()> {
        let Message::Hello { version, now_ns, boot_id: theirs } = hello else { return Ok(()) };
        if version != env!("CARGO_PKG_VERSION") {
            return Err(Error::Harness(format!("{node} runs version {version} of the agent")));
        }
        if *theirs != agent::boot_id() {
            self.clock.set_ahead_ns(*now_ns as i64 - monotonic_ns() as i64);
        }
        Ok(())
    }

    /// Starts the servers and the resource; what the servers' versions are, once each of them was used.
    async fn start_all(&self, members: &[Member], plans: &[ServerPlan]) -> Result<BTreeMap<String, String>> {
        let started = futures_util::future::join(
            try_join_all(members.iter().map(|member| self.first_start(member, plans))),
            self.start_resource(),
        );
        let (servers, resource) = tokio::select! {
            biased;
            started = started => started,
            (node, how) = self.ends.come() => return Err(self.ended_early(&node, &how)),
            failed = self.until_network_fails() => return Err(failed),
        };
        resource?;
        match servers {
            Ok(versions) => Ok(versions.into_iter().collect()),
            Err(not_ready) => Err(self.or_network(not_ready).await),
        }
    }

    fn ended_early(&self, node: &str, how: &str) -> Error {
        let what = if is_server(node) { "server" } else { "node" };
        let words = self.last_words(node);
        Error::Unavailable(format!("{what} {node} ended while it started: {how}{words}"))
    }

    async fn first_start(&self, member: &Member, plans: &[ServerPlan]) -> Result<(String, String)> {
        let failed = |why: String| {
            Error::Unavailable(format!(
                "server {} did not get ready: {why}{}",
                member.node,
                self.last_words(&member.node)
            ))
        };
        let node = self.node(&member.node).map_err(failed)?;
        let index = self.inner.borrow().names.servers.iter().position(|server| *server == member.node);
        for (path, content) in &plans[index.unwrap_or_default()].files {
            let command = Command::Write { path: path.clone(), content: content.clone() };
            node.call(command).await.map_err(failed)?;
        }
        self.start_server(&member.node).await.map_err(failed)?;
        let probe = self.probe(&node, READY).await.map_err(failed)?;
        Ok((member.node.clone(), probe.version))
    }

    pub(super) async fn start_server(&self, name: &str) -> Result<Done, String> {
        let plan =
            self.inner.borrow().plans.get(name).cloned().ok_or_else(|| format!("{name} is no server"))?;
        self.start(name, plan.programs).await
    }

    async fn start_resource(&self) -> Result<()> {
        let args = ["resource".to_string(), format!("0.0.0.0:{RESOURCE_PORT}")];
        let program = Program {
            candidates: vec!["/fencepost".into()],
            args: args.to_vec(),
            tagged: true,
            ..Program::default()
        };
        self.start("resource", vec![vec![program]]).await.map(drop).map_err(Error::Unavailable)
    }

    /// Starts a client's process; `process`: its first process number when it is not the first time.
    pub(super) async fn start_client(&self, name: &str, process: Option<u32>) -> Result<Done, String> {
        let start = self.inner.borrow().starts.iter().find(|start| start.config.node == name).cloned();
        let mut start = start.ok_or_else(|| format!("{name} is no client"))?;
        start.start_ns = self.clock.nodes_origin_ns();
        if let Some(process) = process {
            start.config.first_process = process;
            start.seed = start.seed.wrapping_add(u64::from(process));
        }
        let program = Program {
            candidates: vec!["/fencepost".into()],
            args: vec!["client".into()],
            tagged: true,
            input: Some(serde_json::to_string(&start).map_err(|error| error.to_string())?),
            ..Program::default()
        };
        self.start(name, vec![vec![program]]).await
    }

    async fn start(&self, name: &str, programs: Vec<Vec<Program>>) -> Result<Done, String> {
        self.node(name)?.call(Command::Start(programs)).await
    }

    /// The last lines of a node's log, for error messages.
    fn last_words(&self, node: &str) -> String {
        let last = self.logs.borrow().get(node).map(|log| log.last_lines(8)).unwrap_or_default();
        if last.is_empty() {
            String::new()
        } else {
            format!("\n  its log ends:\n    {}", last.join("\n    "))
        }
    }
}

fn unheard(node: &str, silence: Duration) -> String {
    format!(
        "{node} heard nothing from here for {silence:?} and ended, as every node does then: this process, or its way to \
         the engine, stood still for that long while the nodes did not"
    )
}
