//! What a person at a terminal sees while a large history is checked.

use std::{
    sync::atomic::Ordering::Relaxed,
    time::{Duration, Instant},
};

use history::verdict::Verdict;
use indicatif::{HumanBytes, HumanCount, ProgressBar, ProgressStyle};

use super::watch::{Stage, Watch};
use crate::tell;

/// Who waits shorter needs no bar.
const SHOW_AFTER: Duration = Duration::from_millis(700);
const SHOW_EVERY: Duration = Duration::from_millis(100);

/// A line on stderr; none where that is no terminal for it.
pub struct Progress {
    start: Instant,
    last: Instant,
    bar: Option<ProgressBar>,
    is_lively: bool,
}

impl Progress {
    /// Nothing is shown yet.
    pub fn new() -> Progress {
        let now = Instant::now();
        Progress { start: now, last: now, bar: None, is_lively: tell::is_lively() }
    }

    /// Brings the line up to date.
    pub fn show(&mut self, watch: &Watch) {
        if !self.is_lively || self.start.elapsed() < SHOW_AFTER || self.last.elapsed() < SHOW_EVERY {
            return;
        }
        self.last = Instant::now();
        let bar = self.bar.get_or_insert_with(ProgressBar::new_spinner);
        match watch.stage() {
            Stage::Reading(size) => {
                let read = watch.read_bytes.load(Relaxed);
                bar.set_style(style(size));
                bar.set_length(size.unwrap_or(read));
                bar.set_position(read);
                bar.set_message(format!("reading {}", HumanBytes(read)));
            }
            stage => {
                bar.set_style(style(None));
                bar.set_message(message(&stage));
            }
        }
        bar.tick();
    }

    /// Takes the line away.
    pub fn end(&mut self) {
        self.bar.iter().for_each(ProgressBar::finish_and_clear);
        self.bar = None;
    }
}

fn style(size: Option<u64>) -> ProgressStyle {
    let template =
        if size.is_some() { "{bar:30} {percent}% {msg}, {eta} left" } else { "{spinner} {msg}, {elapsed}" };
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
}

fn message(stage: &Stage) -> String {
    match stage {
        Stage::Reading(_) => "reading".into(),
        Stage::Converting(events) => format!("{} events", HumanCount(*events as u64)),
        Stage::Judging(count) => format!("judging {}", HumanCount(*count as u64)),
        Stage::Explaining { verdict: Verdict::Invalid, .. } => "invalid; explaining why".into(),
        Stage::Explaining { verdict, .. } => format!("{verdict}; looking into what was assumed"),
    }
}
