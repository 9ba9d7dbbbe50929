//! From a failing run to a smallest one that fails the same check. Greedy: every step is a run of its own that
//! must fail too, so that the result is proven by having been run.

use std::{rc::Rc, time::Duration};

use history::{EventKind, node, verdict::Verdict};
use nemesis::{schedule::ScheduledFault, target::Target};

use super::simulate::try_out;
use crate::{
    error::Result,
    experiment::{Experiment, SimTable},
    run::Interrupts,
};

/// What is small, most important first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size {
    /// Number of faults.
    pub faults: usize,
    /// Number of clients.
    pub clients: u32,
    /// Faults that leave to chance which client they hit: the holder says more, and is found on real servers too.
    pub chance: usize,
    /// Settings of the network and disks that are not the quiet default.
    pub network: usize,
    /// Operations begun until the violation is complete.
    pub operations: usize,
    /// Length of the run in milliseconds.
    pub time_ms: u64,
    /// Lengths of all faults together, milliseconds, and how far they go beside that.
    pub faults_ms: u64,
}

/// A failing run.
#[derive(Clone, Debug)]
pub struct Failing {
    /// With its schedule given.
    pub experiment: Experiment,
    /// How large it is.
    pub size: Size,
    /// When its first violation was complete, milliseconds.
    pub violated_ms: u64,
}

/// The shortest time that an experiment can have.
const TIME_MS_MIN: u64 = 500;
/// What is left after the violation, milliseconds: real servers are slower, and a fault that waits for a holder must
/// still fit into the run there.
const SLACK_MS: u64 = 1000;
/// Seeds tried with each other change that needs luck.
const SEEDS: u64 = 20;
/// Seeds tried when nothing else helps any more.
const SEEDS_LAST: u64 = 100;
/// Early moments at which a fault is tried, so that little happens before it, milliseconds.
const EARLY_MS: [u64; 3] = [20, 60, 180];

/// Shrinks a run that violates `check`, with at most `runs_max` runs, or until it is interrupted; `tell` hears of every progress.
/// `None`: the run does not violate it.
///
/// # Errors
/// A run failed in the harness.
pub fn shrink(
    start: &Experiment,
    check: &str,
    runs_max: u32,
    stop: &Interrupts,
    mut tell: impl FnMut(&Failing),
) -> Result<Option<Failing>> {
    let mut runs = 0;
    let mut run = |candidate: Experiment| -> Result<Option<Failing>> {
        runs += 1;
        if runs > runs_max || stop.is_requested() { Ok(None) } else { failing(candidate, check) }
    };
    let Some(mut best) = run(Experiment { scheduled: true, by_flags: false, ..start.clone() })? else {
        return Ok(None);
    };
    loop {
        let mut better = false;
        for candidate in candidates(&best) {
            if let Some(found) = run(candidate)?.filter(|found| found.size < best.size) {
                best = found;
                better = true;
                tell(&best);
                break;
            }
        }
        if !better {
            return Ok(Some(best));
        }
    }
}

/// Smaller experiments to try, those that save most first.
fn candidates(from: &Failing) -> Vec<Experiment> {
    let base = &from.experiment;
    let mut list = Vec::new();
    list.extend(cut(base, from.violated_ms));
    let faults = &base.schedule.faults;
    list.extend(
        (0..faults.len()).rev().map(|index| with(base, |new| drop(new.schedule.faults.remove(index)))),
    );
    for clients in fewer_clients(base) {
        list.extend(seeds(base, 0..SEEDS, |new| new.clients = clients));
    }
    list.extend(quieter(&base.sim).into_iter().map(|sim| with(base, |new| new.sim = sim)));
    for index in (0..faults.len()).filter(|index| is_chance(&faults[*index])) {
        list.extend(seeds(base, 0..SEEDS, |new| new.schedule.faults[index].target = Target::Holder));
    }
    for (index, fault) in faults.iter().enumerate() {
        list.push(with(base, |new| new.schedule.faults[index].at_ms /= 2));
        list.push(with(base, |new| new.schedule.faults[index].lasts_ms = (fault.lasts_ms * 3 / 4).max(1)));
        list.extend(
            fault.fault.milder().map(|milder| with(base, |new| new.schedule.faults[index].fault = milder)),
        );
    }
    for (index, fault) in faults.iter().enumerate() {
        for at_ms in EARLY_MS.into_iter().filter(|at_ms| *at_ms < fault.at_ms) {
            list.extend(seeds(base, 0..SEEDS, |new| new.schedule.faults[index].at_ms = at_ms));
        }
    }
    list.extend(seeds(base, 1..SEEDS_LAST, |_| {}));
    list
}

/// Half of the clients or fewer, or one less; none goes that a fault names, or the file could not be read.
fn fewer_clients(base: &Experiment) -> impl Iterator<Item = u32> {
    let (clients, named) = (base.clients, base.schedule.faults.iter().flat_map(ScheduledFault::named));
    let least =
        named.filter_map(|node| node::number(node).filter(|_| node::is_client(node))).fold(2, u32::max);
    (least..clients).filter(move |fewer| fewer * 2 <= clients || fewer + 1 == clients)
}

