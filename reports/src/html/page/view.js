// Which part of the run is in view, and where things stand on the stage. All positions are CSS pixels.
const GUTTER = 76, RIGHT = 12, AXIS = 22, FAULT_ROW = 19, FLAGS = 22, SERVER = 24;
const MANY = lanes.length > 24;
const HOLD = MANY ? 10 : 18, STRIP = MANY ? 8 : 14, GAP = MANY ? 6 : 12;
const MIN_SPAN = 20e3, DRAWN_LANES = 400;

const view = { t0: BEGIN, t1: END, width: 800, height: 0, lock: null, selected: null, violation: null, lane: 0 };
let scheduled = null;

function layOut() {
  let y = AXIS + (faultRows ? faultRows * FAULT_ROW + 6 : 0);
  view.flags = y;
  y += violations.length ? FLAGS : 4;
  view.top = y;
  for (const lane of lanes) {
    lane.y = y;
    lane.height = lane.i >= DRAWN_LANES ? 0 : lane.client ? GAP + lane.rows * (HOLD + 3) + STRIP : SERVER;
    y += lane.height;
  }
  view.height = y + (violations.some((v) => v.overlap !== null) ? 22 : 6);
}
layOut();

const plotWidth = () => Math.max(50, view.width - GUTTER - RIGHT);
const xOf = (t) => GUTTER + ((t - view.t0) / (view.t1 - view.t0)) * plotWidth();
const timeAt = (x) => view.t0 + ((x - GUTTER) / plotWidth()) * (view.t1 - view.t0);
const inView = (item) => item.t1 >= view.t0 && item.t0 <= view.t1;
const holdY = (hold) => lanes[hold.lane].y + GAP / 2 + hold.row * (HOLD + 3);
const stripY = (lane) => lane.y + GAP / 2 + lane.rows * (HOLD + 3) + STRIP / 2 - 1;
const hiddenByLock = (item) => view.lock !== null && item.lock !== undefined && item.lock !== view.lock;

function show(t0, t1) {
  const length = Math.min(Math.max(t1 - t0, MIN_SPAN), LENGTH * 1.02);
  const middle = (t0 + t1) / 2;
  const from = Math.min(Math.max(middle - length / 2, BEGIN - LENGTH * 0.01), END + LENGTH * 0.01 - length);
  view.t0 = from;
  view.t1 = from + length;
  schedule();
}
const pan = (share) => show(view.t0 + (view.t1 - view.t0) * share, view.t1 + (view.t1 - view.t0) * share);
function zoom(factor, at = (view.t0 + view.t1) / 2) {
  const length = view.t1 - view.t0;
  const now = Math.min(Math.max(length * factor, MIN_SPAN), LENGTH * 1.02) / length;
  show(at - (at - view.t0) * now, at + (view.t1 - at) * now);
}
const showAll = () => show(BEGIN - LENGTH * 0.01, END + LENGTH * 0.01);

function schedule() {
  scheduled ??= requestAnimationFrame(paint);
}
