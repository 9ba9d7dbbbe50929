//! Plausible runs, always the same ones.

mod chain;
mod holds;
mod lease;
mod messages;
mod recording;

use std::collections::BTreeMap;

use history::{
    judgement::{Exit, FaultRecord, Grants, Help, Judgement, Outcomes},
    stalls::Stalls,
    verdict::{About, CheckResult, CheckResults, Verdict, Violation},
};
use reports::run::RunData;
use serde_json::{Map, Value, json};

pub use messages::with_messages;

use chain::{Shape, play};
use recording::Recording;

pub const MS: u64 = 1_000_000;

/// 30 s of five clients on `redis/set-nx`, holders paused beyond the TTL, a client cut off, a server killed.
pub fn broken() -> RunData {
    let mut recording = Recording::new(5);
    let pauses = vec![(4_000, 3_200), (11_500, 2_900), (19_000, 3_400)];
    play(&mut recording, &Shape { pauses, cut_off: Some((25_500, 2_000)), ..Shape::lock("a", 30_000) });
    recording.fault(
        "kill",
        &["n1"],
        (15_200, 16_900),
        "installed",
        json!({"pid": 41, "new_pid": 58, "signal": 9}),
    );
    recording.fault("clock", &["n1"], (27_900, 28_600), "no-effect", json!({"offset_ms": 0}));
    recording.finish("redis/set-nx", "7.0.15")
}

/// The same without any fault on a client: nothing breaks.
pub fn valid() -> RunData {
    let mut recording = Recording::new(5);
    play(&mut recording, &Shape::lock("a", 30_000));
    recording.fault(
        "kill",
        &["n2"],
        (9_000, 12_000),
        "installed",
        json!({"pid": 12, "new_pid": 31, "signal": 9}),
    );
    recording.fault(
        "partition",
        &["n1", "n3"],
        (18_000, 21_500),
        "installed",
        json!({"dropped_packets": 214}),
    );
    recording.finish("etcd/lease-lock", "3.5.16")
}

/// A lease that is renewed; a paused client notices on waking that its time is over. One client is killed.
pub fn lease() -> RunData {
    let mut recording = Recording::new(3);
    lease::play(&mut recording);
    recording.finish("etcd/lease", "3.5.16")
}

/// A machine that stood still: a client for a moment, then everything. What looked broken is set aside.
pub fn stalled() -> RunData {
    let mut recording = Recording::new(5);
    play(&mut recording, &Shape::lock("a", 30_000));
    recording.stall("c2", (4_000, 4_140));
    for node in ["c1", "c2", "c3", "n1", "resource", "harness"] {
        recording.stall(node, (12_000, 15_500));
    }
    let mut run = recording.finish("redis/set-nx", "7.0.15");
    let exclusion = run.judgement.checks.get_mut("exclusion").unwrap();
    exclusion.figures.insert("set_aside".into(), json!(2));
    run
}

/// A server that crashed, which broke no other promise.
pub fn crashed() -> RunData {
    let mut run = valid();
    let exit =
        Exit { node: "n1".into(), status: "signal: 11 (SIGSEGV)".into(), at_ns: 9_500 * MS, event: 40 };
    let violation = Violation {
        text: "n1 ended by itself at 9 500.0 ms (signal: 11 (SIGSEGV)); no fault under way.".into(),
        operations: vec![exit.event],
        start_ns: exit.at_ns,
        end_ns: exit.at_ns,
        ..Violation::default()
    };
    run.judgement.exits.push(exit);
    let crash = result(Verdict::Invalid, Some("service"), Some("a server ended by itself"), vec![violation]);
    run.judgement.checks.insert("crash".into(), crash);
    tell_about(&mut run.judgement.checks);
    run.judgement.verdict = Verdict::Invalid;
    run
}

/// No fault took effect, so nothing was shown.
pub fn unknown() -> RunData {
    let mut run = valid();
    for fault in &mut run.judgement.faults {
        fault.result = "no-effect".into();
        fault.evidence = Value::Null;
    }
    run.judgement.verdict = Verdict::Unknown;
    let vacuous = result(
        Verdict::Unknown,
        None,
        Some("no fault of this run left evidence that it took effect"),
        vec![],
    );
    run.judgement.checks.insert("exclusion".into(), vacuous);
    tell_about(&mut run.judgement.checks);
    run
}

