// Movement, jumps, and what a machine may read.
const stage = byId("stage");

function paint() {
  view.width = stage.clientWidth;
  drawLanes();
  drawMarks(drag?.range);
  drawMinimap();
  window.fencepost.view = [view.t0, view.t1];
  window.fencepost.drawn = { ...drawn, overlaps: marks.querySelectorAll(".overlap").length, faults: marks.querySelectorAll(".fault").length };
}

// Shows a violation in the middle, with as much around it as makes it understood.
function jump(number, scroll = true) {
  const v = violations[number - 1];
  if (!v) return;
  const length = Math.max(v.t1 - v.t0, 2e6), centre = middle(v);
  const around = [...v.holds, ...faults.filter((fault) => v.faults.includes(fault.id)), ...v.ops];
  const reach = Math.max(...around.flatMap((item) => [centre - item.t0, item.t1 - centre]), length / 2);
  const most = v.overlap === null ? Math.max(length * 4, 2e9) : length * 4;
  const half = Math.min(Math.max(reach * 1.15, length * 0.8), most);
  view.violation = v;
  // Centred even at the run's ends, so the view may reach past them here.
  view.t0 = centre - half;
  view.t1 = centre + half;
  select(v);
  paint();
  document.querySelectorAll("#violations li.now").forEach((li) => li.classList.remove("now"));
  const li = byId("v" + number);
  li?.classList.add("now");
  if (li) li.parentElement.scrollTop = Math.max(0, li.offsetTop - li.parentElement.offsetTop - 60);
  byId("position").textContent = `violation ${number} of ${violations.length}`;
  window.fencepost.focus = { violation: number, check: v.check, start_ns: v.t0, end_ns: v.t1, view: [view.t0, view.t1] };
  history.replaceState(null, "", "#v" + number);
  if (scroll) byId("timeline").scrollIntoView({ block: "nearest" });
}
function step(by) {
  if (!violations.length) return;
  const now = view.violation ? view.violation.number : by > 0 ? 0 : violations.length + 1;
  jump(((now + by - 1 + violations.length) % violations.length) + 1);
}

// Brings an item into view without changing the scale more than needed.
function reveal(item) {
  const length = view.t1 - view.t0, need = Math.max((item.t1 - item.t0) * 3, 20e6);
  const wanted = length > need * 40 ? need * 10 : Math.max(length, need);
  if (!inView(item) || wanted !== length) show(middle(item) - wanted / 2, middle(item) + wanted / 2);
  if (item.lane !== undefined) view.lane = item.lane;
  select(item);
}

function itemAt(x, y) {
  const lane = lanes.find((lane) => y >= lane.y && y < lane.y + lane.height), t = timeAt(x);
  if (!lane || x < GUTTER) return null;
  const slack = (view.t1 - view.t0) / plotWidth() * 5, near = (item) => t >= item.t0 - slack && t <= item.t1 + slack;
  const closest = (list) => list.filter(near).sort((a, b) => distance(a) - distance(b) || a.t1 - a.t0 - (b.t1 - b.t0))[0];
  const distance = (item) => Math.max(item.t0 - t, t - item.t1, 0);
  if (y > stripY(lane) - STRIP / 2 - 1) return closest(lane.ops.filter((op) => !ACQUIRES.has(op.f))) ?? null;
  const row = Math.floor((y - lane.y - GAP / 2) / (HOLD + 3));
  return closest(lane.holds.filter((hold) => hold.row === Math.max(row, 0))) ?? closest(lane.ops.filter((op) => ACQUIRES.has(op.f))) ?? null;
}

