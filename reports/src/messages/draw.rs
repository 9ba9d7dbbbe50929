//! The diagram as SVG that needs no script: a vertical line a node, an arrow a message.

use maud::{Markup, html};

use super::{
    axis::Axis,
    window::{Window, choose},
};
use crate::{message::Message, run::RunData, timeline::Timeline, words};

const LEFT: f64 = 78.0;
const COLUMN: f64 = 190.0;
const TOP: f64 = 16.0;
const TICK_EVERY: f64 = 70.0;
/// How far a lost message gets.
const LOST_AT: f64 = 0.6;
/// Characters of a message beside its arrow; all of them show when the mouse is on it.
const LABEL_MAX: usize = 27;

/// The section of the page; nothing where no messages were recorded.
pub fn section(run: &RunData, timeline: &Timeline) -> Markup {
    if run.messages.is_empty() {
        return html! {};
    }
    let window = choose(run, timeline);
    let (lost, late) = (count(&window, is_lost), count(&window, is_late));
    let nodes = nodes(&window, timeline);
    let width = LEFT + COLUMN * nodes.len() as f64;
    html! {
        section #messages data-messages=(window.messages.len()) data-all=(run.messages.len())
            data-lost=(lost) data-late=(late) {
            h2 { "Messages " span.count { (window.messages.len()) } }
            p.note {
                (window.choice) " Time runs downwards; silence is shortened (┄). "
                (lost) " lost (×), " (late) " late (dashed): longer than " (words::ms(window.late_ns as f64 / 1e6))
                " on the way. Bars: who held the lock."
            }
            div.diagram tabindex="0" role="group" aria-label="Message diagram" {
                svg.heads width=(px(width)) height="24" aria-hidden="true" {
                    @for (i, node) in nodes.iter().enumerate() {
                        text x=(px(x(i))) y="16" { (node) }
                    }
                }
                (picture(run, timeline, &window, &nodes, width))
            }
        }
    }
}

fn picture(run: &RunData, timeline: &Timeline, window: &Window<'_>, nodes: &[String], width: f64) -> Markup {
    let arrivals = window.messages.iter().filter_map(|message| message.arrived_ns);
    let axis = Axis::new(TOP, window.messages.iter().map(|message| message.sent_ns), arrivals);
    let height = axis.bottom() + 24.0;
    html! {
        svg.arrows width=(px(width)) height=(px(height)) role="img" aria-label="An arrow a message" {
            @for (at, y, shortened) in axis.ticks(TICK_EVERY) {
                text.tick x=(px(LEFT - 30.0)) y=(px(y + 4.0)) { @if shortened { "┄ " } (words::seconds(at)) }
            }
            (faults(run, &axis, nodes))
            @if let Some((start, end)) = window.violation {
                rect.violation x=(px(LEFT - 24.0)) width=(px(width - LEFT + 24.0))
                    y=(px(axis.y(start))) height=(px((axis.y(end) - axis.y(start)).max(2.0))) {
                    title { "the first violation" }
                }
            }
            @for i in 0..nodes.len() { line.node x1=(px(x(i))) x2=(px(x(i))) y1="0" y2=(px(height)) {} }
            (holds(timeline, &axis, nodes))
            @for message in &window.messages { (arrow(message, &axis, nodes, window)) }
            // Words last: no line crosses them.
            g.words { @for message in &window.messages { (words_of(message, &axis, nodes)) } }
        }
    }
}

/// The holds of the nodes shown, as thick bars on their lines.
fn holds(timeline: &Timeline, axis: &Axis, nodes: &[String]) -> Markup {
    let of = |lane: usize| nodes.iter().position(|node| *node == timeline.lanes[lane].name);
    html! {
        @for hold in &timeline.holds {
            @if let Some(i) = of(hold.lane) {
                @let (from, to) = (axis.y(hold.start_ns), axis.y(hold.end_ns));
                @if to > from {
                    rect.hold x=(px(x(i) - 4.0)) width="8" y=(px(from)) height=(px(to - from)) {
                        title { (nodes[i]) " held " (timeline.locks[hold.lock]) " from " (words::seconds(hold.start_ns))
                            " to " (words::seconds(hold.end_ns)) }
                    }
                }
            }
        }
    }
}

