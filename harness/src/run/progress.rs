//! What a user sees while a run goes, always on stderr.

use std::{cell::Cell, time::Duration};

use indicatif::{ProgressBar, ProgressStyle};
use nemesis::{evidence::FaultResult, schedule::ScheduledFault};

use crate::{recorder::Counts, tell};

/// Is told what happens.
pub trait Progress {
    /// A phase begins.
    fn phase(&self, name: &str);
    /// Now and then during the run.
    fn tick(&self, left: Duration, counts: Counts);
    /// A fault was applied, or could not be.
    fn fault(&self, fault: &ScheduledFault, targets: &[String], result: FaultResult);
    /// A fault was healed, or could not be.
    fn healed(&self, fault: &ScheduledFault, healed: bool);
    /// A node, or the harness, stood still for long, and no fault did that.
    fn stalled(&self, node: &str, length: Duration);
}

/// Says nothing: for `--json`, tests and campaigns.
pub struct Silent;

impl Progress for Silent {
    fn phase(&self, _: &str) {}
    fn tick(&self, _: Duration, _: Counts) {}
    fn fault(&self, _: &ScheduledFault, _: &[String], _: FaultResult) {}
    fn healed(&self, _: &ScheduledFault, _: bool) {}
    fn stalled(&self, _: &str, _: Duration) {}
}

/// A living line on a terminal, plain lines elsewhere.
pub struct Shown {
    bar: Option<ProgressBar>,
    pace: Pace,
    /// Lines of faults and stalls so far.
    told: Cell<u32>,
}

/// How far apart plain lines of a run stand: the longer the run, the farther.
#[derive(Default)]
struct Pace {
    /// What was left at the first line, and at the last one.
    lines: Cell<Option<(Duration, Duration)>>,
}

/// Least pause between two plain lines.
const PLAIN_EVERY: Duration = Duration::from_secs(5);
/// Most plain lines of one run.
const PLAIN_MAX: u32 = 100;
/// Most lines of faults and stalls.
const TOLD_MAX: u32 = 200;

impl Pace {
    /// Whether it is time for a line.
    fn is_due(&self, left: Duration) -> bool {
        let Some((first, last)) = self.lines.get() else {
            self.lines.set(Some((left, left)));
            return true;
        };
        let due = last >= left + PLAIN_EVERY.max(first / PLAIN_MAX);
        if due {
            self.lines.set(Some((first, left)));
        }
        due
    }
}

impl Shown {
    /// Chooses by what stderr is; `CI` and `TERM=dumb` count as no terminal.
    pub fn new() -> Shown {
        let bar = tell::is_lively().then(|| {
            let bar = ProgressBar::new_spinner();
            bar.set_style(
                ProgressStyle::with_template("{spinner} {msg}")
                    .unwrap_or_else(|_| ProgressStyle::default_spinner()),
            );
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        Shown { bar, pace: Pace::default(), told: Cell::new(0) }
    }

    /// One of many lines to come.
    fn one_of_many(&self, text: &str) {
        match self.told.get() {
            told if told < TOLD_MAX => self.line(text),
            TOLD_MAX => self.line("  … further faults and stalls are told in the report"),
            _ => return,
        }
        self.told.set(self.told.get() + 1);
    }

    fn line(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(reports::plain::message(text)),
            None => tell!("{text}"),
        }
    }
}

impl Default for Shown {
    fn default() -> Shown {
        Shown::new()
    }
}

impl Progress for Shown {
    fn phase(&self, name: &str) {
        let words = match name {
            "provision" => "starting servers and clients",
            "run" => "running",
            "heal" => "healed; waiting until every lock is granted again",
            "teardown" => "removing the nodes",
            other => other,
        };
        match &self.bar {
            Some(bar) => bar.set_message(words.to_string()),
            None => tell!("{words}"),
        }
    }

    fn tick(&self, left: Duration, counts: Counts) {
        let overlaps = if counts.overlaps > 0 {
            format!(", {} overlapping holds", counts.overlaps)
        } else {
            String::new()
        };
        let text = format!(
            "running, {:.0} s left: {} operations, {} grants{overlaps}",
            left.as_secs_f64(),
            counts.operations,
            counts.grants
        );
        match &self.bar {
            Some(bar) => bar.set_message(text),
            None if self.pace.is_due(left) => tell!("{text}"),
            None => {}
        }
    }

    fn fault(&self, fault: &ScheduledFault, targets: &[String], result: FaultResult) {
        let targets = if targets.is_empty() { "nobody".into() } else { targets.join(" ") };
        self.one_of_many(&format!("  {fault} → {targets}: {result}"));
    }

    fn healed(&self, fault: &ScheduledFault, healed: bool) {
        if !healed {
            self.line(&format!("  fault {} could NOT be healed", fault.id));
        }
    }

    fn stalled(&self, node: &str, length: Duration) {
        self.one_of_many(&format!("  {node} stood still for {:.1} s", length.as_secs_f64()));
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_run_tells_no_more_often_than_a_short_one() {
        for (seconds, lines) in [(30, 6), (600, 100), (25 * 3600, 100)] {
            let pace = Pace::default();
            let due = (0..seconds).rev().filter(|left| pace.is_due(Duration::from_secs(*left))).count();
            assert_eq!(due, lines, "{seconds} s");
        }
    }
}