let drag = null;
const at = (event) => { const box = stage.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
stage.addEventListener("pointerdown", (event) => {
  if (event.button !== 0) return;
  const [x] = at(event);
  drag = { x, t0: view.t0, t1: view.t1, moved: false, range: event.shiftKey ? [x, x] : null };
  stage.setPointerCapture(event.pointerId);
});
stage.addEventListener("pointermove", (event) => {
  const [x, y] = at(event);
  if (!drag) {
    const item = itemAt(x, y);
    stage.classList.toggle("pointing", item !== null);
    tip(event, item && summary(item));
    return;
  }
  drag.moved ||= Math.abs(x - drag.x) > 3;
  if (drag.range) { drag.range[1] = x; schedule(); return; }
  if (!drag.moved) return;
  stage.classList.add("dragging");
  tip(null);
  const by = ((drag.x - x) / plotWidth()) * (drag.t1 - drag.t0);
  show(drag.t0 + by, drag.t1 + by);
});
stage.addEventListener("pointerup", (event) => {
  const [x, y] = at(event), was = drag;
  drag = null;
  stage.classList.remove("dragging");
  if (was?.range && was.moved) show(...was.range.map(timeAt).sort((a, b) => a - b));
  else if (was && !was.moved) {
    const item = itemAt(x, y), lane = lanes.find((lane) => y >= lane.y && y < lane.y + lane.height);
    if (lane) view.lane = lane.i;
    if (item) select(item); else schedule();
  }
});
stage.addEventListener("pointercancel", () => { drag = null; });
stage.addEventListener("pointerleave", () => tip(null));
stage.addEventListener("dblclick", (event) => zoom(0.3, timeAt(at(event)[0])));
stage.addEventListener("wheel", (event) => {
  const mine = event.ctrlKey || event.metaKey || stage.contains(document.activeElement);
  if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) { event.preventDefault(); pan(event.deltaX / plotWidth()); }
  else if (mine) { event.preventDefault(); zoom(1.0018 ** event.deltaY, timeAt(at(event)[0])); }
}, { passive: false });
stage.addEventListener("focus", schedule);
stage.addEventListener("blur", schedule);

function walk(by) {
  const list = lanes[view.lane]?.ops ?? [];
  if (!list.length) return;
  const now = list.indexOf(view.selected);
  const next = now >= 0 ? now + by : list.findIndex((op) => op.t0 >= view.t0);
  reveal(list[Math.min(Math.max(next, 0), list.length - 1)]);
}
const keys = {
  ArrowLeft: () => pan(-0.15), ArrowRight: () => pan(0.15), "+": () => zoom(0.6), "=": () => zoom(0.6), "-": () => zoom(1 / 0.6), "0": showAll, Home: showAll,
  ArrowUp: () => { view.lane = Math.max(view.lane - 1, 0); schedule(); }, ArrowDown: () => { view.lane = Math.min(view.lane + 1, lanes.length - 1); schedule(); },
  ",": () => walk(-1), ".": () => walk(1),
};
stage.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
});
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
  if (event.key === "n") step(1);
  if (event.key === "p") step(-1);
});

const centreOnMap = (event) => {
  const box = minimap.getBoundingClientRect(), t = ((event.clientX - box.left - GUTTER) / (box.width - GUTTER - RIGHT)) * END, half = (view.t1 - view.t0) / 2;
  show(t - half, t + half);
};
minimap.addEventListener("pointerdown", (event) => { minimap.setPointerCapture(event.pointerId); centreOnMap(event); });
minimap.addEventListener("pointermove", (event) => { if (event.buttons & 1) centreOnMap(event); });

byId("previous").addEventListener("click", () => step(-1));
byId("next").addEventListener("click", () => step(1));
byId("previous").disabled = byId("next").disabled = violations.length === 0;
byId("zoom-in").addEventListener("click", () => zoom(0.5));
byId("zoom-out").addEventListener("click", () => zoom(2));
byId("fit").addEventListener("click", showAll);
document.querySelectorAll("#violations a").forEach((a) => a.addEventListener("click", (event) => { event.preventDefault(); jump(Number(a.dataset.violation)); }));
document.querySelectorAll("#faults button").forEach((button) => button.addEventListener("click", () => {
  reveal(faults.find((fault) => fault.id === Number(button.dataset.fault)));
  byId("timeline").scrollIntoView({ block: "start" });
}));
const fromHash = () => { const found = /^#v(\d+)$/.exec(location.hash); if (found) jump(Number(found[1])); };
window.addEventListener("hashchange", fromHash);

byId("theme").addEventListener("click", () => {
  const root = document.documentElement, dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  recolor();
});
function recolor() { readColors(); schedule(); }
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolor);
new ResizeObserver(schedule).observe(stage);

