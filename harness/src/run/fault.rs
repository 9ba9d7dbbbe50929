//! One scheduled fault: waited for, aimed, applied, recorded, healed.

use std::{rc::Rc, time::Duration};

use async_trait::async_trait;
use history::node::{is_client, number};
use nemesis::{
    evidence::FaultResult,
    life::{Aim, Life, Pace},
    resolve::{NoTarget, View},
    schedule::ScheduledFault,
    target::Target,
};
use serde_json::json;

use super::Run;
use crate::world::World;

/// How often a fault looks whether there is somebody to hit, such as the next holder.
const LOOK: Duration = Duration::from_millis(2);

/// How often a heal is tried, and the pause before it is tried again.
const TRIES: u32 = 4;
const AGAIN: Duration = Duration::from_millis(200);

/// Lives through one fault. Heals it whatever happens once it was applied.
pub async fn live<W: World + 'static>(run: Rc<Run<W>>, fault: ScheduledFault, begun: u64) {
    let at = begun + fault.at_ms * 1_000_000;
    let wait = Duration::from_nanos(at.saturating_sub(run.env.now()));
    if run.stop.or(run.env.sleep(wait)).await.is_none() || run.over() {
        return;
    }
    let aim = match aim(&run, &fault, begun).await {
        Ok(aim) => aim,
        Err(missing) => return no_target(&run, &fault, &missing),
    };
    let (mut life, applied) =
        Life::begin(fault.id, fault.fault.policy(), aim, &*run.world, &run.overlaps).await;
    let at = applied.at.unwrap_or_else(|| run.env.now());
    run.progress.fault(&fault, life.targets(), applied.result);
    for node in applied.ended.iter().filter(|node| is_client(node)) {
        run.recorder.client_killed(node, at, run.experiment.clients);
    }
    let start = json!({
        "fault": fault.id,
        "targets": life.targets(),
        "result": applied.result,
        "evidence": applied.evidence,
    });
    run.recorder.nemesis(at, &format!("start-{}", fault.kind()), start);
    let lasts = Duration::from_millis(fault.lasts_ms);
    life.last(&*run.world, &run.overlaps, &*run, lasts).await;
    heal(&run, &fault, &mut life).await;
}

#[async_trait(?Send)]
impl<W: World + 'static> Pace for Run<W> {
    fn now(&self) -> u64 {
        self.env.now()
    }

    async fn wait(&self, length: Duration) -> bool {
        self.stop.or(self.env.sleep(length)).await.is_some()
    }
}

async fn heal<W: World + 'static>(run: &Rc<Run<W>>, fault: &ScheduledFault, life: &mut Life<'_>) {
    let clients = run.experiment.clients;
    for node in life.targets().to_vec().into_iter().filter(|node| is_client(node)) {
        let index = number(&node).expect("a client has a number") - 1;
        let process = run.recorder.live(|live| live.next_process(&node, index, clients));
        life.restart_as.insert(node, process);
    }
    let (mut healed, mut tries) = (life.heal(&*run.world, &run.overlaps).await, 1);
    while !healed.healed && tries < TRIES {
        run.env.sleep(AGAIN).await;
        healed = life.heal(&*run.world, &run.overlaps).await;
        tries += 1;
    }
    let mut stop = json!({
        "fault": fault.id,
        "targets": life.targets(),
        "healed": healed.healed,
        "result": healed.result,
        "evidence": healed.evidence,
    });
    if tries > 1 {
        stop["tries"] = json!(tries);
    }
    let at = healed.at.unwrap_or_else(|| run.env.now());
    run.recorder.nemesis(at, &format!("stop-{}", fault.kind()), stop);
    run.progress.healed(fault, healed.healed);
    if !healed.healed {
        run.fail(format!("fault {} ({fault}) could not be healed", fault.id));
    }
}

/// Chooses the nodes. Waits for a holder, a waiter or a leader to be there, until the next fault of its kind begins or
/// it would no longer fit into the run.
async fn aim<W: World + 'static>(
    run: &Rc<Run<W>>,
    fault: &ScheduledFault,
    begun: u64,
) -> Result<Aim, NoTarget> {
    let until = begun + latest_ms(run, fault) * 1_000_000;
    loop {
        match fault.aim(&view(run, fault).await) {
            Err(missing) if missing.passes && run.env.now() < until && !run.over() => {
                run.env.sleep(LOOK).await;
            }
            aimed => return aimed,
        }
    }
}

/// The latest start, in milliseconds since the faults' phase began.
fn latest_ms<W: World + 'static>(run: &Rc<Run<W>>, fault: &ScheduledFault) -> u64 {
    let same = |other: &&ScheduledFault| {
        other.kind() == fault.kind() && other.target == fault.target && other.at_ms > fault.at_ms
    };
    let next_ms = run.experiment.schedule.faults.iter().find(same).map(|next| next.at_ms);
    let end_ms = run.experiment.time.as_millis() as u64;
    next_ms.unwrap_or(end_ms).min(end_ms.saturating_sub(fault.lasts_ms)).max(fault.at_ms)
}

async fn view<W: World + 'static>(run: &Rc<Run<W>>, fault: &ScheduledFault) -> View {
    let nodes = run.nodes.borrow().clone();
    // Asking who leads takes a round of probes: only when the fault is for the leader.
    let leader = if fault.target == Target::Leader { run.world.leader().await } else { None };
    run.recorder.live(|live| View {
        servers: nodes.servers,
        clients: nodes.clients,
        resource: Some(nodes.resource),
        leader,
        holders: live.holders(),
        waiters: live.waiters(),
    })
}

/// A fault that found nobody is recorded as failed, with the reason.
fn no_target<W: World + 'static>(run: &Rc<Run<W>>, fault: &ScheduledFault, missing: &NoTarget) {
    let targets: [&str; 0] = [];
    let evidence = json!({ "reason": missing.to_string() });
    let start =
        json!({ "fault": fault.id, "targets": targets, "result": FaultResult::Failed, "evidence": evidence });
    run.recorder.nemesis(run.env.now(), &format!("start-{}", fault.kind()), start);
    let stop = json!({ "fault": fault.id, "targets": targets, "healed": true, "result": FaultResult::Failed, "evidence": evidence });
    run.recorder.nemesis(run.env.now(), &format!("stop-{}", fault.kind()), stop);
    run.progress.fault(fault, &[], FaultResult::Failed);
}
