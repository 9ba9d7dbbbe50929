//! Real servers in containers that go with the test.
//!
//! A container's first process only waits; the server runs beside it, so that it can be killed and started again
//! with its address and files.

use std::{
    cell::RefCell,
    io::{Read, Write},
    net::TcpStream,
    process::Command,
    rc::Rc,
    time::{Duration, Instant},
};

use async_trait::async_trait;
use simulation::redis::Persistence;
use workloads::{
    api::{Endpoint, Stores, zookeeper::Open},
    clients::RealStores,
    env::Env,
    real_env::{RealEnv, monotonic_ns},
};

use crate::place::{Place, Scene, Strike};

const READY: Duration = Duration::from_secs(60);
const LIMIT: Duration = Duration::from_secs(2);

/// One server's container, and how the server in it is started.
struct Container {
    id: String,
    ip: String,
    command: RefCell<String>,
}

/// Servers of one system; removed when the last one who knows them is gone.
#[derive(Clone)]
pub struct Servers {
    containers: Rc<Vec<Container>>,
    port: u16,
    /// Asks a server's address whether it leads.
    leads: fn(&str) -> Option<bool>,
}

pub fn redis(persistence: Persistence) -> Option<Servers> {
    let (append_only, fsync) = match persistence {
        Persistence::None => ("no", "everysec"),
        Persistence::EverySecond => ("yes", "everysec"),
        Persistence::Always(_) => ("yes", "always"),
    };
    let command = format!(
        "exec redis-server --save '' --appendonly {append_only} --appendfsync {fsync} --protected-mode no --dir /tmp"
    );
    Servers::start("fencepost/redis:7.0", 6379, 1, |_, _| command.clone(), |_| Some(true))
}

/// A primary and its replica.
pub fn replicated() -> Option<Servers> {
    let command = |ips: &[String], n: usize| {
        let follow = if n == 0 { String::new() } else { format!("--replicaof {} 6379", ips[0]) };
        format!("exec redis-server --save '' --appendonly no --protected-mode no --dir /tmp {follow}")
    };
    Servers::start("fencepost/redis:7.0", 6379, 2, command, |_| Some(true))
}

pub fn etcd(version: &str, size: usize) -> Option<Servers> {
    let command = |ips: &[String], n: usize| {
        let members: Vec<String> =
            ips.iter().enumerate().map(|(n, ip)| format!("s{n}=http://{ip}:2380")).collect();
        let ip = &ips[n];
        format!(
            "exec etcd --name s{n} --data-dir /tmp/etcd --unsafe-no-fsync --listen-client-urls http://0.0.0.0:2379 \
             --advertise-client-urls http://{ip}:2379 --listen-peer-urls http://0.0.0.0:2380 \
             --initial-advertise-peer-urls http://{ip}:2380 --initial-cluster {}",
            members.join(",")
        )
    };
    let leads = |address: &str| {
        let metrics = asked(address, "GET /metrics HTTP/1.0\r\n\r\n")?;
        Some(metrics.contains("\netcd_server_is_leader 1\n"))
    };
    let servers = Servers::start(&format!("fencepost/etcd:{version}"), 2379, size, command, leads)?;
    for n in 0..size {
        servers.run(async move |scene| {
            crate::faults::etcd::settled(&scene, n).await;
            Vec::new()
        });
    }
    Some(servers)
}

pub fn zookeeper(size: usize) -> Option<Servers> {
    let command = |ips: &[String], n: usize| {
        let mut config = String::from(
            "tickTime=200\\ninitLimit=50\\nsyncLimit=5\\ndataDir=/tmp/zk\\nclientPort=2181\\n\
             admin.enableServer=false\\nmaxSessionTimeout=60000\\n4lw.commands.whitelist=*\\n",
        );
        if ips.len() > 1 {
            let servers = ips.iter().enumerate();
            servers.for_each(|(n, ip)| config += &format!("server.{}={ip}:2888:3888\\n", n + 1));
        }
        format!(
            "mkdir -p /tmp/zk && echo {} > /tmp/zk/myid && printf '{config}' > /tmp/zk.cfg && exec /opt/java/bin/java \
             -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xmx128m -Dzookeeper.forceSync=no -cp '/opt/zookeeper/lib/*' \
             org.apache.zookeeper.server.quorum.QuorumPeerMain /tmp/zk.cfg",
            n + 1
        )
    };
    let leads = |address: &str| {
        let told = asked(address, "srvr")?;
        Some(told.contains("Mode: leader") || told.contains("Mode: standalone"))
    };
    let servers = Servers::start("fencepost/zookeeper:3.8.0", 2181, size, command, leads)?;
    for n in 0..size {
        servers.run(async move |scene| {
            let open = || Open::New { timeout: Duration::from_secs(1) };
            let closes = async || match scene.zookeeper(n, open()).await {
                Ok(zk) => zk.close().await.is_ok(),
                Err(_) => false,
            };
            scene.until("zookeeper serves", closes).await;
            Vec::new()
        });
    }
    Some(servers)
}