/// The same change under several seeds.
fn seeds(
    base: &Experiment,
    more: std::ops::Range<u64>,
    change: impl Fn(&mut Experiment),
) -> impl Iterator<Item = Experiment> {
    more.map(move |more| {
        with(base, |new| {
            change(new);
            new.seed = base.seed.wrapping_add(more);
        })
    })
}

/// The network and disks with fewer of their settings changed: none, then each but one.
fn quieter(sim: &SimTable) -> Vec<SimTable> {
    let quiet = SimTable::default();
    let mut list = vec![
        quiet,
        SimTable { loss_ppm: quiet.loss_ppm, ..*sim },
        SimTable { duplicate_ppm: quiet.duplicate_ppm, ..*sim },
        SimTable { reorder_ppm: quiet.reorder_ppm, ..*sim },
        SimTable { delay_us: quiet.delay_us, ..*sim },
        SimTable { jitter_us: quiet.jitter_us, ..*sim },
        SimTable { power_cut: quiet.power_cut, ..*sim },
    ];
    list.retain(|other| other != sim);
    list
}

/// How many settings of the network and disks are not the default.
fn changed(sim: &SimTable) -> usize {
    let quiet = SimTable::default();
    [
        sim.loss_ppm != quiet.loss_ppm,
        sim.duplicate_ppm != quiet.duplicate_ppm,
        sim.reorder_ppm != quiet.reorder_ppm,
        sim.delay_us != quiet.delay_us,
        sim.jitter_us != quiet.jitter_us,
        sim.power_cut != quiet.power_cut,
    ]
    .into_iter()
    .filter(|changed| *changed)
    .count()
}

/// Whether it hits a client at random, where its kind can aim at the holder.
fn is_chance(fault: &ScheduledFault) -> bool {
    let can_aim = fault.kind().info().targets.contains(&Target::Holder);
    can_aim && matches!(fault.target, Target::Client | Target::Any)
}

fn with(base: &Experiment, change: impl FnOnce(&mut Experiment)) -> Experiment {
    let mut new = base.clone();
    change(&mut new);
    new
}

/// The run without what comes after its violation.
fn cut(base: &Experiment, violated_ms: u64) -> Option<Experiment> {
    let mut new = base.clone();
    new.schedule.faults.retain(|fault| fault.at_ms <= violated_ms);
    let healed_ms = new.schedule.faults.iter().map(|fault| fault.end_ms()).max().unwrap_or(0);
    let time_ms = (violated_ms.max(healed_ms) + SLACK_MS).max(TIME_MS_MIN);
    new.time = Duration::from_millis(time_ms);
    (new.time < base.time || new.schedule.faults.len() < base.schedule.faults.len()).then_some(new)
}

fn failing(mut experiment: Experiment, check: &str) -> Result<Option<Failing>> {
    // What is left is numbered as it will be when it is read from its file.
    experiment.schedule.reorder();
    let tried = try_out(&Rc::new(experiment.clone()))?;
    let result = tried.judged.judgement.checks.get(check);
    let Some(result) = result.filter(|result| result.verdict == Verdict::Invalid) else { return Ok(None) };
    let last_ns = experiment.time.as_nanos() as u64;
    let violated_ns = result.violations.iter().map(|violation| violation.end_ns).min().unwrap_or(last_ns);
    let begun = |event: &history::Event| {
        event.kind == EventKind::Invoke && event.f != "lapse" && event.time <= violated_ns
    };
    let faults = &experiment.schedule.faults;
    let weight = |fault: &ScheduledFault| fault.at_ms + fault.lasts_ms + fault.fault.weight_ms();
    let size = Size {
        faults: faults.len(),
        clients: experiment.clients,
        chance: faults.iter().filter(|fault| is_chance(fault)).count(),
        network: changed(&experiment.sim),
        operations: tried.judged.history.events().filter(begun).count(),
        time_ms: experiment.time.as_millis() as u64,
        faults_ms: faults.iter().map(weight).sum(),
    };
    Ok(Some(Failing { experiment, size, violated_ms: violated_ns.div_ceil(1_000_000) }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Flags;

    #[test]
    fn the_clients_that_a_fault_names_stay() {
        let fewer = |faults: &str| {
            let flags = Flags { faults: Some(faults.into()), clients: Some(8), ..Flags::default() };
            let experiment = Experiment::resolve("redis/set-nx", &flags).expect("it makes sense");
            fewer_clients(&experiment).collect::<Vec<_>>()
        };
        assert_eq!(fewer("pause:client,kill:s1"), [2, 3, 4, 7]);
        assert_eq!(fewer("pause:c4,kill:c3"), [4, 7]);
        assert!(fewer("pause:c8").is_empty());
    }
}
