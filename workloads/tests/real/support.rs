//! Servers in containers that go with the test, and a runtime like a node's.

use std::{
    process::Command,
    rc::Rc,
    time::{Duration, Instant},
};

use workloads::{
    api::{Endpoint, Stores},
    clients::RealStores,
    env::Env,
    error::OpError,
    real_env::{RealEnv, monotonic_ns},
    recipes::{self, Context, Instance},
};

/// Limit of a call in these tests: long enough for a busy machine.
pub const LIMIT: Duration = Duration::from_millis(1500);

/// A server in a container; removed when dropped, also by a panic.
pub struct Server {
    id: String,
    /// Where it answers.
    pub endpoint: Endpoint,
}

impl Server {
    /// Starts `command` in `image`; `None`, said loudly, where that cannot be.
    pub fn start(image: &str, port: u16, command: &[&str]) -> Option<Server> {
        if let Err(why) = docker(&["image", "inspect", image]) {
            assert!(std::env::var("FENCEPOST_REQUIRE_DOCKER").as_deref() != Ok("1"), "{image}: {why}");
            eprintln!("SKIPPED: no Docker engine with the image {image}: {why}");
            return None;
        }
        let run =
            ["run", "--detach", "--rm", "--label", "fencepost.test=1", "--entrypoint", command[0], image];
        let id = docker(&[&run, &command[1..]].concat()).expect("docker run");
        let mut server = Server { id, endpoint: Endpoint { node: "s1".into(), addr: String::new() } };
        let format = "{{.NetworkSettings.IPAddress}}";
        let ip = docker(&["inspect", "--format", format, &server.id]).expect("docker inspect");
        server.endpoint.addr = format!("{ip}:{port}");
        server.wait_for_port();
        Some(server)
    }

    fn wait_for_port(&self) {
        let started = Instant::now();
        while std::net::TcpStream::connect(&self.endpoint.addr).is_err() {
            assert!(started.elapsed() < Duration::from_secs(60), "{} does not listen", self.endpoint.addr);
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Stops the server's process (SIGSTOP).
    pub fn stop(&self) {
        docker(&["kill", "--signal", "STOP", &self.id]).expect("SIGSTOP");
    }

    /// Lets it go on (SIGCONT).
    pub fn go_on(&self) {
        docker(&["kill", "--signal", "CONT", &self.id]).expect("SIGCONT");
    }

    /// Kills it. The address stays refused.
    pub fn kill(&self) {
        docker(&["kill", &self.id]).expect("docker kill");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // With --rm the container may be gone already.
        let _ = docker(&["rm", "--force", &self.id]);
    }
}

fn docker(arguments: &[&str]) -> Result<String, String> {
    let output = Command::new("docker").args(arguments).output().map_err(|error| error.to_string())?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_string();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}

/// Runs a test on a node's kind of runtime.
pub fn on_node<F: Future<Output = ()>>(test: impl FnOnce(Env) -> F) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let env = Env::new(RealEnv::new(monotonic_ns(), 1));
    tokio::task::LocalSet::new().block_on(&runtime, test(env));
}

/// The real clients.
pub fn stores(env: &Env) -> Rc<dyn Stores> {
    Rc::new(RealStores::new(env.clone()))
}

/// An instance of a recipe for client `owner`.
pub fn instance(env: &Env, recipe: &str, owner: &str, ttl_ms: u64, endpoints: &[Endpoint]) -> Instance {
    let context = Context {
        env: env.clone(),
        stores: stores(env),
        endpoints: endpoints.to_vec(),
        ttl: Duration::from_millis(ttl_ms),
        limit: LIMIT,
        owner: owner.into(),
        aware: false,
        settings: Default::default(),
    };
    let info = recipes::find(recipe).expect("a known recipe");
    recipes::open(info, &Default::default(), context).expect("good settings")
}

/// It failed, and certainly did nothing.
pub fn assert_definite<T: std::fmt::Debug>(outcome: Result<T, OpError>) {
    assert!(matches!(outcome, Err(OpError::Definite(_))), "{outcome:?}");
}

/// Nobody knows what came of it.
pub fn assert_indeterminate<T: std::fmt::Debug>(outcome: Result<T, OpError>) {
    assert!(matches!(outcome, Err(OpError::Indeterminate(_))), "{outcome:?}");
}

/// Asks again until it is so: how soon that is depends on the machine, and a server may read a new connection before it
/// reads what waits in an old one.
pub async fn eventually(env: &Env, what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let started = Instant::now();
    while !holds().await {
        assert!(started.elapsed() < Duration::from_secs(60), "not within a minute: {what}");
        env.sleep(Duration::from_millis(50)).await;
    }
}
