//! A network that never worked gives no verdict: the run ends before its clock starts, and says who cannot reach whom.

mod support;

use std::{
    fs::File,
    net::Ipv4Addr,
    os::fd::AsFd,
    process::{Child, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use nemesis::{net, verbs::Direction};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use serde_json::Value;
use support::{alone, command, docker_says, left, run, skipped, text};

/// Last bytes of addresses in a run's network.
const SERVER: u8 = 10;
const CLIENT: u8 = 100;

/// Whether this test may act within other network namespaces.
fn is_root() -> bool {
    rustix::process::geteuid().is_root() || skipped("rules within other network namespaces need root")
}

/// The pid of a node's agent and the node's address, once the harness of this pid has started it.
fn node(harness: u32, name: &str) -> (u32, Ipv4Addr) {
    let soon = Instant::now() + Duration::from_secs(120);
    loop {
        let filter = format!("label=fencepost.node={name}");
        let all =
            docker_says(&["ps", "--filter", &filter, "--format", "{{.ID}} {{.Label \"fencepost.owner\"}}"]);
        let own = all.lines().filter_map(|line| line.split_once(' '));
        let own = own.filter(|(_, owner)| owner.split('/').nth(2) == Some(&harness.to_string()));
        for (id, _) in own {
            let format = "{{.State.Pid}} {{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}";
            let said = docker_says(&["inspect", "-f", format, id]);
            let (pid, address) = said.split_once(' ').unwrap_or_default();
            if let (Ok(pid @ 1..), Ok(address)) = (pid.parse(), address.parse()) {
                return (pid, address);
            }
        }
        assert!(Instant::now() < soon, "{name} was never started:\n{all}");
        sleep(Duration::from_millis(10));
    }
}

/// Drops all packets between a node and these others of its network, as rules of the node's own.
fn drop_packets(harness: u32, name: &str, others: &[u8]) {
    let (pid, address) = node(harness, name);
    let [a, b, c, _] = address.octets();
    let peers: Vec<Ipv4Addr> = others.iter().map(|last| Ipv4Addr::new(a, b, c, *last)).collect();
    let cut = std::thread::spawn(move || {
        let namespace = File::open(format!("/proc/{pid}/ns/net")).expect("the node's network");
        move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))
            .expect("root may enter it");
        net::cut(4711, &peers, Direction::Both).expect("the rules are made");
    });
    cut.join().expect("the rules are made");
}

/// Starts a run, drops packets at a node between it and others, and gives what became of the run.
fn cut_off(recipe: &str, args: &str, at: &str, others: &[u8]) -> (i32, Value, String) {
    let store = tempfile::tempdir().expect("a temporary folder");
    let mut command = command(recipe, args, store.path());
    let child: Child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary runs");
    let harness = child.id();
    drop_packets(harness, at, others);
    let output = child.wait_with_output().expect("it ends");
    let text = text(&output);
    assert!(left(harness).is_empty(), "left behind: {:?}\n{text}", left(harness));
    let stored =
        std::fs::read_to_string(store.path().join("latest/verdict.json")).expect("a verdict is stored");
    let stored: Value = serde_json::from_str(&stored).expect("JSON");
    let printed: Value = serde_json::from_slice(&output.stdout).expect("JSON on stdout");
    assert_eq!(printed["verdict"], stored["verdict"], "{text}");
    (output.status.code().expect("no signal"), printed, text)
}

#[test]
fn a_client_that_never_reaches_a_server_gives_no_verdict_and_a_run_beside_it_is_sound() {
    let Some(_alone) = alone() else { return };
    if !is_root() {
        return;
    }
    let sound = std::thread::spawn(|| run("redis/set-nx", "--time 3s --seed 1"));
    // Java takes seconds until it serves: the rules are there before the network is looked at for the last time.
    let (code, verdict, text) =
        cut_off("zookeeper/lock", "--nodes 1 --clients 3 --time 5s --seed 1", "s1", &[CLIENT, CLIENT + 1]);
    assert_eq!(code, 69, "{text}");
    assert_eq!(verdict["verdict"], "unknown", "{verdict:#}");
    assert!(verdict["grants"]["total"] == 0 && verdict["operations"] == serde_json::json!({}), "{verdict:#}");
    assert!(text.contains("the run's network does not work, so nothing was judged"), "{text}");
    for client in ["c1", "c2"] {
        let told =
            text.lines().find(|line| line.trim_start().starts_with(&format!("{client} cannot reach s1 (")));
        assert!(
            told.is_some_and(|line| line.contains(":2181: no answer)") && !line.contains("resource")),
            "{text}"
        );
    }
    assert!(!text.contains("c3 cannot reach"), "{text}");
    assert!(text.contains("FORWARD") && text.contains("firewall"), "{text}");
    let sound = sound.join().expect("the other run ends");
    sound.says(0, "exclusion=valid");
}

#[test]
fn servers_that_never_reach_each_other_are_found_while_they_start() {
    let Some(_alone) = alone() else { return };
    if !is_root() {
        return;
    }
    let begun = Instant::now();
    let (code, verdict, text) =
        cut_off("zookeeper/lock", "--nodes 3 --clients 1 --time 5s --seed 1", "s2", &[SERVER, SERVER + 2]);
    assert!(code == 69 && verdict["verdict"] == "unknown", "{text}");
    for (from, to) in [("s1", "s2"), ("s2", "s1"), ("s3", "s2")] {
        assert!(text.contains(&format!("{from} cannot reach {to} (")), "{from} → {to}: {text}");
    }
    assert!(!text.contains("s1 cannot reach s3") && !text.contains("c1 cannot reach"), "{text}");
    assert!(begun.elapsed() < Duration::from_secs(50), "not waited for in vain: {:?}", begun.elapsed());
}
