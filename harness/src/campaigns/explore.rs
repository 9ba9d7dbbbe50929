//! Campaigns: many seeds of one experiment, over all cores. Each seed is a simulation of its own on one thread.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "it times whole simulations, from outside"
)]

use std::{
    collections::BTreeMap,
    rc::Rc,
    sync::{
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc,
    },
    time::{Duration, Instant},
};

use history::verdict::Verdict;
use nemesis::schedule::Schedule;

use super::simulate::try_out;
use crate::{
    error::{Error, Result},
    experiment::Experiment,
    run::Interrupts,
};

/// What to explore.
pub struct Campaign {
    /// The experiment; each run gets a seed of its own, and unless its schedule is given, a schedule drawn from that.
    pub base: Experiment,
    /// The first seed.
    pub first: u64,
    /// How many seeds.
    pub seeds: u64,
    /// How many threads.
    pub jobs: usize,
    /// Go on after the first violation.
    pub count: bool,
    /// Ends it early; runs under way are finished.
    pub stop: Interrupts,
}

/// A seed whose run broke a promise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The seed.
    pub seed: u64,
    /// The checks that were violated, in the order of reports: what others follow from first.
    pub checks: Vec<String>,
}

/// A seed whose run broke nothing, and of which some check can say nothing certain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
    /// The seed.
    pub seed: u64,
    /// The checks that say `unknown`, in the order of reports, with their reasons.
    pub checks: Vec<(String, String)>,
}

/// Why runs are unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reason {
    /// In the check's words.
    pub why: String,
    /// The checks that gave it, in the order of reports.
    pub checks: Vec<String>,
    /// The seeds of the runs.
    pub seeds: Vec<u64>,
}

/// What is known so far.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Runs that were judged.
    pub runs: u64,
    /// Those that broke a promise, by seed.
    pub found: Vec<Found>,
    /// Those about which nothing certain can be said, by seed.
    pub unknown: Vec<Doubt>,
    /// Virtual time of all runs, nanoseconds.
    pub virtual_ns: u64,
    /// Real time.
    pub elapsed: Duration,
}

impl Tally {
    /// Share of the runs that broke a promise, with its 95 % interval.
    pub fn rate(&self) -> (f64, f64, f64) {
        wilson(self.found.len() as u64, self.runs)
    }

    /// In how many runs each check was violated, in the order of reports.
    pub fn by_check(&self) -> Vec<(&str, usize)> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        let violated = self.found.iter().flat_map(|found| &found.checks);
        violated.for_each(|check| *counts.entry(check).or_default() += 1);
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by_key(|(check, _)| checkers::rank(check));
        counts
    }

    /// Why runs are unknown, the most frequent reason first.
    pub fn reasons(&self) -> Vec<Reason> {
        let mut reasons: Vec<Reason> = Vec::new();
        let told = self.unknown.iter().flat_map(|doubt| doubt.checks.iter().map(|told| (doubt.seed, told)));
        for (seed, (check, why)) in told {
            let known = reasons.iter().position(|reason| reason.why == *why).unwrap_or_else(|| {
                reasons.push(Reason { why: why.clone(), ..Reason::default() });
                reasons.len() - 1
            });
            let Reason { checks, seeds, .. } = &mut reasons[known];
            if !checks.contains(check) {
                checks.push(check.clone());
            }
            if seeds.last() != Some(&seed) {
                seeds.push(seed);
            }
        }
        reasons.iter_mut().for_each(|reason| reason.checks.sort_by_key(|check| checkers::rank(check)));
        reasons.sort_by_key(|reason| std::cmp::Reverse(reason.seeds.len()));
        reasons
    }

    /// Runs a second.
    pub fn speed(&self) -> f64 {
        self.runs as f64 / self.elapsed.as_secs_f64().max(1e-9)
    }
}

/// The experiment of one seed of a campaign.
pub fn with_seed(base: &Experiment, seed: u64) -> Result<Experiment> {
    let mut experiment = Experiment { seed, ..base.clone() };
    if !experiment.scheduled {
        let millis = |duration: Duration| duration.as_millis() as u64;
        let (time_ms, ttl_ms) = (millis(base.time), millis(base.ttl));
        experiment.schedule = Schedule::draw(&base.faults, seed, time_ms, ttl_ms)
            .map_err(|error| Error::Usage(error.to_string()))?;
    }
    Ok(experiment)
}

