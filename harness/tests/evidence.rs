//! A fault shows the same evidence in both worlds: the same results, the same words, fault by fault.

mod support;

use std::{fs, process::Output};

use serde_json::Value;
use support::{alone, fencepost, text};

/// Each kind on a server, a client and all; every group and direction of partitions; faults that overlap.
const FAULTS: [&str; 16] = [
    "kind = \"pause\"\ntarget = \"s1\"",
    "kind = \"pause\"\ntarget = \"c1\"",
    "kind = \"kill\"\ntarget = \"s2\"",
    "kind = \"kill\"\ntarget = \"c2\"",
    "kind = \"clock\"\ntarget = \"s1\"\nparams = { by_ms = -1500 }",
    "kind = \"clock\"\ntarget = \"all\"\nparams = { by_ms = 2500 }",
    "kind = \"partition\"\ntarget = \"s1\"\nparams = { from = \"servers\", direction = \"in\" }",
    "kind = \"partition\"\ntarget = \"s2\"\nparams = { from = \"clients\", direction = \"out\" }",
    "kind = \"partition\"\ntarget = \"minority\"\nparams = { from = \"all\" }",
    "kind = \"partition\"\ntarget = \"halves\"",
    "kind = \"partition\"\ntarget = \"groups\"\nparams = { groups = [[\"s1\", \"c1\"], [\"s2\", \"s3\"]] }",
    "kind = \"partition\"\ntarget = \"c3\"",
    "kind = \"stutter\"\ntarget = \"s2\"\nparams = { share_percent = 80, period_ms = 200 }",
    "kind = \"delay\"\ntarget = \"s1\"\nparams = { by_ms = 200, jitter_ms = 20, from = \"servers\" }",
    "kind = \"delay\"\ntarget = \"c1\"\nparams = { by_ms = 150, direction = \"out\", from = \"servers\" }",
    "kind = \"delay\"\ntarget = \"resource\"\nparams = { by_ms = 100, direction = \"in\" }",
];
const APART_MS: usize = 1200;

/// Two clients a server: one alone may be elsewhere while its server is cut off from clients, and that is no effect.
fn experiment() -> String {
    let mut text = String::from("recipe = \"etcd/lease-lock\"\nclients = 6\nseed = 3\ntime = \"27s\"\n");
    let mut add = |fault: &str, at_ms: usize, lasts_ms: usize| {
        text += &format!("[[schedule]]\n{fault}\nat_ms = {at_ms}\nlasts_ms = {lasts_ms}\n");
    };
    for (number, fault) in FAULTS.iter().enumerate() {
        add(fault, 500 + number * APART_MS, 900);
    }
    // On the dead, and on the same node twice.
    let after = 500 + FAULTS.len() * APART_MS;
    add("kind = \"kill\"\ntarget = \"s3\"", after, 2500);
    add("kind = \"kill\"\ntarget = \"s3\"", after + 300, 900);
    add("kind = \"pause\"\ntarget = \"s3\"", after + 400, 500);
    add("kind = \"clock\"\ntarget = \"s3\"\nparams = { by_ms = 1000 }", after + 500, 900);
    add("kind = \"pause\"\ntarget = \"c1\"", after + 600, 1500);
    add("kind = \"pause\"\ntarget = \"c1\"", after + 900, 600);
    // A stutter in whose last stop a pause begins that outlasts it. No two begin at once: their order would be chance.
    add(
        "kind = \"stutter\"\ntarget = \"c2\"\nparams = { share_percent = 90, period_ms = 1000 }",
        after + 100,
        700,
    );
    add("kind = \"pause\"\ntarget = \"c2\"", after + 550, 900);
    text
}

/// The names in a fault's evidence, all the way down; nodes, and peers by whatever name, are `*`.
fn shape(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let name =
                |key: &String| match key.starts_with(|first: char| first.is_ascii_digit()) || is_node(key) {
                    true => "*".to_owned(),
                    false => key.clone(),
                };
            let mut parts: Vec<String> =
                map.iter().map(|(key, value)| format!("{}{}", name(key), shape(value))).collect();
            parts.sort();
            parts.dedup();
            format!("{{{}}}", parts.join(" "))
        }
        Value::Array(items) => format!("[{}]", items.first().map_or("", |_| "…")),
        Value::Number(_) => "#".into(),
        _ => String::new(),
    }
}

fn is_node(key: &str) -> bool {
    let number = key.strip_prefix(['s', 'c']);
    key == "resource"
        || number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// What each fault showed: its kind, targets, result and evidence.
fn shown(world: &str) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("e.toml"), experiment()).expect("the experiment is written");
    let output: Output = fencepost()
        .current_dir(folder.path())
        .args(["run", "e.toml", "--json", "--on", world])
        .output()
        .expect("the binary runs");
    let verdict: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", text(&output)));
    let faults = verdict["faults"].as_array().expect("faults");
    let told = |fault: &Value| {
        let evidence = shape(&fault["evidence"])
            // Bytes are counted in packets' headers only. A Java or Go process has more threads than a model.
            .replace("bytes_in# ", "")
            .replace("bytes_out# ", "");
        format!("{} {} {} {evidence}", fault["kind"], fault["targets"], fault["result"])
    };
    faults.iter().map(told).collect()
}

#[test]
fn each_fault_shows_the_same_in_both_worlds() {
    let Some(_alone) = alone() else { return };
    let (simulated, real) = (shown("sim"), shown("docker"));
    assert_eq!(simulated.len(), FAULTS.len() + 8);
    for (fault, shows) in [
        (0, "threads#"),
        (2, "new_pid#"),
        (4, "observed_ms[…]"),
        (9, "dropped{*{packets_in# packets_out#}}"),
        (12, "stopped_ms# stops#"),
        (13, "round_trip{*{after_us# before_us# during_us#}}"),
    ] {
        assert!(simulated[fault].contains(shows), "{}", simulated[fault]);
    }
    for (simulated, real) in simulated.iter().zip(&real) {
        assert_eq!(simulated, real, "the simulation (left) and containers (right)");
    }
    assert_eq!(simulated.len(), real.len());
}
