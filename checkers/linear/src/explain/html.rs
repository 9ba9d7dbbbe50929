//! A picture of the smallest wrong sub-history, in the style of Porcupine's: a lane a process, time from left to right,
//! and the orders that were tried. One file that needs nothing else.

use std::{collections::BTreeMap, fmt::Write};

use super::{Attempt, Described, Explanation};

const LANE: usize = 56;
const STEP: usize = 90;
const LEFT: usize = 90;
const TOP: usize = 24;

/// A page: the words, the picture, and below it the tried orders; pointing at one shows its points in the picture.
pub fn html(explanation: &Explanation) -> String {
    let layout = Layout::of(&explanation.operations);
    let mut page = String::from(HEAD);
    let _ = write!(page, "<h1>{:?}</h1>\n<pre>{}</pre>\n", explanation.verdict, escape(&explanation.text));
    if !explanation.operations.is_empty() {
        picture(&mut page, explanation, &layout);
        orders(&mut page, &explanation.attempts);
    }
    page.push_str(TAIL);
    page
}

/// Where things are. Time is drawn event by event, so that short operations can be read.
struct Layout {
    lanes: BTreeMap<u32, usize>,
    columns: BTreeMap<(u64, bool), usize>,
}

impl Layout {
    fn of(operations: &[Described]) -> Layout {
        let mut lanes: BTreeMap<u32, usize> = operations.iter().map(|op| (op.process, 0)).collect();
        lanes.values_mut().enumerate().for_each(|(lane, place)| *place = lane);
        // An invocation comes before a return at the same time.
        let events = operations.iter().flat_map(|op| [Some((op.call, false)), op.at.map(|at| (at, true))]);
        let mut columns: BTreeMap<(u64, bool), usize> = events.flatten().map(|event| (event, 0)).collect();
        columns.values_mut().enumerate().for_each(|(column, place)| *place = column);
        Layout { lanes, columns }
    }

    fn width(&self) -> usize {
        LEFT + (self.columns.len() + 1) * STEP
    }

    fn height(&self) -> usize {
        TOP + self.lanes.len() * LANE
    }

    fn span(&self, op: &Described) -> (usize, usize) {
        let start = LEFT + self.columns[&(op.call, false)] * STEP;
        let end = op.at.map_or(self.width(), |at| LEFT + self.columns[&(at, true)] * STEP);
        (start, end.max(start + STEP / 2))
    }

    fn top(&self, op: &Described) -> usize {
        TOP + self.lanes[&op.process] * LANE
    }
}

fn picture(page: &mut String, explanation: &Explanation, layout: &Layout) {
    let (width, height) = (layout.width(), layout.height());
    let _ = writeln!(
        page,
        "<div class=scroll><svg width={width} height={height} viewBox=\"0 0 {width} {height}\">"
    );
    for (process, lane) in &layout.lanes {
        let y = TOP + lane * LANE;
        let _ = writeln!(page, "<text x=4 y={} class=lane>process {process}</text>", y + 22);
        let _ = writeln!(page, "<line x1=0 x2={width} y1={0} y2={0} class=rule />", y + LANE - 10);
    }
    for op in &explanation.operations {
        let ((start, end), top) = (layout.span(op), layout.top(op));
        let class = match (Some(op.op) == explanation.op, op.at) {
            (true, _) => "op stuck",
            (false, None) => "op info",
            (false, Some(_)) => "op",
        };
        let until = op.at.map_or("?".to_string(), |at| at.to_string());
        let text = escape(&op.text);
        let _ = writeln!(
            page,
            "<g class=\"{class}\" data-op={}><title>operation {}: {text}\n{} to {until}</title><rect x={start} y={top} width={} height=34 rx=4 /><text x={} y={}>{text}</text></g>",
            op.op,
            op.op,
            op.call,
            end - start,
            start + 6,
            top + 21,
        );
    }
    for (number, attempt) in explanation.attempts.iter().enumerate() {
        points(page, number, attempt, &explanation.operations, layout);
    }
    page.push_str("</svg></div>\n");
}

/// The points of an order: each as early as its operation and the points before it permit.
fn points(page: &mut String, number: usize, attempt: &Attempt, operations: &[Described], layout: &Layout) {
    let by_op: BTreeMap<u32, &Described> = operations.iter().map(|op| (op.op, op)).collect();
    let _ = write!(page, "<g class=order id=order{number}>");
    let (mut x, mut path, mut marks) = (0, String::new(), String::new());
    for (count, (op, state)) in attempt.order.iter().zip(&attempt.states).enumerate() {
        let Some(op) = by_op.get(op) else { continue };
        x = (layout.span(op).0 + 8).max(x + 12);
        // On the lower edge: above it stands what the operation is.
        let y = layout.top(op) + 34;
        let _ = write!(path, "{}{x},{y} ", if count == 0 { "M" } else { "L" });
        let _ = write!(
            marks,
            "<circle cx={x} cy={y} r=5><title>{}. then: {}</title></circle>",
            count + 1,
            escape(state)
        );
    }
    let _ = writeln!(page, "<path d=\"{path}\" />{marks}</g>");
}

fn orders(page: &mut String, attempts: &[Attempt]) {
    page.push_str("<h2>Orders that were tried</h2>\n<ol>\n");
    for (number, attempt) in attempts.iter().enumerate() {
        let steps = attempt.order.iter().zip(&attempt.states);
        let steps: Vec<String> =
            steps.map(|(op, state)| format!("<b>{op}</b> → {}", escape(state))).collect();
        let _ = writeln!(page, "<li tabindex=0 data-order={number}>{}</li>", steps.join(", "));
    }
    page.push_str("</ol>\n");
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

const HEAD: &str = r#"<!DOCTYPE html>
<html lang="en"><meta charset="utf-8"><title>Linearizability</title>
<style>
body { font: 14px system-ui, sans-serif; margin: 2em; color: #222; background: #fff; }
pre { white-space: pre-wrap; } .scroll { overflow-x: auto; }
.lane { fill: #666; } .rule { stroke: #eee; }
.op rect { fill: #dbe9f6; stroke: #5b8db8; } .op text { font-size: 12px; }
.info rect { fill: #f2f2f2; stroke: #999; stroke-dasharray: 4; } .stuck rect { fill: #f8d4d0; stroke: #c0392b; stroke-width: 2; }
.order { display: none; } .order.shown { display: inline; }
.order path { fill: none; stroke: #444; } .order circle { fill: #444; }
li { padding: 2px 4px; cursor: pointer; } li:hover, li:focus, li.shown { background: #eef; }
</style>
"#;

const TAIL: &str = r#"<script>
const show = item => {
  document.querySelectorAll(".shown").forEach(shown => shown.classList.remove("shown"));
  item.classList.add("shown");
  document.getElementById("order" + item.dataset.order).classList.add("shown");
};
const items = document.querySelectorAll("li[data-order]");
items.forEach(item => ["mouseenter", "focus"].forEach(event => item.addEventListener(event, () => show(item))));
if (items.length) show(items[0]);
</script></html>
"#;
