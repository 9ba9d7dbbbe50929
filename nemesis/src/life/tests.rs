//! Lives on nodes that are only told about.

mod nodes;

use std::cell::{Cell, RefCell};

use async_trait::async_trait;
use serde_json::{Value, json};

use self::nodes::{Hours, Told, now};
use super::*;
use crate::{
    kind::{
        Fault, clock::Clock, delay::Delay, kill::Kill, partition::Partition, pause::Pause, stutter::Stutter,
    },
    resolve::View,
    target::Target,
    verbs::{Answer, Direction, Shown},
};

static PAUSE: Fault = Fault::Pause(Pause {});
static KILL: Fault = Fault::Kill(Kill {});
static CUT: Fault = Fault::Partition(Partition { direction: None, from: None, groups: Vec::new() });

fn jump(by_ms: i64) -> Fault {
    Clock { by_ms }.into()
}

/// A run's faults so far.
#[derive(Default)]
struct Scene {
    told: Told,
    overlaps: Overlaps,
    faults: Cell<u32>,
}

impl Scene {
    fn begin<'f>(&self, fault: &'f Fault, target: Target) -> (Life<'f>, Applied) {
        self.faults.set(self.faults.get() + 1);
        let names = |letter: &str| (1..=3).map(|number| format!("{letter}{number}")).collect();
        let view = View { servers: names("s"), clients: names("c"), ..View::default() };
        let aim = fault.aim(&target, &view, 1).expect("somebody is there");
        now(Life::begin(self.faults.get(), fault.policy(), aim, &self.told, &self.overlaps))
    }

    fn on<'f>(&self, fault: &'f Fault, node: &str) -> (Life<'f>, Applied) {
        self.begin(fault, Target::Node(node.into()))
    }

    fn heal(&self, life: &mut Life<'_>) -> Healed {
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
fn two_delays_of_one_node_have_rules_of_their_own_and_end_alone() {
    let delay = Delay { by_ms: 500, ..Delay::default() }.into();
    let scene = Scene::default();
    let (mut first, applied) = scene.on(&delay, "s1");
    assert_eq!((applied.result, &applied.evidence["s1"]["by_ms"]), (FaultResult::Installed, &json!(500)));
    let (mut second, _) = scene.on(&delay, "s1");
    let healed = scene.heal(&mut first);
    assert_eq!((healed.healed, healed.result), (true, FaultResult::NoEffect), "it held nothing");
    scene.told.packets.set(3);
    let healed = scene.heal(&mut second);
    assert_eq!((healed.healed, healed.result), (true, FaultResult::Installed));
    assert_eq!(healed.evidence["s1"]["packets"], 3, "beside the rules");
    assert_eq!(scene.done(), ["shape s1 1", "shape s1 2", "unshape s1 1", "unshape s1 2"]);
}

#[test]
fn a_delay_whose_end_is_in_doubt_is_ended_again() {
    let delay = Delay { by_ms: 500, ..Delay::default() }.into();
    let scene = Scene::default();
    let (mut life, _) = scene.on(&delay, "s1");
    scene.told.packets.set(3);
    scene.told.lost.borrow_mut().push("unshape s1 1");
    assert!(!scene.heal(&mut life).healed);
    scene.told.lost.borrow_mut().clear();
    let healed = scene.heal(&mut life);
    assert_eq!((healed.healed, healed.result), (true, FaultResult::Installed));
}

#[test]
fn two_pauses_of_one_node_end_with_the_later() {
    let scene = Scene::default();
    let (mut first, applied) = scene.on(&PAUSE, "s1");
    assert_eq!(applied.result, FaultResult::Installed);
    assert_eq!(applied.evidence["s1"], json!({ "state": "T", "pids": [1], "threads": 1 }));
    let (mut second, _) = scene.on(&PAUSE, "s1");
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
    let scene = Scene::default();
    let (mut first, applied) = scene.on(&KILL, "s1");
    assert_eq!((applied.result, applied.ended), (FaultResult::Installed, vec!["s1".to_owned()]));
    let (mut second, applied) = scene.on(&KILL, "s1");
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
    let scene = Scene::default();
    let jumps = [1000, 2000, 3000].map(jump);
    let mut faults: Vec<Life<'_>> = jumps.iter().map(|jump| scene.on(jump, "s1").0).collect();
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
    let scene = Scene::default();
    let (mut kill, _) = scene.on(&KILL, "s1");
    let jumps = [500, 700].map(jump);
    let [(mut early, applied), (mut late, _)] = jumps.each_ref().map(|jump| scene.on(jump, "s1"));
    assert_eq!((applied.result, &applied.evidence["s1"]["pids"]), (FaultResult::NoEffect, &json!([])));
    assert_eq!(scene.heal(&mut early).result, FaultResult::NoEffect, "nobody ever had it");
    scene.heal(&mut kill);
    let healed = scene.heal(&mut late);
    assert_eq!((healed.result, &after(&healed, "s1")["pids"]), (FaultResult::Installed, &json!([2])));
}

#[test]
fn a_jump_that_a_process_had_has_had_effect_though_it_is_dead_at_the_end() {
    let scene = Scene::default();
    let jump = jump(500);
    let (mut jump, _) = scene.on(&jump, "s1");
    scene.on(&KILL, "s1");
    let healed = scene.heal(&mut jump);
    assert_eq!((healed.result, &after(&healed, "s1")["pids"]), (FaultResult::Installed, &json!([])));
}

#[test]
fn a_cut_shows_at_its_end_whether_it_met_a_packet() {
    for (packets, result) in [(7, FaultResult::Installed), (0, FaultResult::NoEffect)] {
        let scene = Scene::default();
        let (mut cut, applied) = scene.on(&CUT, "c1");
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
fn a_cut_goes_the_way_that_it_was_drawn() {
    let scene = Scene::default();
    let inbound = Partition { direction: Some(Direction::In), ..Partition::default() }.into();
    let (_, applied) = scene.begin(&inbound, Target::Server);
    let shown: Vec<&Value> = applied.evidence.values().map(|shown| &shown["direction"]).collect();
    assert_eq!(shown, ["in"]);
}

#[test]
fn a_heal_that_is_tried_again_does_the_rest() {
    let scene = Scene::default();
    let (mut kill, _) = scene.begin(&KILL, Target::All);
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
    let scene = Scene::default();
    let (mut kill, _) = scene.on(&KILL, "s1");
    scene.told.lost.borrow_mut().push("start s1");
    assert!(!scene.heal(&mut kill).healed);
    scene.told.lost.take();
    let healed = scene.heal(&mut kill);
    assert_eq!((healed.healed, after(&healed, "s1")), (true, json!({ "new_pid": 2 })));
}

#[test]
fn a_kill_that_failed_leaves_alone_what_runs() {
    let scene = Scene::default();
    scene.told.failing.borrow_mut().push("kill c1");
    let (mut kill, applied) = scene.on(&KILL, "c1");
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
    let scene = Scene::default();
    scene.told.failing.borrow_mut().push("kill s2");
    let (mut kill, applied) = scene.begin(&KILL, Target::All);
    assert_eq!((applied.result, applied.ended), (FaultResult::Failed, vec!["s1".into(), "s3".into()]));
    assert!(applied.evidence["s1"]["signal"] == "SIGKILL" && applied.evidence["s2"]["error"].is_string());
    let healed = scene.heal(&mut kill);
    assert_eq!((healed.healed, healed.result), (true, FaultResult::Failed), "once failed, failed for good");
    assert_eq!(scene.done(), ["kill s1", "kill s3", "start s1", "start s2", "start s3"]);
}

#[test]
fn what_is_held_by_another_when_a_heal_fails_is_looked_at_again() {
    let scene = Scene::default();
    let (mut all, _) = scene.begin(&PAUSE, Target::All);
    let (mut one, _) = scene.on(&PAUSE, "s3");
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
    let scene = Scene::default();
    let (mut pause, applied) = scene.begin(&PAUSE, Target::All);
    assert_eq!(applied.at, Some(3));
    assert_eq!(scene.heal(&mut pause).at, Some(6));
}

/// Pauses and goes on while it lasts, a millisecond each.
struct Blink;

#[async_trait(?Send)]
impl Policy for Blink {
    fn shows(&self) -> Shows {
        Shows::Start
    }

    async fn apply(&self, on: &On<'_>) -> Answer<Report> {
        reported(on.pause().await)
    }

    fn lasting(&self) -> Option<&dyn Lasting> {
        Some(self)
    }

    async fn heal(&self, on: &On<'_>) -> Ended<Report> {
        on.resume().await.reported()
    }
}

#[async_trait(?Send)]
impl Lasting for Blink {
    async fn last(&self, on: &On<'_>, span: &Span<'_>) -> Answer<Report> {
        let mut blinks = 0;
        while span.wait(MS).await {
            on.resume().await;
            blinks += 1;
            if !span.wait(MS).await {
                break;
            }
            on.pause().await?;
        }
        Ok(Done { at: 0, shown: Blinked { blinks }.into() })
    }
}

#[derive(serde::Serialize)]
struct Blinked {
    blinks: u32,
}

impl Shown for Blinked {
    fn touched(&self) -> bool {
        self.blinks > 0
    }
}

const MS: Duration = Duration::from_millis(1);

fn blink(scene: &Scene) -> Life<'static> {
    let aim = Aim { targets: vec!["s1".into()], ..Aim::default() };
    scene.faults.set(scene.faults.get() + 1);
    now(Life::begin(scene.faults.get(), &Blink, aim, &scene.told, &scene.overlaps)).0
}

#[test]
fn a_fault_acts_while_it_lasts_and_shows_it_beside_its_heal() {
    let scene = Scene::default();
    let mut life = blink(&scene);
    now(life.last(&scene.told, &scene.overlaps, &Hours::default(), 5 * MS));
    let healed = scene.heal(&mut life);
    let evidence = json!({ "blinks": 2, "after": { "state": "S", "pids": [1] } });
    assert_eq!((healed.result, &healed.evidence["s1"]), (FaultResult::Installed, &evidence));
    assert_eq!(scene.done(), ["pause s1", "resume s1", "pause s1", "resume s1", "pause s1", "resume s1"]);
}

#[test]
fn a_fault_ends_when_nothing_is_waited_for_any_more() {
    let scene = Scene::default();
    let mut life = blink(&scene);
    let hours = Hours { over_ms: Some(2), ..Hours::default() };
    now(life.last(&scene.told, &scene.overlaps, &hours, 1000 * MS));
    assert!(hours.now() < 4_000_000 && scene.heal(&mut life).healed);
    assert_eq!(scene.done().last().map(String::as_str), Some("resume s1"));
}

#[test]
fn a_verb_that_fails_while_a_fault_lasts_makes_it_failed() {
    let scene = Scene::default();
    let mut life = blink(&scene);
    scene.told.failing.borrow_mut().push("pause s1");
    let hours = Hours::default();
    now(life.last(&scene.told, &scene.overlaps, &hours, 9 * MS));
    assert_eq!(hours.now(), 9_000_000, "it lasts to its end all the same");
    let healed = scene.heal(&mut life);
    assert_eq!((healed.healed, healed.result), (true, FaultResult::Failed));
    assert_eq!(healed.evidence["s1"]["error"], "it fails");
}

#[test]
fn what_stands_still_by_several_faults_goes_on_with_the_last_of_them() {
    let scene = Scene::default();
    let pause = RefCell::new(None);
    let (mut life, hours) = (blink(&scene), Hours::default());
    // While it goes on by itself, and while it stands still by itself.
    hours.at(2, || *pause.borrow_mut() = Some(scene.on(&PAUSE, "s1").0));
    hours.at(3, || {
        let healed = scene.heal(pause.borrow_mut().as_mut().expect("it is paused"));
        assert_eq!(after(&healed, "s1"), json!({ "left_to": [1] }));
    });
    hours.at(4, || *pause.borrow_mut() = Some(scene.on(&PAUSE, "s1").0));
    hours.at(7, || drop(scene.heal(pause.borrow_mut().as_mut().expect("it is paused"))));
    now(life.last(&scene.told, &scene.overlaps, &hours, 8 * MS));
    let verbs = [
        ["pause s1", "resume s1"].as_slice(),
        // The other's, and its own over it, which the other's heal leaves alone.
        &["pause s1", "pause s1", "resume s1"],
        // The other's again, and its own twice: to go on between them was the other's to say.
        &["pause s1", "pause s1", "pause s1", "resume s1"],
    ];
    assert_eq!(scene.done(), verbs.concat());
}

#[test]
fn a_stutter_shows_how_often_and_how_long_it_stood_still() {
    let scene = Scene::default();
    let stutter = Stutter { share_percent: 80, period_ms: 10 }.into();
    let (mut life, applied) = scene.on(&stutter, "s1");
    assert_eq!(applied.evidence["s1"]["state"], "T");
    let hours = Hours { now_ms: scene.told.now_ms.clone(), ..Hours::default() };
    now(life.last(&scene.told, &scene.overlaps, &hours, 44 * MS));
    let healed = scene.heal(&mut life);
    let evidence = json!({
        "stops": 5, "stopped_ms": 36, "reached_percent": 81.8, "after": { "state": "S", "pids": [1] },
    });
    assert_eq!((healed.result, &healed.evidence["s1"]), (FaultResult::Installed, &evidence));
}

#[test]
fn a_stutter_that_meets_nobody_has_no_effect_and_one_that_meets_somebody_later_has() {
    for (starts, result) in [(false, FaultResult::NoEffect), (true, FaultResult::Installed)] {
        let scene = Scene::default();
        let (mut kill, _) = scene.on(&KILL, "s1");
        let stutter = Stutter { share_percent: 50, period_ms: 10 }.into();
        let (mut life, applied) = scene.on(&stutter, "s1");
        assert_eq!(applied.result, FaultResult::NoEffect);
        let hours = Hours::default();
        if starts {
            hours.at(15, || drop(scene.heal(&mut kill)));
        }
        now(life.last(&scene.told, &scene.overlaps, &hours, 30 * MS));
        let healed = scene.heal(&mut life);
        assert_eq!((healed.result, healed.evidence["s1"]["stops"].as_u64()), (result, Some(starts.into())));
    }
}

#[test]
fn a_stop_whose_end_another_fault_decides_is_not_counted_as_time() {
    let scene = Scene::default();
    let stutter = Stutter { share_percent: 50, period_ms: 10 }.into();
    let (mut life, _) = scene.on(&stutter, "s1");
    let hours = Hours::default();
    hours.at(5, || drop(scene.on(&PAUSE, "s1")));
    now(life.last(&scene.told, &scene.overlaps, &hours, 10 * MS));
    let healed = scene.heal(&mut life);
    let shown = &healed.evidence["s1"];
    assert_eq!((&shown["stops"], &shown["unseen"], &shown["stopped_ms"]), (&1.into(), &1.into(), &0.into()));
    assert_eq!(after(&healed, "s1"), json!({ "left_to": [2] }));
    assert!(!scene.done().contains(&"resume s1".to_owned()), "the pause holds it");
}
