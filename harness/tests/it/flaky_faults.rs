//! Faults that fail on some of their nodes, and heals that succeed only when they are tried again: what is recorded is
//! what happened.

use std::{cell::Cell, collections::BTreeMap, rc::Rc};

use async_trait::async_trait;
use harness::{
    error,
    experiment::{Experiment, Flags, On},
    recorder::Recorder,
    run::{Run, Silent, Stop},
    world::{Nodes, World, WorldSink, sim::SimWorld},
};
use history::{Event, History, exit::ExitCode, record::Facts};
use nemesis::verbs::{
    Answer, ClockSet, Cut, Cutting, Delay, Killed, Mended, NotDone, Paused, Resumed, Shaping, Started,
    Unshaped, Verbs,
};
use serde_json::{Value, json};
use simulation::Sim;
use workloads::{env::Env, workload::Phase};

/// The simulated world, in which something goes wrong now and then.
struct Flaky {
    inner: SimWorld,
    /// No fault can be applied to this node.
    spared: Option<&'static str>,
    /// So many heals are done, and then said to have failed.
    doubted: Cell<u32>,
    /// Its kernel holds no packets.
    lacks_queues: bool,
}

impl Flaky {
    fn unless_spared(&self, node: &str) -> Result<(), NotDone> {
        match self.spared {
            Some(spared) if spared == node => Err("it is spared".to_owned().into()),
            _ => Ok(()),
        }
    }

    fn doubt<T>(&self, answer: Answer<T>) -> Answer<T> {
        match self.doubted.get() {
            0 => answer,
            left => {
                self.doubted.set(left - 1);
                Err("its answer is lost".to_owned().into())
            }
        }
    }
}

#[async_trait(?Send)]
impl Verbs for Flaky {
    async fn pause(&self, node: &str) -> Answer<Paused> {
        self.unless_spared(node)?;
        self.inner.pause(node).await
    }

    async fn resume(&self, node: &str) -> Answer<Resumed> {
        self.doubt(self.inner.resume(node).await)
    }

    async fn kill(&self, node: &str) -> Answer<Killed> {
        self.unless_spared(node)?;
        self.inner.kill(node).await
    }

    async fn start(&self, node: &str, process: Option<u32>) -> Answer<Started> {
        self.doubt(self.inner.start(node, process).await)
    }

    async fn cut(&self, rules: u32, cut: &Cut) -> Answer<Cutting> {
        self.unless_spared(&cut.node)?;
        self.inner.cut(rules, cut).await
    }

    async fn mend(&self, rules: u32, node: &str) -> Answer<Mended> {
        self.doubt(self.inner.mend(rules, node).await)
    }

    async fn shape(&self, rules: u32, of: &Cut, delay: Delay) -> Answer<Shaping> {
        self.unless_spared(&of.node)?;
        self.inner.shape(rules, of, delay).await
    }

    async fn unshape(&self, rules: u32, node: &str) -> Answer<Unshaped> {
        self.doubt(self.inner.unshape(rules, node).await)
    }

    async fn can_shape(&self) -> Result<(), NotDone> {
        match self.lacks_queues {
            true => Err("it lacks queues".to_owned().into()),
            false => self.inner.can_shape().await,
        }
    }

    async fn set_clock(&self, node: &str, offset_ns: i64) -> Answer<ClockSet> {
        self.unless_spared(node)?;
        self.inner.set_clock(node, offset_ns).await
    }

    fn in_turn(&self) -> bool {
        self.inner.in_turn()
    }
}

#[async_trait(?Send)]
impl World for Flaky {
    fn env(&self) -> Env {
        self.inner.env()
    }

    async fn provision(&self, experiment: &Experiment, sink: WorldSink) -> error::Result<Nodes> {
        self.inner.provision(experiment, sink).await
    }

    async fn preflight(&self) -> error::Result<()> {
        self.inner.preflight().await
    }

    async fn begin(&self) -> error::Result<()> {
        self.inner.begin().await
    }

    async fn start_clients(&self) -> error::Result<()> {
        self.inner.start_clients().await
    }

    async fn advance(&self, phase: Phase) {
        self.inner.advance(phase).await;
    }

    async fn leader(&self) -> Option<String> {
        self.inner.leader().await
    }

    fn facts(&self) -> Facts {
        self.inner.facts()
    }

    fn logs(&self) -> BTreeMap<String, Vec<u8>> {
        self.inner.logs()
    }

    async fn teardown(&self) -> error::Result<()> {
        self.inner.teardown().await
    }
}

/// A run of a recipe under one fault from 1 s to 3 s.
fn run(recipe: &str, fault: &str, spared: Option<&'static str>, doubted: u32) -> History {
    run_seed(1, recipe, fault, spared, doubted)
}

fn run_seed(seed: u64, recipe: &str, fault: &str, spared: Option<&'static str>, doubted: u32) -> History {
    let world = |sim: &Sim| Flaky {
        inner: SimWorld::new(sim),
        spared,
        doubted: Cell::new(doubted),
        lacks_queues: false,
    };
    let (failure, history) = go(seed, recipe, fault, world);
    assert!(failure.is_none(), "{failure:?}");
    history
}

