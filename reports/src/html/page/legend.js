// What the signs mean: only those that this run needs.
function drawLegend() {
  const some = (test) => ops.some(test);
  const leads = holds.some((hold) => verb(hold) === "leads");
  const entries = [
    [leads ? "believes it leads" : "believes it holds", true, box("fill:var(--hold0)")],
    ["still believes, promise run out", holds.some((hold) => hold.promised !== null && hold.promised < hold.t1),
      box("fill:var(--hold0);fill-opacity:.28;stroke:var(--hold0)")],
    ["waits", true, make("rect", { x: 1, y: 5.5, width: 24, height: 3, style: "fill:var(--wait)" })],
    ["two at once", violations.some((v) => v.overlap !== null),
      box("stroke:var(--bad);stroke-width:1.5", `url(#${HATCH}-legend)`), hatch(HATCH + "-legend")],
    ["fault", faults.length > 0, box("fill:var(--fault);fill-opacity:.26;stroke:var(--fault)")],
    ["stood still, by no fault", stalls.length > 0, box("stroke:var(--soft)", `url(#${HATCH}-still)`),
      hatch(HATCH + "-still", "var(--soft)", 1.2)],
    ["ended by itself", exits.length > 0, line("M8 2l10 10m0 -10l-10 10", "stroke:var(--bad);stroke-width:2.5")],
    ["write accepted", some((op) => op.fate === "accepted"), dot("fill:var(--write)")],
    ["write refused", some((op) => op.fate === "refused"), line("M10 4l6 6m0 -6l-6 6", "stroke:var(--write)")],
    ["write lost", some((op) => op.fate === "lost"), line("M13 2l5 5l-5 5l-5 -5z", "stroke:var(--bad)")],
    ["outcome unknown", some((op) => op.outcome === "info" || op.outcome === "open"),
      dot("fill:none;stroke:var(--soft);stroke-width:1.5")],
    ["noticed the loss", holds.some((hold) => hold.noticed), line("M9 2h6v11", "stroke:var(--hold0)")],
    ["renewed", some((op) => op.f === "renew"), line("M9 11l4 -7l4 7z", "fill:var(--write)")],
    ["other operation", some((op) => !["write", "renew"].includes(op.f) && !ACQUIRES.has(op.f)),
      line("M13 3v8", "stroke:var(--soft)")],
  ];
  for (const [text, wanted, ...shapes] of entries) {
    if (wanted) byId("legend").append(element("span", null, make("svg", { width: 26, height: 14 }, ...shapes), text));
  }
  if (lanes.length > DRAWN_LANES) {
    byId("legend").append(element("b", `The first ${DRAWN_LANES} of ${lanes.length} lanes are drawn.`));
  }
}

const box = (style, fill) => make("rect", { x: 1, y: 2, width: 24, height: 10, rx: 1, style, ...(fill && { fill }) });
const dot = (style) => make("circle", { cx: 13, cy: 7, r: 3.2, style });
const line = (d, style) => make("path", { d, fill: "none", "stroke-width": 1.6, style });
