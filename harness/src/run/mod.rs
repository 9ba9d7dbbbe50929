//! One run, start to finish, written once for every world.

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod data;
mod fault;
mod files;
mod held;
mod judge;
pub mod progress;
mod settled;
mod stop;

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    rc::Rc,
    time::Duration,
};

use futures_util::{StreamExt, stream::FuturesUnordered};
use history::node::Role;
use nemesis::{life::Overlaps, schedule::ScheduledFault};
use serde_json::json;
use workloads::{env::Env, workload::Phase};

pub use self::{
    data::{repeat, run_data},
    files::{Files, read_resource, write_history},
    held::holds,
    judge::{Judged, expectations, judge_history, stalls},
    progress::{Progress, Silent},
    settled::judge_unfinished,
    stop::{Interrupts, Stop},
};
use crate::{
    error::{Error, Result},
    experiment::Experiment,
    recorder::{Recorder, phase},
    world::{Nodes, World, WorldEvent, WorldSink},
};

/// How a run went, apart from what its history says.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Names of the nodes.
    pub nodes: Nodes,
    /// Milliseconds by phase.
    pub phases_ms: BTreeMap<String, f64>,
    /// The first failure of the harness, if any. What was recorded until then is still judged.
    pub failure: Option<Error>,
    /// Whether the user stopped it.
    pub interrupted: bool,
}

/// What the tasks of a run share.
pub struct Run<W> {
    /// Where the nodes live.
    pub world: Rc<W>,
    /// The run loop's own clock.
    pub env: Env,
    /// What is run.
    pub experiment: Rc<Experiment>,
    /// Where everything is recorded.
    pub recorder: Rc<Recorder>,
    /// Whether to stop early.
    pub stop: Stop,
    /// What the user sees meanwhile.
    pub progress: Rc<dyn Progress>,
    nodes: RefCell<Nodes>,
    overlaps: Overlaps,
    ended: Cell<usize>,
    /// Clients were told to stop: their processes may end.
    finishing: Cell<bool>,
    failure: RefCell<Option<Error>>,
    /// Until when the user was told that something stood still.
    shown_still: Cell<u64>,
    /// The world is out of reach.
    lost: Cell<bool>,
}

/// A stall that the user is told of at once, in nanoseconds.
const LONG: u64 = 1_000_000_000;
/// What clients get to finish beside what their own operations may take: to hear of it, and to tell.
const NOTICE: Duration = Duration::from_secs(4);
/// How often the loop looks whether something has come about.
const LOOK: Duration = Duration::from_millis(20);

