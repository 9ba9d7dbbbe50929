//! The report of a run for a terminal.

mod layout;
mod sections;

use crate::{run::RunData, timeline::Timeline};

/// How to print.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Columns of the terminal; less than 60 is taken as 60.
    pub width: usize,
    /// Whether to write ANSI colours.
    pub color: bool,
}

/// Verdict, checks, the first violation, operations, faults, and how to repeat the run.
pub fn render(run: &RunData, options: Options) -> String {
    let layout = layout::Layout::new(options);
    let timeline = Timeline::new(run);
    let sections = [
        sections::verdict(run, &layout),
        sections::checks(run, &layout),
        sections::first_violation(run, &layout),
        sections::operations(run, &timeline, &layout),
        sections::faults(run, &layout),
        sections::failovers(run, &layout),
        sections::closing(run, &layout),
    ];
    let mut text = sections.into_iter().flatten().collect::<Vec<_>>().join("\n");
    text.push('\n');
    text
}
