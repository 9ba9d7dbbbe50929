//! One self-contained page: no request leaves it, and it opens from a file.
//!
//! The page's tables are written here; its timeline is drawn by the script from the data embedded in it, and only as
//! much of it as is in view. What it counts stands in `data-` attributes of `#timeline` and in `window.fencepost`.

mod data;
mod sections;

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::{
    messages, plain,
    plots::{self, PlotError},
    run::RunData,
    timeline::{LaneKind, Timeline},
    violations::numbered,
    words,
};

const STYLES: [&str; 2] = [include_str!("page/page.css"), include_str!("page/messages.css")];
const SCRIPTS: [&str; 12] = [
    include_str!("page/model.js"),
    include_str!("page/view.js"),
    include_str!("page/signs.js"),
    include_str!("page/draw.js"),
    include_str!("page/marks.js"),
    include_str!("page/details.js"),
    include_str!("page/operations.js"),
    include_str!("page/jump.js"),
    include_str!("page/input.js"),
    include_str!("page/legend.js"),
    include_str!("page/messages.js"),
    include_str!("page/main.js"),
];
/// Nothing may be fetched, whatever a history tries to smuggle in.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

/// The whole page.
///
/// # Errors
/// A plot could not be drawn.
pub fn render(run: &RunData) -> Result<String, PlotError> {
    let timeline = Timeline::new(run);
    let plots = plots::for_page(run, &timeline)?;
    let title = format!("{}: {}", words::verdict(run.judgement.verdict), run.judgement.experiment);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="color-scheme" content="light dark";
                link rel="icon" href="data:,";
                title { (title) }
                style { (PreEscaped(STYLES.concat())) }
            }
            body {
                (sections::top(run))
                main {
                    (sections::violations(run))
                    (drawing(run, &timeline))
                    (messages::section(run, &timeline))
                    (sections::checks(run))
                    (sections::outcomes(run, &timeline))
                    (sections::plots(&plots))
                    (sections::faults(run))
                    (sections::operations())
                    (sections::about(run))
                }
                script type="application/json" id="run-data" { (PreEscaped(data::embed(run, &timeline))) }
                script type="module" { (PreEscaped(SCRIPTS.concat())) }
            }
        }
    };
    // What is shown by the script is escaped as JSON already.
    Ok(plain::document(&page.into_string()).into_owned())
}

/// The timeline's frame. The script fills it.
fn drawing(run: &RunData, timeline: &Timeline) -> Markup {
    let overlaps =
        numbered(&run.judgement).iter().filter(|violation| violation.overlap_ms().is_some()).count();
    html! {
        section #timeline tabindex="-1"
            data-lanes=(timeline.lanes_of(LaneKind::Client))
            data-server-lanes=(timeline.lanes_of(LaneKind::Server))
            data-holds=(timeline.holds.len())
            data-overlaps=(overlaps)
            data-faults=(run.judgement.faults.len())
            data-stalls=(timeline.stalls.len())
            data-exits=(run.judgement.exits.len())
            data-operations=(timeline.operations.len()) {
            div.bar {
                h2 { "Timeline" }
                div.tools {
                    span.group #locks {}
                    span.group {
                        button #previous title="Previous violation (p)" { "◀ " span.wide { "previous" } }
                        output #position { "no violation" }
                        button #next title="Next violation (n)" { span.wide { "next" } " ▶" }
                    }
                    span.group {
                        button #zoom-out title="Zoom out (-)" aria-label="Zoom out" { "−" }
                        button #zoom-in title="Zoom in (+)" aria-label="Zoom in" { "+" }
                        button #fit title="Show the whole run (0)" { "Whole run" }
                    }
                }
            }
            noscript { p.note { "The timeline needs scripts. Everything else on this page reads without them." } }
            div #legend {}
            canvas #minimap height="34" aria-hidden="true" {}
            div #stage tabindex="0" role="application" aria-describedby="keys"
                aria-label="Timeline of the run: one lane a node, time from left to right" {
                canvas #lanes {}
                div #marks {}
                div #tip role="tooltip" hidden {}
            }
            p.keys #keys {
                "Drag to move, wheel to zoom (click the timeline first, or hold Ctrl), drag with Shift to zoom into a span. "
                "Keys: " kbd { "←" } kbd { "→" } " move, " kbd { "+" } kbd { "−" } " zoom, " kbd { "0" } " whole run, "
                kbd { "n" } kbd { "p" } " violations, " kbd { "↑" } kbd { "↓" } " lane, " kbd { "," } kbd { "." }
                " operation."
            }
            aside #details aria-live="polite" {
                p.note { "Click a hold, an operation, a fault or a violation to see what it is made of." }
            }
        }
    }
}
