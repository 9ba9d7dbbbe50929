//! The report of a run for a terminal.

mod layout;
mod sections;

use crate::{run::RunData, timeline::Timeline};

/// How to print.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Columns of the terminal; where they are fewer than 60, tables are printed as lists.
    pub width: usize,
    /// Whether to write ANSI colours.
    pub color: bool,
}

/// Verdict, checks, the first violation, operations, faults, how to repeat the run, and what helps.
pub fn render(run: &RunData, options: Options) -> String {
    let text = without_help(run, options);
    match help(run, options) {
        Some(help) => format!("{text}{help}"),
        None => text,
    }
}

/// As [`render`], for those who have something to say before the last lines.
pub fn without_help(run: &RunData, options: Options) -> String {
    let layout = layout::Layout::new(options);
    let timeline = Timeline::new(run);
    let sections = [
        sections::verdict(run, &layout),
        sections::checks(run, &layout),
        sections::first_violation(run, &layout),
        sections::operations(run, &timeline, &layout),
        sections::faults(run, &layout),
        sections::exits(run, &layout),
        sections::stalls(run, &layout),
        sections::failovers(run, &layout),
        sections::closing(run, &layout),
    ];
    let mut text = sections.into_iter().flatten().collect::<Vec<_>>().join("\n");
    text.push('\n');
    text
}

/// What helps against what was broken: the last lines.
pub fn help(run: &RunData, options: Options) -> Option<String> {
    sections::help(run, &layout::Layout::new(options))
}
