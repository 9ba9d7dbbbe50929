// Faults and violations as SVG over the canvas: few, so each is an element of its own that can be reached by keyboard.
const marks = byId("marks");
const HATCH = "stage-hatch", CLIP = "stage-clip";
// Holds whose name stands on one of their overlaps already.
const named = new Set();
const byMiddle = [...violations].sort((a, b) => a.t0 + a.t1 - b.t0 - b.t1);
const middle = (item) => (item.t0 + item.t1) / 2;

function make(name, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}
function label(name, x, y, content) {
  const text = make("text", { class: name, x, y });
  text.textContent = content;
  return text;
}
function hatch(id, color = "var(--bad)", width = 2.6) {
  const stripe = make("rect", { width, height: 6, style: `fill:${color}` });
  const size = { width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" };
  return make("defs", {}, make("pattern", { id, ...size }, stripe));
}

function drawMarks(range) {
  const focused = marks.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  const frame = make("rect", { x: GUTTER, y: 0, width: plotWidth(), height: view.height });
  const inside = make("g", { "clip-path": `url(#${CLIP})` });
  const clip = make("defs", {}, make("clipPath", { id: CLIP }, frame));
  const svg = make("svg", { "aria-label": "Faults and violations" }, hatch(HATCH), clip, inside);
  inside.append(...faults.filter(inView).map(faultMark), ...violationMarks());
  if (range) {
    const width = Math.abs(range[1] - range[0]);
    inside.append(make("rect", { class: "range", x: Math.min(...range), y: 0, width, height: view.height }));
  }
  marks.replaceChildren(svg);
  if (focused) marks.querySelector(`[data-key="${focused}"]`)?.focus({ preventScroll: true });
}

// Where flags would cover each other only the first is one; the violation in focus comes last, on top.
function violationMarks() {
  const ticks = [], flags = [], current = [];
  let flagged = -Infinity;
  named.clear();
  for (const v of byMiddle.filter(inView)) {
    const x = flagX(v), now = view.violation === v, roomy = now || x - flagged >= 9 + 8 * String(v.number).length;
    if (roomy) flagged = x;
    (now ? current : roomy ? flags : ticks).push(violationMark(v, x, roomy));
  }
  return [...ticks, ...flags, ...current];
}
function flagX(v) {
  const visible = Math.min(Math.max(middle(v), view.t0), view.t1);
  return Math.min(Math.max(xOf(visible), GUTTER + 8), view.width - RIGHT - 8);
}

function group(item, name, key, words) {
  const g = make("g", { class: name, tabindex: 0, role: "button", "aria-label": words });
  const open = () => (item.type === "violation" ? jump(item.number) : select(item));
  g.dataset.key = key;
  g.addEventListener("click", open);
  g.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    event.stopPropagation();
    open();
  });
  g.addEventListener("pointerdown", (event) => event.stopPropagation());
  g.addEventListener("pointermove", (event) => {
    event.stopPropagation();
    tip(event, summary(item));
  });
  g.addEventListener("pointerleave", () => tip(null));
  return g;
}

// A labelled bar above, a faint fall over all lanes, a strong one on those of its targets.
function faultMark(fault) {
  const idle = fault.result === "installed" ? "" : " idle", what = `${fault.kind} ${names(fault.lanes)}`;
  const g = group(fault, "fault" + idle, "f" + fault.id, `Fault ${fault.id}: ${what}, ${fault.result}`);
  g.dataset.fault = fault.id;
  const x = xOf(fault.t0), width = Math.max(xOf(fault.t1) - x, 2), y = AXIS + fault.row * FAULT_ROW;
  const top = y + 17, height = Math.max(view.height - top, 0);
  g.append(make("rect", { class: "fall", x, y: top, width, height }));
  g.append(make("path", { class: "edge", d: `M${x} ${top}v${height}M${x + width} ${top}v${height}` }));
  for (const lane of fault.lanes.map((i) => lanes[i])) {
    g.append(make("rect", { class: "on", x, y: lane.y, width, height: lane.height }));
  }
  g.append(make("rect", { class: "bar", x, y, width, height: 17, rx: 3 }));

  const next = faults.find((other) => other.row === fault.row && other.t0 >= fault.t1);
  const start = Math.max(x, GUTTER) + 5, end = Math.min(next ? xOf(next.t0) : Infinity, view.width - RIGHT);
  const texts = [...(idle ? [`${what} (${fault.result})`] : []), what, fault.kind];
  g.append(label("kind", start, y + 12.5, texts.find((text) => text.length * 7.2 < end - start) ?? ""));
  return g;
}