if (data.locks.length > 1) {
  const choice = document.createElement("select");
  choice.setAttribute("aria-label", "Lock shown");
  choice.append(new Option("all locks", ""), ...data.locks.map((lock, i) => new Option(lock, i)));
  choice.addEventListener("input", () => { view.lock = choice.value === "" ? null : Number(choice.value); schedule(); });
  byId("locks").append(choice);
}

function drawLegend() {
  const entry = (text, ...shapes) => {
    const holder = element("span", null, make("svg", { width: 26, height: 14 }, ...shapes));
    holder.append(text);
    return holder;
  };
  const rect = (attributes, style) => make("rect", { x: 1, y: 2, width: 24, height: 10, ...attributes, style });
  const elections = holds.some((hold) => verb(hold) === "leads");
  const has = (f) => ops.some(f);
  const entries = [
    entry(elections ? "believes it leads" : "believes it holds", rect({}, "fill:var(--hold0)")),
    holds.some((hold) => hold.promised !== null && hold.promised < hold.t1) && entry("still believes, promise run out", rect({}, "fill:var(--hold0);fill-opacity:.28;stroke:var(--hold0)")),
    entry("waits", rect({ y: 5.5, height: 3 }, "fill:var(--wait)")),
    violations.some((v) => v.overlap !== null) && entry("two at once", rect({ fill: "url(#legend-hatch)" }, "stroke:var(--bad);stroke-width:1.5"),
      make("defs", {}, make("pattern", { id: "legend-hatch", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, make("rect", { width: 3, height: 6, style: "fill:var(--bad)" })))),
    faults.length && entry("fault", rect({ rx: 3 }, "fill:var(--fault);fill-opacity:.26;stroke:var(--fault)")),
    has((op) => op.fate === "accepted") && entry("write accepted", make("circle", { cx: 13, cy: 7, r: 3.2, style: "fill:var(--write)" })),
    has((op) => op.fate === "refused") && entry("write refused", make("path", { d: "M10 4l6 6m0 -6l-6 6", style: "stroke:var(--write);stroke-width:1.6" })),
    has((op) => op.fate === "lost") && entry("write in a lost update", make("path", { d: "M13 2l5 5l-5 5l-5 -5z", style: "fill:none;stroke:var(--bad);stroke-width:1.6" })),
    has((op) => op.outcome === "info" || op.outcome === "open") && entry("outcome unknown", make("circle", { cx: 13, cy: 7, r: 3.2, style: "fill:none;stroke:var(--soft);stroke-width:1.5" })),
    holds.some((hold) => hold.noticed) && entry("noticed the loss", make("path", { d: "M9 2h6v11", style: "fill:none;stroke:var(--hold0);stroke-width:2" })),
    has((op) => op.f === "renew") && entry("renewed", make("path", { d: "M9 11l4 -7l4 7z", style: "fill:var(--write)" })),
    has((op) => op.f === "read" || op.f === "release") && entry("other operation", make("rect", { x: 12, y: 3, width: 1.5, height: 8, style: "fill:var(--soft)" })),
  ];
  if (lanes.length > DRAWN_LANES) entries.push(element("b", `The first ${DRAWN_LANES} of ${lanes.length} lanes are drawn.`));
  byId("legend").append(...entries.filter(Boolean));
}

window.fencepost = {
  lanes: lanes.filter((lane) => lane.client).length, serverLanes: lanes.filter((lane) => !lane.client).length, holds: holds.length,
  overlaps: violations.filter((v) => v.overlap !== null).length, violations: violations.length, faults: faults.length, operations: ops.length,
  focus: null, view: null, drawn: null, jump, show,
};
readColors();
drawLegend();
fillFilters();
showAll();
paint();
fromHash();
window.fencepost.ready = true;
