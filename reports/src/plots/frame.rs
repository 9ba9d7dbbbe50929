use history::judgement::FaultRecord;
use plotters::{coord::Shift, prelude::*};

use super::PlotError;
use crate::{plain, timeline::Timeline};

pub(super) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

const SIZE: (u32, u32) = (1100, 250);
const LEGEND_HEIGHT: u32 = 26;
pub(super) const INK: RGBColor = RGBColor(0x33, 0x3b, 0x45);
pub(super) const GRID: RGBColor = RGBColor(0xdd, 0xe1, 0xe6);
const FAULT: RGBColor = RGBColor(0x8a, 0x6b, 0xbe);
const PAPER: RGBColor = RGBColor(0xfe, 0xfe, 0xfe);
/// Told apart by people who do not see red and green (after Okabe and Ito).
pub(super) const SERIES: [RGBColor; 5] = [
    RGBColor(0x1f, 0x6f, 0xb4),
    RGBColor(0xc4, 0x5a, 0x12),
    RGBColor(0x0b, 0x7a, 0x66),
    RGBColor(0xa8, 0x46, 0x84),
    RGBColor(0x7a, 0x6a, 0x1d),
];
/// Colours and the page's variables that stand for them.
const THEMED: [(RGBColor, &str); 9] = [
    (INK, "--soft"),
    (GRID, "--line"),
    (FAULT, "--fault"),
    (PAPER, "--paper"),
    (SERIES[0], "--s0"),
    (SERIES[1], "--s1"),
    (SERIES[2], "--s2"),
    (SERIES[3], "--s3"),
    (SERIES[4], "--s4"),
];

/// How a series is marked in the legend.
#[derive(Clone, Copy)]
pub(super) enum Sign {
    Line(RGBColor),
    Dot(RGBColor),
    Triangle(RGBColor),
    Cross(RGBColor),
}

/// Draws title and legend, then hands the rest of the picture to `body`.
pub(super) fn picture(
    title: &str,
    legend: &[(Sign, String)],
    body: impl FnOnce(&Area) -> Result<(), PlotError>,
) -> Result<String, PlotError> {
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        root.fill(&PAPER).map_err(error)?;
        let (top, rest) = root.split_vertically(LEGEND_HEIGHT);
        put_legend(&top, title, legend)?;
        body(&rest)?;
        root.present().map_err(error)?;
    }
    Ok(plain::document(&svg).into_owned())
}

fn put_legend(top: &Area, title: &str, legend: &[(Sign, String)]) -> Result<(), PlotError> {
    let font = ("sans-serif", 13).into_font().color(&INK);
    let bold = ("sans-serif", 13).into_font().style(FontStyle::Bold).color(&INK);
    top.draw(&Text::new(title.to_owned(), (8, 7), bold)).map_err(error)?;
    let mut x = 30 + 13 * title.chars().count() as i32 / 2;
    for (sign, label) in legend {
        let at = (x, 13);
        match sign {
            Sign::Line(color) => {
                top.draw(&PathElement::new(vec![(x - 7, 13), (x + 6, 13)], color.stroke_width(2)))
            }
            Sign::Dot(color) => top.draw(&Circle::new(at, 3, color.filled())),
            Sign::Triangle(color) => top.draw(&TriangleMarker::new(at, 4, color.filled())),
            Sign::Cross(color) => top.draw(&Cross::new(at, 3, color.stroke_width(1))),
        }
        .map_err(error)?;
        top.draw(&Text::new(label.clone(), (x + 11, 7), font.clone())).map_err(error)?;
        x += 34 + 13 * label.chars().count() as i32 / 2;
    }
    Ok(())
}

/// What the time axis spans.
pub(super) fn seconds(timeline: &Timeline) -> (f64, f64) {
    let start = timeline.start_ns as f64 / 1e9;
    (start, (timeline.end_ns as f64 / 1e9).max(start + 0.001))
}

/// A fault's band between two heights of the plot.
pub(super) fn band(fault: &FaultRecord, end_ns: u64, bottom: f64, top: f64) -> Rectangle<(f64, f64)> {
    let from = fault.start_ns as f64 / 1e9;
    let to = fault.end_ns.unwrap_or(end_ns) as f64 / 1e9;
    Rectangle::new([(from, bottom), (to, top)], FAULT.mix(0.16).filled())
}

/// Colours as variables of the page's style sheet.
pub(super) fn themed(svg: &str) -> String {
    THEMED.iter().fold(svg.to_owned(), |svg, (RGBColor(r, g, b), variable)| {
        svg.replace(&format!("\"#{r:02X}{g:02X}{b:02X}\""), &format!("\"var({variable})\""))
    })
}

pub(super) fn error<E: std::error::Error + Send + Sync>(error: DrawingAreaErrorKind<E>) -> PlotError {
    PlotError(error.to_string())
}
