//! Real servers in containers that go with the test.

use std::{
    net::TcpStream,
    process::Command,
    rc::Rc,
    time::{Duration, Instant},
};

use workloads::{
    api::{Endpoint, Stores, etcd::Range, zookeeper::Open},
    clients::RealStores,
    env::Env,
    real_env::{RealEnv, monotonic_ns},
};

const LIMIT: Duration = Duration::from_secs(2);

pub struct Server {
    id: String,
    endpoint: Endpoint,
}

pub fn redis() -> Option<Server> {
    let command = ["redis-server", "--save", "", "--appendonly", "no", "--protected-mode", "no"];
    Server::start("fencepost/redis:7.0", 6379, &command)
}

/// A server that replicates `primary`.
pub fn replica_of(primary: &Server) -> Option<Server> {
    let (host, port) = primary.endpoint.addr.rsplit_once(':').expect("an address with its port");
    let command =
        ["redis-server", "--save", "", "--appendonly", "no", "--protected-mode", "no", "--replicaof"];
    Server::start("fencepost/redis:7.0", 6379, &[&command[..], &[host, port]].concat())
}

pub fn etcd(version: &str) -> Option<Server> {
    let command = [
        "etcd",
        "--data-dir=/tmp/etcd",
        "--listen-client-urls=http://0.0.0.0:2379",
        "--advertise-client-urls=http://127.0.0.1:2379",
        "--unsafe-no-fsync",
    ];
    let server = Server::start(&format!("fencepost/etcd:{version}"), 2379, &command)?;
    server.run(async |stores, endpoint, env| {
        let etcd = stores.etcd(&endpoint, LIMIT).await.expect("etcd listens");
        while etcd.range(Range { key: "k".into(), prefix: false }).await.is_err() {
            env.sleep(Duration::from_millis(50)).await;
        }
        Vec::new()
    });
    Some(server)
}

pub fn zookeeper() -> Option<Server> {
    let start = "printf 'tickTime=200\\ndataDir=/tmp/zk\\nclientPort=2181\\nadmin.enableServer=false\\n' > /tmp/zk.cfg \
        && exec /opt/java/bin/java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xmx256m -Dzookeeper.forceSync=no \
        -cp '/opt/zookeeper/lib/*' org.apache.zookeeper.server.quorum.QuorumPeerMain /tmp/zk.cfg";
    let server = Server::start("fencepost/zookeeper:3.8.0", 2181, &["sh", "-c", start])?;
    server.run(async |stores, endpoint, env| {
        let open = || Open::New { timeout: Duration::from_secs(1) };
        while stores.zookeeper(&endpoint, LIMIT, open()).await.is_err() {
            env.sleep(Duration::from_millis(100)).await;
        }
        Vec::new()
    });
    Some(server)
}

impl Server {
    fn start(image: &str, port: u16, command: &[&str]) -> Option<Server> {
        if let Err(why) = docker(&["image", "inspect", image]) {
            assert!(std::env::var("FENCEPOST_REQUIRE_DOCKER").as_deref() != Ok("1"), "{image}: {why}");
            eprintln!("SKIPPED: no Docker engine with the image {image}: {why}");
            return None;
        }
        let run =
            ["run", "--detach", "--rm", "--label", "fencepost.test=1", "--entrypoint", command[0], image];
        let id = docker(&[&run, &command[1..]].concat()).expect("docker run");
        let mut server = Server { id, endpoint: Endpoint { node: "s1".into(), addr: String::new() } };
        let ip = docker(&["inspect", "--format", "{{.NetworkSettings.IPAddress}}", &server.id])
            .expect("an address");
        server.endpoint.addr = format!("{ip}:{port}");
        let begun = Instant::now();
        while TcpStream::connect(&server.endpoint.addr).is_err() {
            assert!(begun.elapsed() < Duration::from_secs(60), "{} does not listen", server.endpoint.addr);
            std::thread::sleep(Duration::from_millis(50));
        }
        Some(server)
    }

    /// Where it is.
    pub fn endpoint(&self) -> Endpoint {
        self.endpoint.clone()
    }

    /// Stops the whole container, as SIGSTOP does a process.
    pub fn pause(&self) {
        docker(&["pause", &self.id]).expect("docker pause");
    }

    /// Makes a replica a primary.
    pub fn promote(&self) {
        docker(&["exec", &self.id, "redis-cli", "replicaof", "no", "one"]).expect("redis-cli");
    }

    /// Runs a script with the real clients.
    pub fn run(&self, script: impl AsyncFnOnce(Rc<dyn Stores>, Endpoint, Env) -> Vec<String>) -> Vec<String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let env = Env::new(RealEnv::new(monotonic_ns(), 1));
        let stores = Rc::new(RealStores::new(env.clone()));
        tokio::task::LocalSet::new().block_on(&runtime, script(stores, self.endpoint.clone(), env))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may stand still, and with --rm be gone already.
        let _ = docker(&["unpause", &self.id]);
        let _ = docker(&["rm", "--force", &self.id]);
    }
}

fn docker(arguments: &[&str]) -> Result<String, String> {
    let output = Command::new("docker").args(arguments).output().map_err(|error| error.to_string())?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_string();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}