impl<W: World + 'static> Run<W> {
    /// Makes the run of an experiment in a world.
    pub fn new(
        world: Rc<W>,
        experiment: Rc<Experiment>,
        recorder: Rc<Recorder>,
        stop: Stop,
        progress: Rc<dyn Progress>,
    ) -> Rc<Run<W>> {
        Rc::new(Run {
            env: world.env(),
            world,
            experiment,
            recorder,
            stop,
            progress,
            nodes: RefCell::default(),
            overlaps: Overlaps::default(),
            ended: Cell::new(0),
            finishing: Cell::new(false),
            failure: RefCell::default(),
            shown_still: Cell::new(0),
            lost: Cell::new(false),
        })
    }

    /// The whole of it. Whatever fails, faults are healed and the nodes are removed.
    pub async fn go(self: &Rc<Self>) -> Outcome {
        let mut phases = Phases::new(self.env.clone(), self.progress.clone());
        phases.begin("provision");
        let provisioned = self.provision().await;
        if self.noted(provisioned) {
            phases.close();
            let begun = self.begin().await;
            self.noted(begun);
            phases.begin("run");
            self.under_faults().await;
            phases.begin("heal");
            self.until_usable().await;
            self.finish_clients().await;
        }
        phases.begin("teardown");
        let removed = self.world.teardown().await;
        self.noted(removed);
        self.recorder.flush();
        Outcome {
            nodes: self.nodes.borrow().clone(),
            phases_ms: phases.end(),
            failure: self.failure.take().or(self.recorder.failure().map(Error::Harness)),
            interrupted: self.stop.is_requested(),
        }
    }

    async fn provision(self: &Rc<Self>) -> Result<()> {
        let run = Rc::downgrade(self);
        let sink: WorldSink = Rc::new(move |event| {
            if let Some(run) = run.upgrade() {
                run.take(event);
            }
        });
        let provisioned = self.stop.or(self.world.provision(&self.experiment, sink)).await;
        let Some(nodes) = provisioned else { return Ok(()) };
        let nodes = nodes?;
        let Some(works) = self.stop.or(self.world.preflight()).await else { return Ok(()) };
        works?;
        self.check_faults().await?;
        *self.nodes.borrow_mut() = nodes;
        Ok(())
    }

    /// What the nodes' machine cannot do ends the run before it begins.
    async fn check_faults(&self) -> Result<()> {
        for ScheduledFault { fault, .. } in &self.experiment.schedule.faults {
            let asked = self.stop.or(fault.policy().is_possible(&*self.world)).await;
            if let Some(Err(lacks)) = asked {
                return Err(Error::Unavailable(format!(
                    "no {} fault can be applied here: {lacks}\n  take it out of the faults, or use --on sim",
                    fault.kind()
                )));
            }
        }
        Ok(())
    }

    async fn begin(&self) -> Result<()> {
        if self.over() {
            return Ok(());
        }
        self.world.begin().await?;
        self.recorder.nemesis(self.env.now(), "phase", phase("faults"));
        self.world.start_clients().await
    }

    /// The clients work while the schedule's faults come and go; returns once all faults are healed.
    async fn under_faults(self: &Rc<Self>) {
        let begun = self.env.now();
        let faults = self.experiment.schedule.faults.clone();
        // Of those that wait only the one whose time has come is polled; the watch wakes this task again and again.
        let faults: FuturesUnordered<_> =
            faults.into_iter().map(|fault| fault::live(self.clone(), fault, begun)).collect();
        let faults = faults.collect::<()>();
        let watch = self.watch_until(begun + self.experiment.time.as_nanos() as u64);
        futures_util::future::join(faults, watch).await;
    }

    /// Shows progress and keeps the files fresh until the time is over or something ends the run.
    async fn watch_until(&self, end: u64) {
        let mut round = 0u64;
        while self.env.now() < end && !self.over() {
            let left = Duration::from_nanos(end.saturating_sub(self.env.now()));
            self.stop.or(self.env.sleep(LOOK.min(left))).await;
            if round.is_multiple_of(5) {
                self.recorder.flush();
                self.progress.tick(left, self.recorder.live(|live| live.counts()));
            }
            round += 1;
        }
        if self.over() {
            // Faults that wait for their time, or for their end.
            self.stop.end_waits();
        }
    }

    /// After the last heal every lock must be granted again within TTL + bound.
    async fn until_usable(&self) {
        if self.nodes.borrow().clients.is_empty() {
            return;
        }
        let begun = self.env.now();
        let (ttl, bound) = (self.experiment.ttl, self.experiment.liveness_bound());
        if !self.over() {
            let value = json!({ "phase": "liveness", "ttl_ms": ttl.as_millis() as u64, "bound_ms": bound.as_millis() as u64 });
            self.recorder.nemesis(begun, "phase", value);
            self.world.advance(Phase::Liveness).await;
        }
        // A little longer: a lock counts as stuck only once its time is over, and virtual time is exact.
        let limit = ttl + bound + LOOK;
        let patience = Patience::begin(self);
        while patience.lasts(limit)
            && !self.over()
            && !self.recorder.live(|live| live.all_granted_since(begun))
        {
            self.stop.or(self.env.sleep(LOOK)).await;
        }
    }

    async fn finish_clients(&self) {
        if self.nodes.borrow().clients.is_empty() {
            return;
        }
        self.recorder.nemesis(self.env.now(), "phase", phase("end"));
        self.finishing.set(true);
        self.world.advance(Phase::Stop).await;
        let patience = Patience::begin(self);
        let limit = self.experiment.rates.finish_limit(self.experiment.ttl) + NOTICE;
        let clients = self.nodes.borrow().clients.len();
        let gives_up = || self.stop.is_forced() || self.lost.get();
        while self.ended.get() < clients && patience.lasts(limit) && !gives_up() {
            self.env.sleep(LOOK).await;
        }
        if self.ended.get() < clients && !gives_up() {
            self.fail(format!(
                "{} of {clients} clients did not finish within {limit:?}",
                clients - self.ended.get()
            ));
        }
    }

    fn take(&self, event: WorldEvent) {
        match event {
            WorldEvent::History(event) => self.recorder.record(event),
            WorldEvent::Resource(entry) => self.recorder.resource(entry),
            WorldEvent::ClientEnded(_) => self.ended.set(self.ended.get() + 1),
            WorldEvent::Stalled { node, from, to } => self.stalled(&node, from, to),
            WorldEvent::Exited(node, status) => self.exited(&node, &status),
            WorldEvent::Gone(node, why) => {
                self.recorder.client_lost(&node, self.experiment.clients);
                self.fail(why);
            }
            WorldEvent::Failed(why) => self.fail(why),
            WorldEvent::Lost(why) => self.lost(why),
        }
    }

    /// While nodes are made whoever makes them says so.
    fn lost(&self, why: String) {
        self.lost.set(true);
        if !self.nodes.borrow().clients.is_empty() {
            self.fail(why);
        }
    }

    /// Told once it is over, and so late among the events: they are put in order at the end.
    fn stalled(&self, node: &str, from: u64, to: u64) {
        let value = json!({ "node": node, "from_ns": from, "to_ns": to });
        self.recorder.nemesis(to, "stall", value);
        // When the whole machine stood still everybody says so.
        if to - from >= LONG && from >= self.shown_still.replace(self.shown_still.get().max(to)) {
            self.progress.stalled(node, Duration::from_nanos(to - from));
        }
    }

    /// A server that ends by itself is a finding; anything else that does is a failure of the harness.
    fn exited(&self, node: &str, status: &str) {
        let role = Role::of(node).expect("a run's nodes have roles");
        if self.finishing.get() && role == Role::Client {
            return;
        }
        let value = json!({ "node": node, "status": status, "role": role.name() });
        self.recorder.nemesis(self.env.now(), "exit", value);
        if role != Role::Server {
            self.recorder.client_lost(node, self.experiment.clients);
            self.fail(format!("the process of {node} ended by itself: {status}"));
        }
    }

    fn noted<T>(&self, result: Result<T>) -> bool {
        match result {
            Ok(_) => true,
            Err(error) => {
                self.failure.borrow_mut().get_or_insert(error);
                false
            }
        }
    }

    fn fail(&self, why: String) {
        self.failure.borrow_mut().get_or_insert(Error::Harness(why));
    }

    /// Whether to go on to the end without waiting for anything.
    fn over(&self) -> bool {
        self.stop.is_requested() || self.failure.borrow().is_some() || self.recorder.failure().is_some()
    }
}