impl Servers {
    fn start(
        image: &str,
        port: u16,
        size: usize,
        command: impl Fn(&[String], usize) -> String,
        leads: fn(&str) -> Option<bool>,
    ) -> Option<Servers> {
        if let Err(why) = docker(&["image", "inspect", image]) {
            assert!(std::env::var("FENCEPOST_REQUIRE_DOCKER").as_deref() != Ok("1"), "{image}: {why}");
            eprintln!("SKIPPED: no Docker engine with the image {image}: {why}");
            return None;
        }
        let containers: Vec<Container> = (0..size).map(|_| Container::new(image)).collect();
        let ips: Vec<String> = containers.iter().map(|container| container.ip.clone()).collect();
        for (n, container) in containers.iter().enumerate() {
            container.command.replace(command(&ips, n));
            container.launch();
        }
        let servers = Servers { containers: Rc::new(containers), port, leads };
        (0..size).for_each(|n| servers.wait_for_port(n));
        Some(servers)
    }

    /// Runs a script with the real clients.
    pub fn run(&self, script: impl AsyncFnOnce(Scene) -> Vec<String>) -> Vec<String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let env = Env::new(RealEnv::new(monotonic_ns(), 1));
        let visit = Visit { servers: self.clone(), env };
        tokio::task::LocalSet::new().block_on(&runtime, script(Scene::new(visit)))
    }

    fn address(&self, n: usize) -> String {
        format!("{}:{}", self.containers[n].ip, self.port)
    }

    fn wait_for_port(&self, n: usize) {
        let (begun, address) = (Instant::now(), self.address(n));
        while TcpStream::connect(&address).is_err() {
            assert!(begun.elapsed() < READY, "{address} does not listen");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// A client's view of the servers.
struct Visit {
    servers: Servers,
    env: Env,
}

#[async_trait(?Send)]
impl Place for Visit {
    fn env(&self) -> Env {
        self.env.clone()
    }

    fn stores(&self) -> Rc<dyn Stores> {
        Rc::new(RealStores::new(self.env.clone()))
    }

    fn endpoint(&self, server: usize) -> Endpoint {
        Endpoint { node: format!("s{}", server + 1), addr: self.servers.address(server) }
    }

    fn strike(&self, server: usize, strike: Strike) {
        self.servers.containers[server].strike(strike);
    }

    async fn start(&self, server: usize) {
        self.servers.containers[server].launch();
        self.servers.wait_for_port(server);
    }

    fn promote(&self, server: usize) {
        let id = &self.servers.containers[server].id;
        docker(&["exec", id, "redis-cli", "replicaof", "no", "one"]).expect("redis-cli");
    }

    fn leader(&self) -> Option<usize> {
        let leads = |n: &usize| (self.servers.leads)(&self.servers.address(*n)) == Some(true);
        (0..self.servers.containers.len()).find(leads)
    }
}

impl Container {
    fn new(image: &str) -> Container {
        let run = ["run", "--detach", "--rm", "--label", "fencepost.test=1", "--entrypoint", "sleep", image];
        let id = docker(&[&run[..], &["infinity"]].concat()).expect("docker run");
        let mut container = Container { id, ip: String::new(), command: RefCell::default() };
        let format = "{{.NetworkSettings.IPAddress}}";
        container.ip = docker(&["inspect", "--format", format, &container.id]).expect("an address");
        container
    }

    /// Starts the server, whose pid is left in a file.
    fn launch(&self) {
        let command = format!("echo $$ > /tmp/pid; {}", self.command.borrow());
        docker(&["exec", "--detach", &self.id, "sh", "-c", &command]).expect("docker exec");
    }

    fn strike(&self, strike: Strike) {
        // What is killed is gone before anything goes on.
        let script = match strike {
            Strike::Pause => "kill -STOP $(cat /tmp/pid)",
            Strike::GoOn => "kill -CONT $(cat /tmp/pid)",
            Strike::Kill => {
                "pid=$(cat /tmp/pid); kill -KILL $pid; while grep -qs '^State:.[^Z]' /proc/$pid/status; do sleep 0.01; done"
            }
        };
        docker(&["exec", &self.id, "sh", "-c", script]).expect("docker exec");
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        // With --rm the container may be gone already.
        let _ = docker(&["rm", "--force", &self.id]);
    }
}

/// What a server says to a question in plain text; `None` when it is not there.
fn asked(address: &str, question: &str) -> Option<String> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(LIMIT)).ok()?;
    stream.write_all(question.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    Some(answer)
}

fn docker(arguments: &[&str]) -> Result<String, String> {
    let output = Command::new("docker").args(arguments).output().map_err(|error| error.to_string())?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_string();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}
