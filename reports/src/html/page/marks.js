// Faults and violations as SVG over the canvas: few, so each is an element of its own that can be reached by keyboard.
const marks = byId("marks");
const SVG = "http://www.w3.org/2000/svg";
function make(name, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}
const NS_CLIP = "stage-clip", HATCH = "stage-hatch";

function drawMarks(range) {
  const key = marks.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  const svg = make("svg", { "aria-label": "Faults and violations" });
  svg.append(make("defs", {},
    make("pattern", { id: HATCH, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
      make("rect", { width: 2.6, height: 6, style: "fill:var(--bad)" })),
    make("clipPath", { id: NS_CLIP }, make("rect", { x: GUTTER, y: 0, width: plotWidth(), height: view.height }))));
  const inside = make("g", { "clip-path": `url(#${NS_CLIP})` });
  svg.append(inside);
  for (const fault of faults) if (inView(fault)) inside.append(faultMark(fault));
  let flagged = -99;
  named.clear();
  const flags = [];
  for (const v of byMiddle) {
    if (!inView(v)) continue;
    const x = flagX(v), roomy = x - flagged >= 17 || view.violation === v;
    if (roomy) flagged = x;
    if (roomy) flags.push(violationMark(v, x, true));
    else inside.append(violationMark(v, x, false));
  }
  inside.append(...flags);
  const current = inside.querySelector(".violation.now");
  if (current) inside.append(current);
  if (range) inside.append(make("rect", { class: "range", x: Math.min(...range), y: 0, width: Math.abs(range[1] - range[0]), height: view.height }));
  marks.replaceChildren(svg);
  if (key) marks.querySelector(`[data-key="${key}"]`)?.focus({ preventScroll: true });
}
// Holds whose name stands on one of their overlaps already.
const named = new Set();
const byMiddle = [...violations].sort((a, b) => a.t0 + a.t1 - b.t0 - b.t1);
const middle = (item) => (item.t0 + item.t1) / 2;
const flagX = (v) => Math.min(Math.max(xOf(Math.min(Math.max(middle(v), view.t0), view.t1)), GUTTER + 8), view.width - RIGHT - 8);

function group(item, name, key, label) {
  const g = make("g", { class: name, tabindex: 0, role: "button", "aria-label": label });
  g.dataset.key = key;
  g.addEventListener("click", (event) => { event.stopPropagation(); item.type === "violation" ? jump(item.number) : select(item); });
  g.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); event.stopPropagation(); g.dispatchEvent(new MouseEvent("click")); } });
  g.addEventListener("pointerdown", (event) => event.stopPropagation());
  g.addEventListener("pointermove", (event) => { event.stopPropagation(); tip(event, summary(item)); });
  g.addEventListener("pointerleave", () => tip(null));
  return g;
}

function faultMark(fault) {
  const idle = fault.result === "installed" ? "" : " idle";
  const on = fault.lanes.map((lane) => lanes[lane].name).join(", ");
  const name = fault.kind + " " + on + (idle ? ` (${fault.result})` : "");
  const g = group(fault, "fault" + idle, "f" + fault.id, `Fault ${fault.id}: ${name}`);
  g.dataset.fault = fault.id;
  const x0 = xOf(fault.t0), width = Math.max(xOf(fault.t1) - x0, 2), y = AXIS + fault.row * FAULT_ROW;
  g.append(make("rect", { class: "fall", x: x0, y: y + FAULT_ROW, width, height: Math.max(view.height - y - FAULT_ROW, 0) }));
  g.append(make("path", { class: "edge", d: `M${x0} ${y + 17}V${view.height}M${x0 + width} ${y + 17}V${view.height}` }));
  for (const lane of fault.lanes) g.append(make("rect", { class: "on", x: x0, y: lanes[lane].y, width, height: lanes[lane].height }));
  g.append(make("rect", { class: "bar", x: x0, y, width, height: 17, rx: 3 }));
  const next = faults.find((other) => other.row === fault.row && other.t0 >= fault.t1);
  const start = Math.max(x0, GUTTER) + 5, room = Math.min(next ? xOf(next.t0) : Infinity, view.width - RIGHT) - start;
  const text = [name, fault.kind + " " + on, fault.kind].find((text) => text.length * 6.6 < room) ?? "";
  g.append(label("kind", start, y + 12.5, text));
  return g;
}

// An overlap is hatched on each of its holds and bracketed across them; anything else rings its operations.
function violationMark(v, x, roomy) {
  const now = view.violation === v;
  const g = group(v, (v.overlap === null ? "violation" : "violation overlap") + (now ? " now" : ""), "v" + v.number, `Violation ${v.number}, ${v.check}: ${v.text}`);
  g.dataset.violation = v.number;
  const x0 = xOf(v.t0), x1 = Math.max(xOf(v.t1), x0 + 2), y = view.flags;
  g.append(make("rect", { class: "span", x: x0, y, width: x1 - x0, height: view.height - y }));
  let low = y + 18;
  if (v.overlap !== null) {
    for (const hold of v.holds) {
      g.append(make("rect", { class: "hatch", x: x0, y: holdY(hold) - 2, width: x1 - x0, height: HOLD + 4, fill: `url(#${HATCH})` }));
      low = Math.max(low, holdY(hold) + HOLD + 2);
      const start = Math.max(x0, GUTTER) + 6, text = nameOf(hold);
      if (!named.has(hold) && Math.min(x1, view.width) - start > text.length * 7) {
        named.add(hold);
        g.append(label("name", start, holdY(hold) + HOLD - 5, text));
      }
    }
    if (now || x1 - x0 > 26) g.append(make("path", { d: `M${x0} ${low}V${y + 19}H${x1}V${low}` }));
  } else {
    for (const op of v.ops) {
      const a = xOf(op.t0), lane = lanes[op.lane];
      const at = ACQUIRES.has(op.f) ? lane.y + GAP / 2 + HOLD / 2 : stripY(lane);
      g.append(make("rect", { x: a - 7, y: at - 8, width: Math.max(xOf(op.t1) - a, 0) + 14, height: 16, rx: 8, fill: "none", style: "stroke:var(--bad);stroke-width:1.5" }));
      low = Math.max(low, at - 8);
    }
    if (now) g.append(make("path", { d: `M${x} ${y + 17}V${low}`, "stroke-dasharray": "3 2" }));
  }
  if (roomy) {
    g.append(make("path", { class: "flag", d: `M${x - 8} ${y + 1}h16v11l-8 6l-8 -6z`, style: "stroke:none" }));
    g.append(label("number", x, y + 11, v.number));
  } else {
    g.append(make("rect", { class: "flag", x: x - 1, y: y + 1, width: 2, height: 9 }));
  }
  if (now && v.overlap !== null) {
    const at = Math.min(Math.max(middleInView(v), GUTTER + 70), view.width - 80);
    g.append(label("length", at, view.height - 6, span(v.overlap * 1e6) + " at once"));
  }
  return g;
}
const nameOf = (hold) => `${lanes[hold.lane].name} ${verb(hold)} ${lockName(hold.lock)}${hold.token === null ? "" : " · " + hold.token}`;
function label(name, x, y, content) {
  const text = make("text", { class: name, x, y });
  text.textContent = content;
  return text;
}
const middleInView = (v) => (xOf(Math.max(v.t0, view.t0)) + xOf(Math.min(v.t1, view.t1))) / 2;
