//! The list of kinds.

use serde_json::{Value, json};

use super::*;
use crate::target::Target;

#[test]
fn every_kind_is_whole() {
    for kind in FaultKind::ALL {
        assert_eq!(kind.name().parse(), Ok(kind));
        assert_eq!(kind.check_target(&kind.info().default_target), Ok(()));
        assert!(kind.info().colour.len() == 7 && kind.info().colour.starts_with('#'));
        for target in kind.info().targets {
            let (every, lasts) = (kind.every(target, 2000), kind.lasts(target, 2000));
            assert!(every.from_ms > lasts.to_ms, "{kind}:{target} would run into itself");
        }
    }
}

#[test]
fn errors_name_what_is_good() {
    assert_eq!(
        FaultKind::Kill.check_target(&Target::Resource).unwrap_err().to_string(),
        "`kill` cannot hit `resource`: use one of server, leader, holder, waiter, client, any, minority, \
         majority, all, rolling or a node such as s2 or c1"
    );
    assert_eq!(
        "puase".parse::<FaultKind>().unwrap_err().to_string(),
        "unknown fault `puase`: use one of pause, kill, partition, clock, stutter, delay; did you mean `pause`?"
    );
}

#[test]
fn a_fault_is_told_as_a_clause() {
    let nodes = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
    let told = [
        FaultKind::Pause.phrase(&nodes(&["c3"])),
        FaultKind::Clock.phrase(&nodes(&["n1", "n2"])),
        FaultKind::Clock.phrase(&nodes(&["n1"])),
        FaultKind::Partition.phrase(&nodes(&["n1"])),
        FaultKind::Kill.phrase(&nodes(&[])),
        FaultKind::Delay.phrase(&nodes(&["c1"])),
    ];
    let expected = [
        "c3 was paused",
        "the clocks of n1, n2 were wrong",
        "the clock of n1 was wrong",
        "n1 was cut off",
        "a node was killed",
        "packets of c1 were late",
    ];
    assert_eq!(told, expected);
}

#[test]
fn what_a_node_showed_is_told_shortly() {
    let told = |kind: FaultKind, evidence: Value| {
        let shown = kind.shown(&evidence).into_iter();
        shown.map(|(node, words)| format!("{node} {words}")).collect::<Vec<_>>().join("; ")
    };
    let pause = json!({ "c5": { "state": "T", "pids": [8], "after": { "state": "S", "pids": [8] } } });
    assert_eq!(told(FaultKind::Pause, pause), "c5 state T, then S");
    let kill = json!({ "s1": { "pid": 7, "after": { "new_pid": 35 } }, "s2": { "error": "gone" } });
    assert_eq!(told(FaultKind::Kill, kill), "s1 pid 7 killed, 35 started; s2 error: gone");
    let left = json!({ "c1": { "state": "T", "pids": [8], "after": { "left_to": [4] } } });
    assert_eq!(told(FaultKind::Pause, left), "c1 state T, then left to fault 4");
    let cut = json!({ "s2": { "packets": 41, "dropped": { "198.18.0.5": { "packets_in": 41 } } } });
    assert_eq!(told(FaultKind::Partition, cut), "s2 41 packets dropped");
    let way = json!({ "packets": 3, "mean_us": 2_000_100, "greatest_us": 2_100_000 });
    let late = json!({ "c1": { "packets": 3, "held": { "198.18.0.5": { "out": way } }, "lost": 0 } });
    assert_eq!(told(FaultKind::Delay, late), "c1 3 packets held, up to 2.1 s");
    let clock = json!({ "s1": { "observed_ms": [6000.01] }, "c1": { "observed_ms": [5999.99] } });
    assert_eq!(told(FaultKind::Clock, clock), "c1 +6.0 s read back; s1 +6.0 s read back");
    let dead = |pids: &[u32]| json!({ "s1": { "offset_ms": -2500, "pids": [], "after": { "offset_ms": 0, "pids": pids } } });
    assert_eq!(told(FaultKind::Clock, dead(&[9])), "s1 -2.5 s, started with it as pid 9");
    assert_eq!(told(FaultKind::Clock, dead(&[])), "s1 -2.5 s for nobody: its process did not run");
    assert_eq!(told(FaultKind::Pause, json!({ "reason": "nobody holds the lock" })), "", "nothing of a node");
}

#[test]
fn a_stutter_has_a_share_and_a_period_that_make_sense() {
    let of = |share_percent, period: &str| {
        let period = Some(period.parse().expect("a range"));
        Asked::from(stutter::Asked { share_percent: Some(share_percent), period }).check(&Target::Holder)
    };
    assert_eq!(of(90, "500ms"), Ok(()));
    for (share, period, says) in [
        (0, "1s", "`share_percent` is 0: it must be from 1 to 99"),
        (100, "1s", "`share_percent` is 100"),
        (90, "9ms..1s", "`period` must be from 10 ms"),
    ] {
        let own::Unfit(said) = of(share, period).expect_err("it makes no sense");
        assert!(said.starts_with(says), "{said}");
    }
    let given = serde_json::json!({ "period_ms": 500 });
    let fault =
        serde::de::DeserializeSeed::deserialize(Params(FaultKind::Stutter), given).expect("a stutter");
    assert!(fault.check(&Target::Holder).is_err(), "without a share");
}
