use std::collections::BTreeSet;

use history::Action;
use plotters::prelude::*;

use super::{
    PlotError,
    frame::{self, GRID, INK, SERIES, Sign, error, picture},
};
use crate::{
    plain,
    run::RunData,
    timeline::{Operation, Outcome, Timeline},
};

/// Points closer than this, as a share of width and height, are one.
const CELLS: (f64, f64) = (240.0, 54.0);
/// Names in the legend: more have no room.
const FUNCTIONS_MAX: usize = 8;
/// Bytes of a name in the legend.
const LABEL_MAX: usize = 24;

/// One point an operation, at the time of its invocation.
pub(super) fn draw(run: &RunData, timeline: &Timeline) -> Result<String, PlotError> {
    let fs = functions(timeline);
    let (start, end) = frame::seconds(timeline);
    let points = points(timeline, &fs);
    let low = points.iter().map(|p| p.ms).fold(f64::INFINITY, f64::min).clamp(0.01, 1.0);
    let high = points.iter().map(|p| p.ms).fold(0.0, f64::max).max(low * 10.0) * 1.3;
    let mut legend: Vec<_> =
        fs.iter().enumerate().map(|(i, f)| (Sign::Dot(color(i)), plain::clipped(f, LABEL_MAX))).collect();
    legend.push((Sign::Triangle(INK), "failed".to_owned()));
    legend.push((Sign::Cross(INK), "unknown outcome".to_owned()));

    picture("Latency, ms", &legend, |area| {
        let mut chart = ChartBuilder::on(area)
            .margin_right(10)
            .x_label_area_size(26)
            .y_label_area_size(58)
            .build_cartesian_2d(start..end, (low..high).log_scale())
            .map_err(error)?;
        let bands = run.judgement.faults.iter().map(|fault| frame::band(fault, timeline.end_ns, low, high));
        chart.draw_series(bands).map_err(error)?;
        let axis = ("sans-serif", 12).into_font().color(&INK);
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(GRID)
            .axis_style(GRID)
            .label_style(axis)
            .x_label_formatter(&|s| format!("{s} s"))
            .y_label_formatter(&|ms| format!("{ms}"))
            .draw()
            .map_err(error)?;
        let at = |outcome| points.iter().filter(move |p| p.outcome == outcome);
        let dots = at(Outcome::Ok).map(|p| Circle::new((p.s, p.ms), 2, color(p.f).mix(0.7).filled()));
        chart.draw_series(dots).map_err(error)?;
        let triangles = at(Outcome::Fail).map(|p| TriangleMarker::new((p.s, p.ms), 4, color(p.f).filled()));
        chart.draw_series(triangles).map_err(error)?;
        let crosses = at(Outcome::Info).map(|p| Cross::new((p.s, p.ms), 3, color(p.f).stroke_width(2)));
        chart.draw_series(crosses).map_err(error)?;
        Ok(())
    })
}

struct Point {
    s: f64,
    ms: f64,
    f: usize,
    outcome: Outcome,
}

/// What is drawn, without those that would cover each other.
fn points(timeline: &Timeline, fs: &[&str]) -> Vec<Point> {
    let length_ns = timeline.end_ns.saturating_sub(timeline.start_ns).max(1) as f64;
    let mut taken = BTreeSet::new();
    let mut points = Vec::new();
    for operation in takes_time(timeline) {
        let Some(ns) = operation.duration_ns() else { continue };
        let f = fs.iter().position(|f| *f == operation.f).unwrap_or(fs.len() - 1);
        let ms = (ns as f64 / 1e6).max(0.01);
        let column = ((operation.start_ns - timeline.start_ns) as f64 / length_ns * CELLS.0) as u64;
        let row = (ms.log10() / 6.0 * CELLS.1) as i64;
        if taken.insert((column, row, f, operation.outcome as u8)) {
            points.push(Point { s: operation.start_ns as f64 / 1e9, ms, f, outcome: operation.outcome });
        }
    }
    points
}

/// The names of operations that take time, in order of appearance; after the first few the rest under one name.
fn functions(timeline: &Timeline) -> Vec<&str> {
    let mut fs: Vec<&str> = Vec::new();
    for operation in takes_time(timeline) {
        if !fs.contains(&operation.f.as_str()) {
            if fs.len() == FUNCTIONS_MAX {
                fs.push("others");
                break;
            }
            fs.push(&operation.f);
        }
    }
    fs
}

fn takes_time(timeline: &Timeline) -> impl Iterator<Item = &Operation> {
    timeline.operations.iter().filter(|operation| operation.f != Action::Lapse.name())
}

fn color(f: usize) -> RGBColor {
    SERIES[f % SERIES.len()]
}
