//! Latency and rate over time, with the faults as bands, as SVG.

mod frame;
mod latency;
mod rate;

use crate::{run::RunData, timeline::Timeline};

/// A plot could not be drawn.
#[derive(Debug, thiserror::Error)]
#[error("failed to draw a plot: {0}")]
pub struct PlotError(String);

/// Names and SVG texts: `latency` and `rate`, to be written as `plots/<name>.svg`. None for a run in which nothing happened.
///
/// # Errors
/// The drawing library refused.
pub fn render(run: &RunData) -> Result<Vec<(String, String)>, PlotError> {
    draw(run, &Timeline::new(run))
}

/// The same with colours that follow the page's theme.
pub(crate) fn for_page(run: &RunData, timeline: &Timeline) -> Result<Vec<(String, String)>, PlotError> {
    let mut plots = draw(run, timeline)?;
    for (_, svg) in &mut plots {
        *svg = frame::themed(svg);
    }
    Ok(plots)
}

fn draw(run: &RunData, timeline: &Timeline) -> Result<Vec<(String, String)>, PlotError> {
    if timeline.operations.is_empty() {
        return Ok(Vec::new());
    }
    Ok(vec![
        ("latency".to_owned(), latency::draw(run, timeline)?),
        ("rate".to_owned(), rate::draw(run, timeline)?),
    ])
}
