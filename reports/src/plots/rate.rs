use history::Action;
use plotters::prelude::*;

use super::{
    PlotError,
    frame::{self, GRID, INK, SERIES, Sign, error, picture},
};
use crate::{
    run::RunData,
    timeline::{Outcome, Timeline},
};

/// Widths of a bin in milliseconds; the smallest that makes at most [`BINS`] of them is taken.
const WIDTHS_MS: [u64; 8] = [50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000];
const BINS: u64 = 150;

/// Completions per second by outcome.
pub(super) fn draw(run: &RunData, timeline: &Timeline) -> Result<String, PlotError> {
    let width_ns = width_ns(timeline.end_ns - timeline.start_ns);
    let (start, end) = frame::seconds(timeline);
    let outcomes = [
        (Outcome::Ok, "ok", SERIES[0]),
        (Outcome::Fail, "failed", SERIES[1]),
        (Outcome::Info, "unknown outcome", SERIES[3]),
    ];
    let happened = |outcome| timeline.operations.iter().any(|operation| operation.outcome == outcome);
    let lines = outcomes.into_iter().filter(|(outcome, ..)| happened(*outcome));
    let lines: Vec<_> =
        lines.map(|(outcome, name, color)| (name, color, steps(timeline, outcome, width_ns))).collect();
    let high = lines.iter().flat_map(|(_, _, steps)| steps).map(|(_, rate)| *rate).fold(1.0, f64::max) * 1.1;
    let legend: Vec<_> =
        lines.iter().map(|(name, color, _)| (Sign::Line(*color), name.to_string())).collect();

    picture("Operations completed per second", &legend, |area| {
        let mut chart = ChartBuilder::on(area)
            .margin_right(10)
            .x_label_area_size(26)
            .y_label_area_size(58)
            .build_cartesian_2d(start..end, 0.0..high)
            .map_err(error)?;
        let bands = run.judgement.faults.iter().map(|fault| frame::band(fault, timeline.end_ns, 0.0, high));
        chart.draw_series(bands).map_err(error)?;
        let axis = ("sans-serif", 12).into_font().color(&INK);
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(GRID)
            .axis_style(GRID)
            .label_style(axis)
            .y_labels(5)
            .x_label_formatter(&|s| format!("{s} s"))
            .y_label_formatter(&|rate| format!("{rate}"))
            .draw()
            .map_err(error)?;
        // The most important one last, so that it lies on top.
        for (_, color, steps) in lines.into_iter().rev() {
            chart.draw_series(LineSeries::new(steps, color.stroke_width(2))).map_err(error)?;
        }
        Ok(())
    })
}

fn width_ns(length_ns: u64) -> u64 {
    let fits = |ms: &&u64| length_ns / (**ms * 1_000_000) < BINS;
    let largest = (length_ns / BINS / 1_000_000).max(1);
    WIDTHS_MS.iter().find(fits).copied().unwrap_or(largest) * 1_000_000
}

/// Corners of a step line: seconds and operations per second.
fn steps(timeline: &Timeline, outcome: Outcome, width_ns: u64) -> Vec<(f64, f64)> {
    let mut bins =
        vec![0u64; usize::try_from((timeline.end_ns - timeline.start_ns) / width_ns).unwrap_or(0) + 1];
    for operation in
        timeline.operations.iter().filter(|op| op.outcome == outcome && op.f != Action::Lapse.name())
    {
        if let Some(end) = operation.end_ns {
            bins[((end.min(timeline.end_ns) - timeline.start_ns) / width_ns) as usize] += 1;
        }
    }
    let width_s = width_ns as f64 / 1e9;
    let end_s = timeline.end_ns as f64 / 1e9;
    let start_s = timeline.start_ns as f64 / 1e9;
    let corner = |i: usize| (start_s + i as f64 * width_s).min(end_s);
    bins.iter()
        .enumerate()
        .flat_map(|(i, n)| [corner(i), corner(i + 1)].map(|s| (s, *n as f64 / width_s)))
        .collect()
}
