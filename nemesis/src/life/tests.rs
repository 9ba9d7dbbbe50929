//! Lives on nodes that are only told about.

mod nodes;

use serde_json::{Value, json};

use self::nodes::{Told, now};
use super::*;
use crate::{kind::FaultKind, resolve::View, schedule::Params, target::Target};

/// A run's faults so far.
#[derive(Default)]
struct Scene {
    told: Told,
    overlaps: Overlaps,
    faults: u32,
}

impl Scene {
    fn begin(&mut self, kind: FaultKind, target: Target, params: Params) -> (Life, Applied) {
        self.faults += 1;
        let fault = ScheduledFault { id: self.faults, kind, target, at_ms: 0, lasts_ms: 1, seed: 1, params };
        let names = |letter: &str| (1..=3).map(|number| format!("{letter}{number}")).collect();
        let aim = fault.aim(&View { servers: names("s"), clients: names("c"), ..View::default() });
        now(Life::begin(fault, aim.expect("somebody is there"), &self.told, &self.overlaps))
    }

    fn on(&mut self, kind: FaultKind, node: &str) -> (Life, Applied) {
        self.begin(kind, Target::Node(node.into()), Params::default())
    }

    fn jump(&mut self, node: &str, by_ms: i64) -> (Life, Applied) {
        let params = Params { by_ms: Some(by_ms), ..Params::default() };
        self.begin(FaultKind::Clock, Target::Node(node.into()), params)
    }

    fn heal(&self, life: &mut Life) -> Healed {
        now(life.heal(&self.told, &self.overlaps))
    }

    /// The verbs since the last time.
    fn done(&self) -> Vec<String> {
        self.told.done.take()
    }
}

fn after(healed: &Healed, node: &str) -> Value {
    healed.evidence[node]["after"].clone()
}

#[test]
fn two_pauses_of_one_node_end_with_the_later() {
    let mut scene = Scene::default();
    let (mut first, applied) = scene.on(FaultKind::Pause, "s1");
    assert_eq!(applied.result, FaultResult::Installed);
    assert_eq!(applied.evidence["s1"], json!({ "state": "T", "pids": [1], "threads": 1 }));
    let (mut second, _) = scene.on(FaultKind::Pause, "s1");
    assert_eq!(scene.done(), ["pause s1", "pause s1"]);
    let healed = scene.heal(&mut first);
    assert_eq!((healed.healed, healed.result, healed.at), (true, FaultResult::Installed, None));
    assert_eq!(after(&healed, "s1"), json!({ "left_to": [2] }));
    assert!(scene.done().is_empty(), "it still stands still");
    let healed = scene.heal(&mut second);
    assert_eq!(after(&healed, "s1"), json!({ "state": "S", "pids": [1] }));
    assert_eq!(scene.done(), ["resume s1"]);
}

#[test]
fn a_node_that_was_killed_twice_starts_with_the_end_of_the_later() {
    let mut scene = Scene::default();
    let (mut first, applied) = scene.on(FaultKind::Kill, "s1");
    assert_eq!((applied.result, applied.ended), (FaultResult::Installed, vec!["s1".to_owned()]));
    let (mut second, applied) = scene.on(FaultKind::Kill, "s1");
    assert_eq!((applied.result, applied.ended), (FaultResult::NoEffect, vec![]));
    assert_eq!(applied.evidence["s1"], json!({ "state": "gone", "pids": [] }));
    let healed = scene.heal(&mut first);
    assert_eq!((after(&healed, "s1"), healed.result), (json!({ "left_to": [2] }), FaultResult::Installed));
    let healed = scene.heal(&mut second);
    assert_eq!((after(&healed, "s1"), healed.result), (json!({ "new_pid": 2 }), FaultResult::NoEffect));
    assert_eq!(scene.done(), ["kill s1", "kill s1", "start s1"]);
}

#[test]
fn a_clock_has_the_offset_of_the_newest_fault_that_is_left() {
    let mut scene = Scene::default();
    let mut faults: Vec<Life> = [1000, 2000, 3000].map(|by_ms| scene.jump("s1", by_ms).0).into();
    scene.done();
    for (ends, is_then) in [(1, 3000), (1, 1000), (0, 0)] {
        let healed = scene.heal(&mut faults.remove(ends));
        assert_eq!((healed.healed, healed.result), (true, FaultResult::Installed));
        assert_eq!(after(&healed, "s1")["offset_ms"], is_then);
        assert_eq!(scene.done(), [format!("clock s1 {is_then}")]);
    }
}

#[test]
fn a_jump_of_a_dead_nodes_clock_has_effect_if_somebody_starts_under_it() {
    let mut scene = Scene::default();
    let (mut kill, _) = scene.on(FaultKind::Kill, "s1");
    let [(mut early, applied), (mut late, _)] = [500, 700].map(|by_ms| scene.jump("s1", by_ms));
    assert_eq!((applied.result, &applied.evidence["s1"]["pids"]), (FaultResult::NoEffect, &json!([])));
    assert_eq!(scene.heal(&mut early).result, FaultResult::NoEffect, "nobody ever had it");
    scene.heal(&mut kill);
    let healed = scene.heal(&mut late);
    assert_eq!((healed.result, &after(&healed, "s1")["pids"]), (FaultResult::Installed, &json!([2])));
}