// An overlap is hatched on each of its holds and bracketed across them; anything else rings its operations.
function violationMark(v, x, roomy) {
  const now = view.violation === v, kind = v.overlap === null ? "violation" : "violation overlap";
  const g = group(v, now ? kind + " now" : kind, "v" + v.number, `Violation ${v.number}, ${v.check}: ${v.text}`);
  g.dataset.violation = v.number;
  const x0 = xOf(v.t0), x1 = Math.max(xOf(v.t1), x0 + 2), y = view.flags;
  g.append(make("rect", { class: "span", x: x0, y, width: x1 - x0, height: view.height - y }));
  if (v.overlap === null) ringOperations(g, v, x, now);
  else hatchHolds(g, v, x0, x1, now);
  if (roomy) {
    const half = 4 + 4 * String(v.number).length;
    g.append(make("path", { class: "flag", d: `M${x - half} ${y + 1}h${2 * half}v11l${-half} 6l${-half} -6z` }));
    g.append(label("number", x, y + 11, v.number));
  } else {
    g.append(make("rect", { class: "flag", x: x - 1, y: y + 1, width: 2, height: 9 }));
  }
  return g;
}

function hatchHolds(g, v, x0, x1, now) {
  const width = x1 - x0, fill = `url(#${HATCH})`;
  let low = view.flags + 18;
  for (const hold of v.holds) {
    const y = holdY(hold), start = Math.max(x0, GUTTER) + 6, text = nameOf(hold);
    g.append(make("rect", { class: "hatch", x: x0, y: y - 2, width, height: HOLD + 4, fill }));
    low = Math.max(low, y + HOLD + 2);
    if (!named.has(hold) && Math.min(x1, view.width - RIGHT) - start > text.length * 7) {
      named.add(hold);
      g.append(label("name", start, y + HOLD - 5, text));
    }
  }
  if (now || width > 26) g.append(make("path", { d: `M${x0} ${low}V${view.flags + 19}H${x1}V${low}` }));
  if (now) {
    const visible = (xOf(Math.max(v.t0, view.t0)) + xOf(Math.min(v.t1, view.t1))) / 2;
    const at = Math.min(Math.max(visible, GUTTER + 70), view.width - 80);
    g.append(label("length", at, view.height - 6, span(v.overlap * 1e6) + " at once"));
  }
}
function nameOf(hold) {
  const token = hold.token === null ? "" : " · " + hold.token;
  return `${lanes[hold.lane].name} ${verb(hold)} ${lockName(hold.lock)}${token}`;
}

function ringOperations(g, v, x, now) {
  let low = view.flags + 18;
  for (const op of v.ops) {
    const x0 = xOf(op.t0), lane = lanes[op.lane];
    const y = (ACQUIRES.has(op.f) ? lane.y + GAP / 2 + HOLD / 2 : stripY(lane)) - 8;
    const width = Math.max(xOf(op.t1) - x0, 0) + 14;
    g.append(make("rect", { class: "ring", x: x0 - 7, y, width, height: 16, rx: 8 }));
    low = Math.max(low, y);
  }
  if (now) g.append(make("path", { d: `M${x} ${view.flags + 17}V${low}`, "stroke-dasharray": "3 2" }));
}