/// Leaders paused; observers look on.
pub fn election() -> RunData {
    let mut recording = Recording::new(4);
    let shape = Shape { pauses: vec![(8_000, 4_000), (20_000, 3_500)], ..Shape::election("e", 30_000) };
    play(&mut recording, &shape);
    recording.fault("kill", &["n2"], (15_000, 16_500), "installed", json!({"pid": 7, "new_pid": 19}));
    let mut run = recording.finish("zookeeper/election", "3.8.0");
    let availability = run.judgement.checks.get_mut("availability").unwrap();
    let quantiles = json!({"p50": 2011.4, "p90": 2093.0, "p99": 2093.0, "max": 2093.0});
    availability.figures.insert("failover_ms".into(), quantiles);
    let failover = |start_ns: u64, ms: f64, fault| json!({"election": "e", "start_ns": start_ns, "end_ns": 0, "ms": ms, "fault": fault});
    let failovers = json!([failover(8_420_000_000, 2011.4, 1), failover(20_390_000_000, 2093.0, 2)]);
    availability.figures.insert("failovers".into(), failovers);
    run
}

/// The broken run behind servers that took their time to start.
pub fn late() -> RunData {
    let mut run = broken();
    let late = 40_000 * MS;
    run.events.iter_mut().for_each(|event| event.time += late);
    for held in &mut run.holds.holds {
        held.start_ns += late;
        held.end_ns += late;
        held.promised_ns = held.promised_ns.map(|ns| ns + late);
    }
    for fault in &mut run.judgement.faults {
        fault.start_ns += late;
        fault.end_ns = fault.end_ns.map(|end| end + late);
    }
    for violation in run.judgement.checks.values_mut().flat_map(|check| &mut check.violations) {
        violation.start_ns += late;
        violation.end_ns += late;
    }
    run
}

/// Nothing happened at all.
pub fn empty() -> RunData {
    let mut run = Recording::new(5).finish("redis/set-nx", "7.0.15");
    run.judgement.verdict = Verdict::Unknown;
    let reason = Some("the history holds no contended grant");
    run.judgement.checks =
        CheckResults::from([("exclusion".into(), result(Verdict::Unknown, None, reason, vec![]))]);
    run.judgement.stopped = Some("interrupted".into());
    run
}

/// A minute of more than 20,000 operations of ten clients on two locks.
pub fn large() -> RunData {
    let mut recording = Recording::new(10);
    for (lock, first) in [("a", 0), ("b", 5)] {
        let pauses = (0..5).map(|i| (6_000 + i * 11_000 + u64::from(first) * 700, 2_600)).collect();
        play(&mut recording, &Shape { first, pauses, hold_ms: (3, 28), ..Shape::lock(lock, 60_000) });
    }
    recording.finish("redis/set-nx", "7.0.15")
}

/// A run whose every string tries to break out of the page, the XML, the Markdown or the terminal.
pub fn hostile() -> RunData {
    let attack = "</script><img src=x onerror=alert(1)>\"'&<!-- ]]> \u{1b}[31m|`*\u{2028}\u{9b}2J\u{202e}\u{200b}\u{fffe}";
    hostile_with(attack)
}

/// The same with any string.
pub fn hostile_with(attack: &str) -> RunData {
    let mut run = broken();
    for event in run.events.iter_mut().filter(|event| event.value.get("lock").is_some()) {
        event.value["lock"] = json!(attack);
        event.error = event.error.as_ref().map(|_| attack.to_owned());
        event.node = event.node.as_ref().map(|node| format!("{node}{attack}"));
    }
    run.holds.locks.iter_mut().for_each(|lock| *lock = attack.into());
    run.judgement.experiment = attack.into();
    for check in run.judgement.checks.values_mut() {
        check.reason = Some(attack.into());
        check.violations.iter_mut().for_each(|violation| violation.text.push_str(attack));
    }
    for fault in &mut run.judgement.faults {
        fault.targets = vec![attack.into()];
        fault.evidence = json!({ attack: attack });
    }
    run.judgement.checks.insert(attack.into(), run.judgement.checks["exclusion"].clone());
    run.repeat = attack.into();
    run.metadata.push((attack.into(), attack.into()));
    run
}