fn go(
    seed: u64,
    recipe: &str,
    fault: &str,
    world: impl FnOnce(&Sim) -> Flaky,
) -> (Option<error::Error>, History) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("e.toml");
    let text = format!(
        "recipe = \"{recipe}\"\nclients = 3\nttl = \"1s\"\ntime = \"5s\"\nseed = {seed}\n[[schedule]]\n{fault}\nat_ms = 1000\nlasts_ms = 2000\n"
    );
    std::fs::write(&file, text).expect("the experiment is written");
    let flags = Flags { on: Some(On::Sim), ..Flags::default() };
    let experiment = Rc::new(Experiment::resolve(&file.display().to_string(), &flags).expect("it is sound"));
    let recorder = Rc::new(Recorder::in_memory());
    let sim = Sim::new(experiment.seed);
    let world = Rc::new(world(&sim));
    let run = Run::new(world, experiment, recorder.clone(), Stop::default(), Rc::new(Silent));
    let outcome = sim.block_on(async move { run.go().await }).expect("it ends");
    let mut history = recorder.take_kept();
    history.sort();
    (outcome.failure, history)
}

#[test]
fn a_fault_that_the_kernel_cannot_do_ends_the_run_before_it_begins() {
    let refused = |fault: &str| {
        let world = |sim: &Sim| Flaky {
            inner: SimWorld::new(sim),
            spared: None,
            doubted: Cell::new(0),
            lacks_queues: true,
        };
        go(1, "redis/set-nx", fault, world)
    };
    let (failure, history) = refused("kind = \"delay\"\ntarget = \"s1\"\nparams = { by_ms = 500 }");
    let failure = failure.expect("it is refused");
    assert_eq!(failure.exit_code(), ExitCode::Unavailable);
    assert_eq!(
        failure.to_string(),
        "no delay fault can be applied here: it lacks queues\n  take it out of the faults, or use --on sim"
    );
    assert_eq!(history.events().count(), 0, "nothing has begun");
    let (failure, _) = refused("kind = \"pause\"\ntarget = \"s1\"");
    assert!(failure.is_none(), "others need no queues: {failure:?}");
}

/// The value of the nemesis' one event of this name.
fn told(history: &History, f: &str) -> Value {
    let mut found = history.events().filter(|event| event.f == f);
    let event = found.next().unwrap_or_else(|| panic!("there is a {f}"));
    assert!(found.next().is_none(), "there is one {f}");
    event.value
}

#[test]
fn only_clients_that_were_killed_are_recorded_as_dead() {
    let killed = |event: &Event| {
        event.value["cause"] == "killed"
            || event.error.as_deref().is_some_and(|error| error.contains("was killed"))
    };
    let mut deaths = 0;
    for seed in 1..=5 {
        let kill = |spared| run_seed(seed, "redis/set-nx", "kind = \"kill\"\ntarget = \"c1\"", spared, 0);
        let history = kill(None);
        history.check_form().expect("a client that was killed is silent");
        deaths += history.events().filter(killed).count();
        let history = kill(Some("c1"));
        history.check_form().expect("a client that goes on is not declared dead");
        assert_eq!(history.events().filter(killed).count(), 0, "nobody was killed");
        let late = |event: &Event| event.node.as_deref() == Some("c1") && event.time > 1_500_000_000;
        assert!(history.events().filter(late).count() > 3, "it goes on");
        assert_eq!(told(&history, "start-kill")["result"], "failed");
        let stop = told(&history, "stop-kill");
        assert_eq!((&stop["healed"], &stop["result"]), (&json!(true), &json!("failed")));
        let after = &stop["evidence"]["c1"]["after"];
        assert!(after["new_pid"].is_null() && after["pid"].is_u64(), "it was not started anew: {stop}");
    }
    assert!(deaths > 0, "some died while they held or asked for something");
}

#[test]
fn a_heal_that_is_tried_again_shows_what_the_first_one_did() {
    let cut = "kind = \"partition\"\ntarget = \"s1\"";
    let (once, twice) = (run("redis/redlock", cut, None, 0), run("redis/redlock", cut, None, 2));
    let [once, twice] = [once, twice].map(|history| told(&history, "stop-partition"));
    assert!(once["evidence"]["s1"]["packets"].as_u64() > Some(0), "{once}");
    assert_eq!((&twice["healed"], &twice["result"]), (&json!(true), &json!("installed")));
    assert_eq!(twice["evidence"], once["evidence"]);
    assert_eq!((&once["tries"], &twice["tries"]), (&Value::Null, &json!(3)), "and that it was tried again");
    let kill = run("redis/redlock", "kind = \"kill\"\ntarget = \"majority\"", None, 1);
    let stop = told(&kill, "stop-kill");
    let nodes = stop["evidence"].as_object().expect("evidence");
    assert!(nodes.len() > 2 && nodes.values().all(|node| node["after"]["new_pid"].is_u64()), "{stop}");
}

#[test]
fn a_fault_on_the_dead_has_no_effect() {
    let dead = "kind = \"kill\"\ntarget = \"s1\"\nat_ms = 500\nlasts_ms = 4000\n[[schedule]]\n";
    for kind in ["pause", "kill"] {
        let history = run("redis/redlock", &format!("{dead}kind = \"{kind}\"\ntarget = \"s1\""), None, 0);
        let of_second = |f: &str| {
            let events = history.events().filter(|event| event.f == f && event.value["fault"] == 2);
            events.last().expect("an event").value
        };
        let start = of_second(&format!("start-{kind}"));
        assert_eq!(start["evidence"]["s1"], json!({ "state": "gone", "pids": [] }), "{kind}");
        let stop = of_second(&format!("stop-{kind}"));
        assert_eq!((&start["result"], &stop["result"]), (&json!("no-effect"), &json!("no-effect")), "{kind}");
        assert_eq!(stop["healed"], true);
    }
}
