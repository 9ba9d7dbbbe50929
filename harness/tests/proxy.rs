//! An engine that does not answer, or answers nonsense, is told as that, soon, at the start and in the run; nothing is
//! simulated in its stead, what was recorded is kept, and nothing is left once it answers again.

mod support;

use std::{
    fs,
    process::{Child, Output, Stdio},
    thread::{scope, sleep},
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::Value;
use support::{
    alone, command, fencepost, left, processes,
    proxy::{Mode, Proxy},
    text,
};

const SOON: Duration = Duration::from_secs(15);

#[test]
fn that_does_not_answer_is_never_simulated_away() {
    let bad = [
        (Mode::Silent, "no Docker engine answers at "),
        (Mode::Cut, "it ends the connection without a word"),
        (Mode::Refuse, "there is no such socket"),
        (Mode::Garbage, "is no Docker engine: it answered "),
    ];
    scope(|scope| {
        for (mode, told) in bad {
            scope.spawn(move || {
                let proxy = Proxy::start(mode);
                let mut run = fencepost();
                run.env("DOCKER_HOST", proxy.host()).args(["run", "redis/set-nx", "--time", "1s"]);
                let begun = Instant::now();
                let output = run.output().expect("the binary runs");
                let said = text(&output);
                assert!(begun.elapsed() < SOON, "{mode:?} took {:?}: {said}", begun.elapsed());
                assert_eq!(output.status.code(), Some(69), "{mode:?}: {said}");
                assert!(said.contains(told) && said.contains("DOCKER_HOST"), "{mode:?}: {said}");
                assert!(!said.contains("simulated") && !said.contains("panicked"), "{mode:?}: {said}");
            });
        }
    });
}

/// When an engine begins to misbehave.
#[derive(Clone, Copy, Debug)]
enum When {
    /// With the first thing asked after it was found.
    Found,
    Provisioning,
    Running,
}

struct Case {
    mode: Mode,
    when: When,
    interrupts: u32,
    /// Exit codes that are right.
    codes: &'static [i32],
    told: &'static str,
}

const CASES: [Case; 9] = [
    Case { mode: Mode::Silent, when: When::Found, interrupts: 0, codes: &[69], told: "fell silent" },
    Case { mode: Mode::Silent, when: When::Provisioning, interrupts: 0, codes: &[69], told: "was lost" },
    Case { mode: Mode::Cut, when: When::Provisioning, interrupts: 0, codes: &[69, 70], told: "" },
    Case { mode: Mode::Silent, when: When::Running, interrupts: 0, codes: &[70], told: "was lost: " },
    Case { mode: Mode::Cut, when: When::Running, interrupts: 0, codes: &[70], told: "was lost: " },
    Case { mode: Mode::Refuse, when: When::Running, interrupts: 0, codes: &[70], told: "was lost: " },
    Case { mode: Mode::Garbage, when: When::Running, interrupts: 0, codes: &[70], told: "was lost: " },
    Case { mode: Mode::Silent, when: When::Running, interrupts: 1, codes: &[130], told: "" },
    Case { mode: Mode::Silent, when: When::Running, interrupts: 3, codes: &[130], told: "ending at once" },
];

#[test]
fn that_is_lost_ends_a_run_in_good_order() {
    let Some(_alone) = alone() else { return };
    // One after another as to their start: a machine that is busy must not be what is slow.
    scope(|scope| {
        for case in &CASES {
            scope.spawn(|| try_out(case));
            sleep(Duration::from_secs(2));
        }
    });
}

fn try_out(case: &Case) {
    let proxy = Proxy::start(Mode::Pass);
    let store = tempfile::tempdir().expect("a temporary folder");
    match case.when {
        When::Found => proxy.set_when("/containers/json", case.mode),
        When::Provisioning => proxy.set_when("/containers/create", case.mode),
        When::Running => {}
    }
    let mut run = command("redis/set-nx", "--ttl 1s --time 60s --seed 1 --clients 2", store.path());
    run.env("DOCKER_HOST", proxy.host()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let harness = run.spawn().expect("the binary runs");
    let pid = harness.id();
    let history = || fs::read_to_string(store.path().join("latest/history.jsonl")).unwrap_or_default();
    until(&format!("{:?} {:?}", case.mode, case.when), Duration::from_secs(60), || match case.when {
        When::Running => history().contains("\"acquire\""),
        _ => proxy.mode() == case.mode,
    });
    proxy.set(case.mode);
    let begun = Instant::now();
    interrupt(&harness, case.interrupts);
    let output = harness.wait_with_output().expect("it ends");
    let took = begun.elapsed();
    proxy.set(Mode::Pass);
    judge(case, &output, took);
    if matches!(case.when, When::Running) {
        let verdict = fs::read_to_string(store.path().join("latest/verdict.json")).unwrap_or_default();
        let verdict: Value = serde_json::from_str(&verdict).unwrap_or_default();
        let judged = case.interrupts > 2 || verdict["operations"]["acquire"].is_object();
        assert!(judged && history().contains("\"acquire\""), "what there is was judged: {verdict:#}");
    }
    // The keeper too: it would look for the proxy long after the test.
    until("nothing left", Duration::from_secs(30), || {
        left(pid).is_empty() && processes(&[format!("-{pid} ")]).is_empty()
    });
}

fn judge(case: &Case, output: &Output, took: Duration) {
    let said = text(output);
    let which = format!("{:?} {:?}, {} interrupts, {took:?}", case.mode, case.when, case.interrupts);
    assert!(took < SOON, "{which}: {said}");
    assert!(case.interrupts < 3 || took < Duration::from_secs(4), "{which}: {said}");
    assert!(output.status.code().is_some_and(|code| case.codes.contains(&code)), "{which}: {said}");
    assert!(said.contains(case.told), "{which}: {said}");
    assert!(!said.contains("panicked") && !said.contains("container of"), "{which}: {said}");
}

fn interrupt(harness: &Child, times: u32) {
    for _ in 0..times {
        kill(Pid::from_raw(harness.id() as i32), Signal::SIGINT).expect("it lives");
        sleep(Duration::from_millis(300));
    }
}

fn until(what: &str, limit: Duration, holds: impl Fn() -> bool) {
    let soon = Instant::now() + limit;
    while !holds() {
        assert!(Instant::now() < soon, "never: {what}");
        sleep(Duration::from_millis(50));
    }
}

#[test]
fn that_is_only_slow_is_waited_for() {
    let Some(_alone) = alone() else { return };
    let proxy = Proxy::start(Mode::Slow);
    let store = tempfile::tempdir().expect("a temporary folder");
    let mut run = command("redis/set-nx", "--ttl 1s --time 2s --seed 1 --clients 2", store.path());
    let output = run.env("DOCKER_HOST", proxy.host()).output().expect("the binary runs");
    assert!(matches!(output.status.code(), Some(0 | 2)), "{}", text(&output));
}