pub fn result(
    verdict: Verdict,
    blame: Option<&str>,
    reason: Option<&str>,
    violations: Vec<Violation>,
) -> CheckResult {
    CheckResult {
        about: About::default(),
        verdict,
        count: violations.len() as u64,
        blame: blame.map(str::to_owned),
        reason: reason.map(str::to_owned),
        violations,
        figures: Map::new(),
    }
}

/// What the checks say of themselves.
fn tell_about(checks: &mut CheckResults) {
    let ranks = ["exclusion", "promise", "token", "fencing", "deadline", "damage", "crash", "liveness"];
    for (name, result) in checks {
        let rank = ranks.iter().position(|check| check == name).unwrap_or(ranks.len());
        result.about = About {
            rank: Some(rank as u32),
            promise: Some(format!("What {name} sees kept.")),
            informs: name == "availability",
            stalls_excuse: ["exclusion", "deadline", "liveness"].contains(&name.as_str()),
        };
    }
}

/// The judgement of a recording, told by whoever played it.
fn judgement(recipe: &str, version: &str, told: Told) -> Judgement {
    let broken = !told.overlaps.is_empty();
    let breaks = |broken| if broken { Verdict::Invalid } else { Verdict::Valid };
    let mut damage = result(
        breaks(!told.lost.is_empty()),
        None,
        Some("updates made under the lock were lost").filter(|_| broken),
        told.lost,
    );
    damage.figures.insert("unfenced_lost".into(), damage.count.into());
    damage.figures.insert("fenced_lost".into(), 0.into());
    let mut availability = result(Verdict::Valid, None, None, vec![]);
    availability.figures.insert("share_without_success".into(), json!(0.041));
    let recovery = told.faults.iter().map(|fault| json!({"fault": fault.id, "kind": fault.kind, "after_start_ms": 1911.5, "after_heal_ms": 43.25}));
    availability.figures.insert("recovery".into(), recovery.collect());
    let overlapping = Some("two holds of one lock overlap").filter(|_| broken);
    let liveness = Some("no operation was waiting when the last fault had healed");
    let mut checks = CheckResults::from([
        ("exclusion".into(), result(breaks(broken), None, overlapping, told.overlaps)),
        ("damage".into(), damage),
        ("fencing".into(), result(Verdict::Valid, None, None, vec![])),
        ("token".into(), result(Verdict::Valid, None, None, vec![])),
        ("promise".into(), result(Verdict::Valid, None, None, vec![])),
        (
            "liveness".into(),
            result(
                if broken { Verdict::Unknown } else { Verdict::Valid },
                None,
                liveness.filter(|_| broken),
                vec![],
            ),
        ),
        ("availability".into(), availability),
    ]);
    tell_about(&mut checks);
    Judgement {
        format: 1,
        verdict: Verdict::all(checks.values().map(|check| check.verdict)),
        as_expected: None,
        expectations: BTreeMap::new(),
        experiment: recipe.into(),
        recipe: Some(recipe.into()),
        workload: Some("lock".into()),
        world: "docker".into(),
        version: Some(version.into()),
        seed: Some(1),
        running: false,
        stopped: None,
        checks,
        not_applicable: BTreeMap::from([(
            "deadline".into(),
            "the recipe never looks at its deadline".into(),
        )]),
        help: if broken { vec![help()] } else { Vec::new() },
        operations: told.operations,
        grants: told.grants,
        faults: told.faults,
        exits: Vec::new(),
        stalls: Stalls::default(),
        phases_ms: [
            ("provision", 2310.5),
            ("run", 30_012.0),
            ("heal", 411.0),
            ("check", 12.25),
            ("teardown", 640.0),
        ]
        .map(|(phase, ms)| (phase.to_owned(), ms))
        .into(),
    }
}

fn help() -> Help {
    Help {
        checks: vec!["exclusion".into(), "damage".into()],
        never_promised: Some("a client that stood still notices that its lock has ended".into()),
        prevented_by: "A resource that refuses a lower token than the highest it has seen would have prevented the damage.".into(),
    }
}

struct Told {
    overlaps: Vec<Violation>,
    lost: Vec<Violation>,
    operations: BTreeMap<String, Outcomes>,
    grants: Grants,
    faults: Vec<FaultRecord>,
}