/// Measures a limit of the run loop's own. Time in which the harness itself stood still does not count.
struct Patience<'a, W> {
    run: &'a Run<W>,
    begun: u64,
    stood_still: Duration,
}

impl<'a, W: World + 'static> Patience<'a, W> {
    fn begin(run: &'a Run<W>) -> Patience<'a, W> {
        Patience { run, begun: run.env.now(), stood_still: run.world.stood_still() }
    }

    fn lasts(&self, limit: Duration) -> bool {
        let still = self.run.world.stood_still().saturating_sub(self.stood_still);
        Duration::from_nanos(self.run.env.now() - self.begun) < limit + still
    }
}

/// Times the phases and announces them.
struct Phases {
    env: Env,
    progress: Rc<dyn Progress>,
    current: Option<(String, u64)>,
    done: BTreeMap<String, f64>,
}

impl Phases {
    fn new(env: Env, progress: Rc<dyn Progress>) -> Phases {
        Phases { env, progress, current: None, done: BTreeMap::new() }
    }

    fn begin(&mut self, name: &str) {
        self.close();
        self.progress.phase(name);
        self.current = Some((name.to_string(), self.env.now()));
    }

    fn close(&mut self) {
        if let Some((name, since)) = self.current.take() {
            *self.done.entry(name).or_default() += (self.env.now() - since) as f64 / 1e6;
        }
    }

    fn end(mut self) -> BTreeMap<String, f64> {
        self.close();
        self.done
    }
}