/// Runs the campaign; `tell` hears of every run that ends.
///
/// With what was found comes a failure of the harness in one of the runs, which says nothing about the recipe and ends
/// the campaign.
pub fn explore(campaign: &Campaign, mut tell: impl FnMut(&Tally)) -> (Tally, Result<()>) {
    let (next, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let (sender, results) = mpsc::channel();
    let begun = Instant::now();
    let mut tally = Tally::default();
    std::thread::scope(|scope| {
        for _ in 0..campaign.jobs.max(1) {
            let (sender, next, stop) = (sender.clone(), &next, &stop);
            scope.spawn(move || {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let stopped = stop.load(Ordering::Relaxed) || campaign.stop.is_requested();
                    if number >= campaign.seeds || stopped {
                        return;
                    }
                    if sender.send(one(&campaign.base, campaign.first + number)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut failed = None;
        for result in results {
            match result {
                Ok(run) => {
                    tally.take(run);
                    tally.elapsed = begun.elapsed();
                    tell(&tally);
                }
                Err(error) => _ = failed.get_or_insert(error),
            }
            if failed.is_some() || (!campaign.count && !tally.found.is_empty()) {
                stop.store(true, Ordering::Relaxed);
            }
        }
        tally.found.sort_by_key(|found| found.seed);
        tally.unknown.sort_by_key(|doubt| doubt.seed);
        tally.elapsed = begun.elapsed();
        (tally, failed.map_or(Ok(()), Err))
    })
}

struct One {
    seed: u64,
    verdict: Verdict,
    /// The checks with that verdict, and why.
    checks: Vec<(String, String)>,
    time_ns: u64,
}

fn one(base: &Experiment, seed: u64) -> Result<One> {
    let tried = try_out(&Rc::new(with_seed(base, seed)?))?;
    let judgement = tried.judged.judgement;
    let verdict = judgement.verdict;
    let of_verdict = judgement.checks.into_iter().filter(|(_, check)| check.verdict == verdict);
    let mut checks: Vec<_> =
        of_verdict.map(|(name, check)| (name, check.reason.unwrap_or_default())).collect();
    checks.sort_by_key(|(check, _)| checkers::rank(check));
    Ok(One { seed, verdict, checks, time_ns: tried.time_ns })
}

impl Tally {
    fn take(&mut self, run: One) {
        let One { seed, verdict, checks, time_ns } = run;
        self.runs += 1;
        self.virtual_ns += time_ns;
        match verdict {
            Verdict::Invalid => {
                self.found.push(Found { seed, checks: checks.into_iter().map(|(name, _)| name).collect() });
            }
            Verdict::Unknown => self.unknown.push(Doubt { seed, checks }),
            Verdict::Valid => {}
        }
    }
}

/// Share, lower and upper end of the 95 % interval of Wilson ("Probable inference", 1927).
fn wilson(hits: u64, of: u64) -> (f64, f64, f64) {
    if of == 0 {
        return (0.0, 0.0, 1.0);
    }
    let (n, z) = (of as f64, 1.959_964);
    let share = hits as f64 / n;
    let centre = share + z * z / (2.0 * n);
    let spread = z * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + z * z / n;
    (share, ((centre - spread) / scale).max(0.0), ((centre + spread) / scale).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_hold_the_share() {
        let (share, low, high) = wilson(18, 100);
        assert!((share - 0.18).abs() < 1e-9 && (low - 0.117).abs() < 0.001 && (high - 0.267).abs() < 0.001);
        let (_, low, high) = wilson(0, 2000);
        assert!(low < 1e-9 && (high - 0.001_917).abs() < 0.000_01);
        assert_eq!(wilson(0, 0), (0.0, 0.0, 1.0));
    }

    #[test]
    fn reasons_name_their_checks_and_seeds() {
        let doubt = |seed, checks: &[(&str, &str)]| Doubt {
            seed,
            checks: checks.iter().map(|(check, why)| ((*check).to_owned(), (*why).to_owned())).collect(),
        };
        let unknown = vec![
            doubt(3, &[("liveness", "late")]),
            doubt(4, &[("exclusion", "no pause"), ("liveness", "no pause")]),
            doubt(9, &[("token", "no pause")]),
        ];
        let reason = |why: &str, checks: &[&str], seeds: &[u64]| Reason {
            why: why.to_owned(),
            checks: checks.iter().map(|check| (*check).to_owned()).collect(),
            seeds: seeds.to_vec(),
        };
        let tally = Tally { unknown, ..Tally::default() };
        let no_pause = reason("no pause", &["exclusion", "token", "liveness"], &[4, 9]);
        assert_eq!(tally.reasons(), [no_pause, reason("late", &["liveness"], &[3])]);
    }

    #[test]
    fn checks_are_counted_by_run() {
        let found = |seed, checks: &[&str]| Found {
            seed,
            checks: checks.iter().map(|check| (*check).to_owned()).collect(),
        };
        let found = vec![found(1, &["exclusion", "damage"]), found(2, &["damage"])];
        let tally = Tally { found, ..Tally::default() };
        assert_eq!(tally.by_check(), [("exclusion", 1), ("damage", 2)]);
    }
}
