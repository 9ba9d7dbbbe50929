//! Other images than ours: laid out as the official ones, and pulled from a registry.

mod support;

use std::{
    fs,
    io::Write,
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use harness::{engine::Engine, images::stages};
use support::{alone, docker, docker_says, run, skipped};

/// An image of ours that others are built on.
const BASE: &str = "fencepost/redis:7.0";

/// Images with the users, entry points and paths of the official ones.
fn official_like(system: &str, recipe: &str, image: &str) {
    let Some(_alone) = alone() else { return };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../images/build.sh");
    let built =
        Command::new("sh").arg(&script).arg(format!("{system}:official-like")).output().expect("sh runs");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let ran = run(recipe, &format!("--image {image} --clients 3 --ttl 1s --time 3s --seed 1"));
    ran.must(ran.code == 0, &format!("{recipe} holds on {image}"));
    let told = fs::read_to_string(ran.folder().join("run.json")).expect("run.json is kept");
    assert!(told.contains(image) && told.contains("sha256:"), "the image and its id are kept: {told}");
}

#[test]
fn like_the_official_redis() {
    official_like("redis", "redis/set-nx", "fencepost/official-like-redis:7.0");
}

#[test]
fn like_the_official_etcd() {
    official_like("etcd", "etcd/lease-lock", "fencepost/official-like-etcd:3.5.16");
}

#[test]
fn like_the_official_zookeeper() {
    official_like("zookeeper", "zookeeper/lock", "fencepost/official-like-zookeeper:3.8.0");
}

/// A registry of our own, with what it stores; both end with the test, and so does the image's name in the engine.
struct Registry {
    process: Child,
    image: String,
    _folder: tempfile::TempDir,
}

impl Registry {
    fn start(program: &Path) -> Registry {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let free =
            TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a free port");
        let config = folder.path().join("config.yml");
        let storage = folder.path().join("storage");
        let text = format!(
            "version: 0.1\nlog: {{level: error}}\nstorage: {{filesystem: {{rootdirectory: {}}}}}\nhttp: {{addr: \"{free}\"}}\n",
            storage.display()
        );
        fs::write(&config, text).expect("the configuration is written");
        let process = Command::new(program)
            .arg("serve")
            .arg(&config)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the registry starts");
        let registry = Registry { process, image: format!("{free}/fencepost/redis:7.0"), _folder: folder };
        let soon = Instant::now() + Duration::from_secs(20);
        while TcpStream::connect(free).is_err() {
            assert!(Instant::now() < soon, "the registry answers at {free}");
            std::thread::sleep(Duration::from_millis(50));
        }
        registry
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        docker_says(&["rmi", &self.image]);
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn pulled_from_a_registry() {
    if !docker() {
        return;
    }
    let program = Path::new("/usr/bin/docker-registry");
    if !program.exists() {
        skipped("docker-registry is not installed (Debian: apt-get install docker-registry)");
        return;
    }
    let _alone = alone();
    let registry = Registry::start(program);
    docker_says(&["tag", "fencepost/redis:7.0", &registry.image]);
    docker_says(&["push", &registry.image]);
    docker_says(&["rmi", &registry.image]);
    assert_eq!(
        docker_says(&["image", "ls", "-q", &registry.image]),
        "",
        "the engine does not have it any more"
    );
    let ran =
        run("redis/set-nx", &format!("--image {} --clients 3 --ttl 1s --time 3s --seed 1", registry.image));
    ran.must(ran.code == 0, "the run on the pulled image is valid");
    assert_ne!(docker_says(&["image", "ls", "-q", &registry.image]), "", "it was pulled");
}

#[tokio::test]
async fn of_a_build_only_the_image_stays() {
    let Some(_alone) = alone() else { return };
    let tag = format!("fencepost-test-stages:{}", std::process::id());
    let marks = format!("RUN echo {} > /mark", std::process::id());
    let file = format!(
        "FROM {BASE} AS parts\n{marks}\nRUN cp /mark /part\nFROM {BASE}\nCOPY --from=parts /part /part\n"
    );
    let mut build = Command::new("docker");
    // The builder that the engine's interface has.
    build.env("DOCKER_BUILDKIT", "0").args(["build", "-t", &tag, "-"]);
    let mut build = build
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("docker runs");
    build.stdin.take().expect("a pipe").write_all(file.as_bytes()).expect("it reads");
    let log = build.wait_with_output().expect("it ends");
    let log = String::from_utf8_lossy(&log.stdout).into_owned();
    let unnamed =
        || docker_says(&["images", "-q", "--filter", "dangling=true", "--filter", &format!("since={BASE}")]);
    let before = unnamed();
    let engine = Engine::connect().await.expect("the engine answers");
    stages::remove(&engine, &log).await;
    let after = unnamed();
    let there = docker_says(&["run", "--rm", "--network", "none", &tag, "cat", "/part"]);
    docker_says(&["rmi", &tag]);
    assert!(log.contains("Successfully tagged"), "{log}");
    assert_eq!(
        before.lines().count(),
        after.lines().count() + 1,
        "the stage is gone: {before} then {after}\n{log}"
    );
    assert_eq!(there, std::process::id().to_string(), "and the image whole");
    assert_ne!(docker_says(&["images", "-q", BASE]), "", "what it was built from stays");
}