#[test]
fn a_jump_that_a_process_had_has_had_effect_though_it_is_dead_at_the_end() {
    let mut scene = Scene::default();
    let (mut jump, _) = scene.jump("s1", 500);
    scene.on(FaultKind::Kill, "s1");
    let healed = scene.heal(&mut jump);
    assert_eq!((healed.result, &after(&healed, "s1")["pids"]), (FaultResult::Installed, &json!([])));
}

#[test]
fn a_cut_shows_at_its_end_whether_it_met_a_packet() {
    for (packets, result) in [(7, FaultResult::Installed), (0, FaultResult::NoEffect)] {
        let mut scene = Scene::default();
        let (mut cut, applied) = scene.on(FaultKind::Partition, "c1");
        assert_eq!(applied.result, FaultResult::Installed, "as far as can be told");
        let rules = json!({ "rules_for": ["s1", "s2", "s3"], "direction": "both" });
        assert_eq!(applied.evidence["c1"], rules);
        scene.told.packets.set(packets);
        let healed = scene.heal(&mut cut);
        assert_eq!((healed.healed, healed.result), (true, result));
        assert_eq!(healed.evidence["c1"]["packets"], packets, "beside the rules, not under `after`");
        assert_eq!(scene.done(), ["cut c1 1", "mend c1 1"]);
    }
}

#[test]
fn a_heal_that_is_tried_again_does_the_rest() {
    let mut scene = Scene::default();
    let (mut kill, _) = scene.begin(FaultKind::Kill, Target::All, Params::default());
    scene.done();
    scene.told.failing.borrow_mut().push("start s2");
    let healed = scene.heal(&mut kill);
    assert_eq!((healed.healed, healed.result), (false, FaultResult::Failed));
    assert_eq!(after(&healed, "s2"), json!({ "error": "it fails" }));
    scene.told.failing.take();
    scene.done();
    let healed = scene.heal(&mut kill);
    assert_eq!((healed.healed, healed.result), (true, FaultResult::Installed));
    assert_eq!(scene.done(), ["start s2"], "what is done is left alone");
    for node in ["s1", "s2", "s3"] {
        assert_eq!(after(&healed, node), json!({ "new_pid": 2 }), "{node} shows what any try did");
    }
}

#[test]
fn a_start_whose_answer_was_lost_was_one_all_the_same() {
    let mut scene = Scene::default();
    let (mut kill, _) = scene.on(FaultKind::Kill, "s1");
    scene.told.lost.borrow_mut().push("start s1");
    assert!(!scene.heal(&mut kill).healed);
    scene.told.lost.take();
    let healed = scene.heal(&mut kill);
    assert_eq!((healed.healed, after(&healed, "s1")), (true, json!({ "new_pid": 2 })));
}

#[test]
fn a_kill_that_failed_leaves_alone_what_runs() {
    let mut scene = Scene::default();
    scene.told.failing.borrow_mut().push("kill c1");
    let (mut kill, applied) = scene.on(FaultKind::Kill, "c1");
    assert_eq!((applied.result, applied.at, applied.ended.len()), (FaultResult::Failed, None, 0));
    assert_eq!(applied.evidence["c1"], json!({ "error": "it fails" }));
    kill.restart_as.insert("c1".into(), 5);
    let healed = scene.heal(&mut kill);
    assert_eq!((healed.healed, healed.result), (true, FaultResult::Failed));
    assert_eq!(after(&healed, "c1"), json!({ "pid": 1, "note": "its process ran already" }));
    assert_eq!(scene.done(), ["start c1 as 5"]);
}

#[test]
fn a_fault_that_fails_on_some_nodes_is_healed_on_all() {
    let mut scene = Scene::default();
    scene.told.failing.borrow_mut().push("kill s2");
    let (mut kill, applied) = scene.begin(FaultKind::Kill, Target::All, Params::default());
    assert_eq!((applied.result, applied.ended), (FaultResult::Failed, vec!["s1".into(), "s3".into()]));
    assert!(applied.evidence["s1"]["signal"] == "SIGKILL" && applied.evidence["s2"]["error"].is_string());
    let healed = scene.heal(&mut kill);
    assert_eq!((healed.healed, healed.result), (true, FaultResult::Failed), "once failed, failed for good");
    assert_eq!(scene.done(), ["kill s1", "kill s3", "start s1", "start s2", "start s3"]);
}

#[test]
fn what_is_held_by_another_when_a_heal_fails_is_looked_at_again() {
    let mut scene = Scene::default();
    let (mut all, _) = scene.begin(FaultKind::Pause, Target::All, Params::default());
    let (mut one, _) = scene.on(FaultKind::Pause, "s3");
    scene.told.failing.borrow_mut().push("resume s1");
    let healed = scene.heal(&mut all);
    assert_eq!((healed.healed, after(&healed, "s3")), (false, json!({ "left_to": [2] })));
    scene.heal(&mut one);
    scene.told.failing.take();
    let healed = scene.heal(&mut all);
    assert_eq!((healed.healed, &after(&healed, "s3")["state"]), (true, &json!("S")));
}

#[test]
fn a_fault_is_as_late_as_the_last_of_its_verbs() {
    let mut scene = Scene::default();
    let (mut pause, applied) = scene.begin(FaultKind::Pause, Target::All, Params::default());
    assert_eq!(applied.at, Some(3));
    assert_eq!(scene.heal(&mut pause).at, Some(6));
}
