// Pointer, wheel and keys.
const stage = byId("stage");
let drag = null;

function at(event) {
  const box = stage.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}
const laneAt = (y) => lanes.find((lane) => y >= lane.y && y < lane.y + lane.height);

// What is drawn nearest to a point: operations below, holds above, and waits where nobody holds.
function itemAt(x, y) {
  const lane = laneAt(y), t = timeAt(x);
  if (!lane || x < GUTTER) return null;
  const slack = ((view.t1 - view.t0) / plotWidth()) * 5;
  const distance = (item) => Math.max(item.t0 - t, t - item.t1, 0);
  const nearer = (a, b) => distance(a) - distance(b) || a.t1 - a.t0 - (b.t1 - b.t0);
  const closest = (list) => list.filter((item) => distance(item) <= slack).sort(nearer)[0];
  if (y > stripY(lane) - STRIP / 2 - 1) return closest(lane.ops.filter((op) => !ACQUIRES.has(op.f))) ?? null;
  const row = Math.max(Math.floor((y - lane.y - GAP / 2) / (HOLD + 3)), 0);
  const hold = closest(lane.holds.filter((hold) => hold.row === row));
  return hold ?? closest(lane.ops.filter((op) => ACQUIRES.has(op.f))) ?? null;
}

// What ended or stood still there; the node's own stall before the harness'.
function stallAt(x, y) {
  const lane = laneAt(y), t = timeAt(x), slack = ((view.t1 - view.t0) / plotWidth()) * 2;
  const there = stalls.filter((stall) => t >= stall.t0 && t <= Math.max(stall.t1, stall.t0 + slack) && x >= GUTTER);
  const ended = exits.find((exit) => lane && exit.lane === lane.i && Math.abs(t - exit.t0) <= 4 * slack);
  return ended ?? there.find((stall) => lane && stall.lane === lane.i) ?? there.find((stall) => stall.lane === null) ?? null;
}

stage.addEventListener("pointerdown", (event) => {
  if (event.button !== 0) return;
  const [x] = at(event);
  drag = { x, t0: view.t0, t1: view.t1, moved: false, range: event.shiftKey ? [x, x] : null };
  stage.setPointerCapture(event.pointerId);
});
stage.addEventListener("pointermove", (event) => {
  const [x, y] = at(event);
  if (drag) return dragTo(x);
  const item = itemAt(x, y);
  stage.classList.toggle("pointing", item !== null);
  const told = item ?? stallAt(x, y);
  tip(event, told && summary(told));
});
stage.addEventListener("pointerup", (event) => {
  const [x, y] = at(event), was = drag;
  drag = null;
  stage.classList.remove("dragging");
  if (was?.moved && was.range) show(...was.range.map(timeAt).sort((a, b) => a - b));
  else if (was && !was.moved) click(x, y);
});
stage.addEventListener("pointercancel", () => { drag = null; });
stage.addEventListener("pointerleave", () => tip(null));

function dragTo(x) {
  drag.moved ||= Math.abs(x - drag.x) > 3;
  if (!drag.moved) return;
  tip(null);
  if (drag.range) {
    drag.range[1] = x;
    schedule();
    return;
  }
  stage.classList.add("dragging");
  const by = ((drag.x - x) / plotWidth()) * (drag.t1 - drag.t0);
  show(drag.t0 + by, drag.t1 + by);
}
function click(x, y) {
  const item = itemAt(x, y);
  view.lane = laneAt(y)?.i ?? view.lane;
  if (item) select(item);
  else schedule();
}

stage.addEventListener("dblclick", (event) => zoom(0.3, timeAt(at(event)[0])));
stage.addEventListener("wheel", (event) => {
  // A plain wheel scrolls the page until the timeline has the focus.
  const zooms = event.ctrlKey || event.metaKey || stage.contains(document.activeElement);
  const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
  if (!sideways && !zooms) return;
  event.preventDefault();
  if (sideways) pan(event.deltaX / plotWidth());
  else zoom(1.0018 ** event.deltaY, timeAt(at(event)[0]));
}, { passive: false });
stage.addEventListener("focus", schedule);
stage.addEventListener("blur", schedule);

function otherLane(by) {
  view.lane = Math.min(Math.max(view.lane + by, 0), lanes.length - 1);
  schedule();
}
const keys = {
  ArrowLeft: () => pan(-0.15),
  ArrowRight: () => pan(0.15),
  ArrowUp: () => otherLane(-1),
  ArrowDown: () => otherLane(1),
  "+": () => zoom(0.6),
  "=": () => zoom(0.6),
  "-": () => zoom(1 / 0.6),
  0: showAll,
  Home: showAll,
  ",": () => walk(-1),
  ".": () => walk(1),
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

function centreOnMap(event) {
  const box = minimap.getBoundingClientRect(), half = (view.t1 - view.t0) / 2;
  const t = BEGIN + ((event.clientX - box.left - GUTTER) / (box.width - GUTTER - RIGHT)) * LENGTH;
  show(t - half, t + half);
}
minimap.addEventListener("pointerdown", (event) => {
  minimap.setPointerCapture(event.pointerId);
  centreOnMap(event);
});
minimap.addEventListener("pointermove", (event) => {
  if (event.buttons & 1) centreOnMap(event);
});