fn faults(run: &RunData, axis: &Axis, nodes: &[String]) -> Markup {
    html! {
        @for fault in &run.judgement.faults {
            @for i in fault.targets.iter().filter_map(|target| nodes.iter().position(|node| node == target)) {
                @let (from, to) = (axis.y(fault.start_ns), axis.y(fault.end_ns.unwrap_or(u64::MAX)));
                @if to > from {
                    rect.fault x=(px(x(i) - 11.0)) width="22" y=(px(from)) height=(px(to - from)) {
                        title { (fault.kind) " of " (nodes[i]) " from " (words::seconds(fault.start_ns)) }
                    }
                }
            }
        }
    }
}

fn arrow(message: &Message, axis: &Axis, nodes: &[String], window: &Window<'_>) -> Markup {
    let (x0, to) = (place(nodes, &message.from), place(nodes, &message.to));
    let y0 = axis.y(message.sent_ns);
    let (x1, y1) = match message.arrived_ns {
        Some(arrived) => (to, axis.y(arrived)),
        None => (x0 + (to - x0) * LOST_AT, y0 + 8.0),
    };
    let class = match () {
        () if is_lost(message, window) => "message lost",
        () if is_late(message, window) => "message late",
        () => "message",
    };
    html! {
        g class=(class) {
            title { (told(message)) }
            line x1=(px(x0)) y1=(px(y0)) x2=(px(x1)) y2=(px(y1)) {}
            @if message.arrived_ns.is_some() { path d=(head((x0, y0), (x1, y1))) {} }
            @else { path.cross d={ "M" (px(x1 - 4.0)) " " (px(y1 - 4.0)) "l8 8m0 -8l-8 8" } {} }
        }
    }
}

/// What a message says, beside its sender on the side of its receiver.
fn words_of(message: &Message, axis: &Axis, nodes: &[String]) -> Markup {
    let [from, to] = [&message.from, &message.to].map(|name| place(nodes, name));
    let (x, y) = (if to >= from { from + 13.0 } else { from - 13.0 }, axis.y(message.sent_ns) - 2.0);
    html! {
        text x=(px(x)) y=(px(y)) class=[(to < from).then_some("left")] { (short(&message.says)) }
    }
}

fn place(nodes: &[String], name: &str) -> f64 {
    nodes.iter().position(|node| node == name).map_or(LEFT, x)
}

/// A triangle at the end of a line.
fn head((x0, y0): (f64, f64), (x1, y1): (f64, f64)) -> String {
    let length = (x1 - x0).hypot(y1 - y0).max(1.0);
    let (along, across) =
        (((x1 - x0) / length, (y1 - y0) / length), ((y0 - y1) / length, (x1 - x0) / length));
    let corner = |side: f64| (x1 - 7.0 * along.0 + side * across.0, y1 - 7.0 * along.1 + side * across.1);
    let ((ax, ay), (bx, by)) = (corner(3.0), corner(-3.0));
    format!("M{} {}L{} {}L{} {}z", px(x1), px(y1), px(ax), px(ay), px(bx), px(by))
}

fn told(message: &Message) -> String {
    let how = match (message.arrived_ns, message.took_ns()) {
        (Some(arrived), Some(took)) => {
            format!("arrived {} after {}", words::seconds(arrived), words::ms(took as f64 / 1e6))
        }
        _ => "lost".to_owned(),
    };
    let Message { from, to, says, .. } = message;
    format!("{from} to {to}, sent {}, {how}\n{says}", words::seconds(message.sent_ns))
}

fn short(says: &str) -> String {
    match says.char_indices().nth(LABEL_MAX) {
        Some((end, _)) => format!("{}…", &says[..end]),
        None => says.to_owned(),
    }
}

/// Clients, then servers, then the rest, as the timeline has them.
fn nodes(window: &Window<'_>, timeline: &Timeline) -> Vec<String> {
    let mut names: Vec<&String> =
        window.messages.iter().flat_map(|message| [&message.from, &message.to]).collect();
    names.sort_by_key(|name| (timeline.lane_of(name).unwrap_or(usize::MAX), name.len(), *name));
    names.dedup();
    names.into_iter().cloned().collect()
}

fn count(window: &Window<'_>, which: fn(&Message, &Window<'_>) -> bool) -> usize {
    window.messages.iter().filter(|message| which(message, window)).count()
}

fn is_lost(message: &Message, _: &Window<'_>) -> bool {
    message.arrived_ns.is_none()
}

fn is_late(message: &Message, window: &Window<'_>) -> bool {
    message.took_ns().is_some_and(|took| took > window.late_ns)
}

fn x(column: usize) -> f64 {
    LEFT + COLUMN * (column as f64 + 0.25)
}

fn px(pixels: f64) -> String {
    format!("{:.1}", pixels)
}
