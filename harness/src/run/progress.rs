//! What a user sees while a run goes, always on stderr.

use std::{cell::Cell, io::IsTerminal, time::Duration};

use indicatif::{ProgressBar, ProgressStyle};
use nemesis::{evidence::FaultResult, schedule::ScheduledFault};

use crate::recorder::Counts;

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
}

/// Says nothing: for `--json`, tests and campaigns.
pub struct Silent;

impl Progress for Silent {
    fn phase(&self, _: &str) {}
    fn tick(&self, _: Duration, _: Counts) {}
    fn fault(&self, _: &ScheduledFault, _: &[String], _: FaultResult) {}
    fn healed(&self, _: &ScheduledFault, _: bool) {}
}

/// A living line on a terminal, plain lines elsewhere.
pub struct Shown {
    bar: Option<ProgressBar>,
    last_line: Cell<Option<Duration>>,
}

/// Pause between two plain lines.
const PLAIN_EVERY: Duration = Duration::from_secs(5);

impl Shown {
    /// Chooses by what stderr is; `CI` and `TERM=dumb` count as no terminal.
    pub fn new() -> Shown {
        let lively = std::io::stderr().is_terminal()
            && std::env::var_os("CI").is_none()
            && std::env::var("TERM").map_or(true, |term| term != "dumb");
        let bar = lively.then(|| {
            let bar = ProgressBar::new_spinner();
            bar.set_style(
                ProgressStyle::with_template("{spinner} {msg}")
                    .unwrap_or_else(|_| ProgressStyle::default_spinner()),
            );
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        Shown { bar, last_line: Cell::new(None) }
    }

    fn line(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(text),
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
            None if self.last_line.get().is_none_or(|last| last >= left + PLAIN_EVERY) => {
                self.last_line.set(Some(left));
                tell!("{text}");
            }
            None => {}
        }
    }

    fn fault(&self, fault: &ScheduledFault, targets: &[String], result: FaultResult) {
        self.line(&format!(
            "  {fault} → {}: {result}",
            if targets.is_empty() { "nobody".into() } else { targets.join(" ") }
        ));
    }

    fn healed(&self, fault: &ScheduledFault, healed: bool) {
        if !healed {
            self.line(&format!("  fault {} could NOT be healed", fault.id));
        }
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
