// Lanes, holds and operations on the canvas: only what is in view, and of what falls on one pixel only the first.
const canvas = byId("lanes"), minimap = byId("minimap");
let colors = {};
const drawn = { holds: 0, operations: 0, stalls: 0, exits: 0 };

function readColors() {
  const style = getComputedStyle(document.documentElement);
  const texts = ["paper", "ground", "ink", "soft", "line", "on-hold", "focus"];
  const signs = ["hold0", "hold1", "hold2", "hold3", "wait", "write", "bad", "fault"];
  const valueOf = (name) => style.getPropertyValue("--" + name).trim();
  colors = Object.fromEntries([...texts, ...signs].map((name) => [name, valueOf(name)]));
}
const holdColor = (lock) => colors["hold" + (lock % 4)];

function surface(target, width, height) {
  const scale = window.devicePixelRatio || 1;
  target.width = Math.round(width * scale);
  target.height = Math.round(height * scale);
  target.style.height = height + "px";
  const pen = target.getContext("2d");
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  return pen;
}

function drawLanes() {
  const pen = surface(canvas, view.width, view.height);
  drawn.holds = drawn.operations = drawn.stalls = drawn.exits = 0;
  drawAxis(pen);
  drawStalls(pen);
  pen.font = "600 12.5px system-ui, sans-serif";
  pen.textBaseline = "middle";
  for (const lane of lanes) if (lane.height > 0) drawLane(pen, lane);
}

function drawAxis(pen) {
  const span = view.t1 - view.t0;
  const raw = span / Math.max(2, plotWidth() / 110);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= raw);
  pen.font = "12px system-ui, sans-serif";
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  for (let t = Math.ceil(view.t0 / step) * step; t <= view.t1; t += step) {
    if (t < BEGIN || t > END) continue;
    const x = Math.round(xOf(t)) + 0.5;
    pen.strokeStyle = colors.line;
    pen.beginPath(); pen.moveTo(x, AXIS - 3); pen.lineTo(x, view.height); pen.stroke();
    pen.fillStyle = colors.soft;
    if (x > GUTTER - 1 && x < view.width - 14) pen.fillText(tick(t, step), x, 10);
  }
}
function tick(t, step) {
  const digits = Math.max(0, 9 - Math.floor(Math.log10(step) + 1e-9));
  return digits <= 6 ? (t / 1e9).toFixed(Math.min(digits, 6)) + " s" : (t / 1e6).toFixed(digits - 6) + " ms";
}

// Stripes behind the lane of what stood still; the harness' own behind all lanes.
function drawStalls(pen) {
  pen.fillStyle = stripes(pen);
  for (const stall of stalls.filter(inView)) {
    const x0 = Math.max(xOf(stall.t0), GUTTER), x1 = Math.min(Math.max(xOf(stall.t1), x0 + 2), view.width - RIGHT);
    const { y, height } = stall.lane === null ? { y: view.top, height: view.height - view.top } : lanes[stall.lane];
    pen.fillRect(x0, y, x1 - x0, height);
    drawn.stalls++;
  }
}
function stripes(pen) {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 6;
  const brush = tile.getContext("2d");
  brush.strokeStyle = colors.soft;
  brush.globalAlpha = 0.75;
  brush.beginPath();
  for (const x of [-3, 3, 9]) { brush.moveTo(x, 6); brush.lineTo(x + 6, 0); }
  brush.stroke();
  return pen.createPattern(tile, "repeat");
}

function drawLane(pen, lane) {
  const middle = lane.y + lane.height / 2;
  pen.strokeStyle = colors.line;
  pen.beginPath(); pen.moveTo(0, lane.y - 0.5); pen.lineTo(view.width, lane.y - 0.5); pen.stroke();
  pen.save();
  pen.beginPath(); pen.rect(GUTTER, lane.y, view.width - GUTTER - RIGHT + 1, lane.height); pen.clip();
  for (const exit of exits) if (exit.lane === lane.i && inView(exit)) drawExit(pen, middle, xOf(exit.t0));
  if (lane.client) {
    for (const op of lane.ops) if (ACQUIRES.has(op.f) && inView(op)) drawWait(pen, lane, op);
    drawHolds(pen, lane);
    drawOperations(pen, lane);
  }
  pen.restore();
  pen.fillStyle = lane.client ? colors.ink : colors.soft;
  pen.font = (lane.client ? "600 " : "") + "12.5px system-ui, sans-serif";
  pen.textAlign = "left";
  pen.fillText(fitted(pen, lane.name, GUTTER - 14), 4, middle);
  if (view.lane === lane.i && document.activeElement === byId("stage")) {
    pen.fillStyle = colors.focus; pen.fillRect(0, lane.y + 3, 2, lane.height - 6);
  }
}
// A cross where a server ended by itself.
function drawExit(pen, y, x) {
  drawn.exits++;
  pen.strokeStyle = colors.bad;
  pen.lineWidth = 2.5;
  pen.beginPath(); pen.moveTo(x - 5, y - 5); pen.lineTo(x + 5, y + 5); pen.moveTo(x + 5, y - 5); pen.lineTo(x - 5, y + 5); pen.stroke();
  pen.lineWidth = 1;
}
function fitted(pen, text, width) {
  if (pen.measureText(text).width <= width) return text;
  let end = text.length;
  while (end > 1 && pen.measureText(text.slice(0, end) + "…").width > width) end -= Math.max(1, end >> 3);
  return text.slice(0, end) + "…";
}

// Waiting is a thin line on the height of the hold that it may become.
function drawWait(pen, lane, op) {
  drawn.operations++;
  const y = lane.y + GAP / 2 + HOLD / 2;
  const x0 = xOf(op.t0), x1 = Math.max(xOf(op.t1), x0 + 1);
  pen.fillStyle = colors.wait;
  pen.fillRect(x0, y - 1.5, x1 - x0, 3);
  if (op.outcome === "fail") pen.fillRect(x1 - 1.5, y - 5, 1.5, 10);
  pen.strokeStyle = colors.soft;
  if (op.outcome === "info") ring(pen, x1, y, 3.5);
  if (view.selected === op) outline(pen, x0 - 2, y - 6, x1 - x0 + 4, 12);
}

// Solid while promised; pale with an outline from where the last promise ran out.
function drawHolds(pen, lane) {
  let last = -1;
  pen.font = "600 11.5px system-ui, sans-serif";
  pen.textAlign = "left";
  for (const hold of lane.holds) {
    if (!inView(hold)) continue;
    drawn.holds++;
    const x0 = Math.max(xOf(hold.t0), GUTTER - 2), x1 = Math.min(xOf(hold.t1), view.width);
    if (x1 - x0 < 1 && Math.floor(x1) === last && view.selected !== hold) continue;
    last = Math.floor(x1);
    const y = holdY(hold), width = Math.max(x1 - x0, 1.2);
    const sure = hold.promised === null ? width : Math.min(Math.max(xOf(hold.promised) - x0, 0), width);
    pen.globalAlpha = hiddenByLock(hold) ? 0.18 : 1;
    pen.fillStyle = pen.strokeStyle = holdColor(hold.lock);
    pen.fillRect(x0, y, sure, HOLD);
    if (width - sure > 2) {
      pen.save(); pen.globalAlpha *= 0.28; pen.fillRect(x0 + sure, y, width - sure, HOLD); pen.restore();
      pen.strokeRect(x0 + sure + 0.5, y + 0.5, width - sure - 1, HOLD - 1);
    }
    if (hold.noticed) { pen.fillRect(x1 - 2, y - 3, 2, HOLD + 6); pen.fillRect(x1 - 6, y - 3, 6, 2); }
    const label = lockName(hold.lock) + (hold.token === null ? "" : " · " + hold.token);
    const wide = pen.measureText(label).width + 10, inPale = sure < wide;
    const at = Math.max(x0, GUTTER) + (inPale ? sure : 0), covered = (v) => xOf(v.t0) < at + wide && xOf(v.t1) > at;
    if (!MANY && wide < (inPale ? width - sure : sure) && !hold.overlaps.some(covered)) {
      pen.fillStyle = inPale ? colors.ink : colors["on-hold"];
      pen.fillText(label, at + 5, y + HOLD / 2 + 0.5);
    }
    if (view.selected === hold) outline(pen, x0 - 1.5, y - 1.5, width + 3, HOLD + 3);
    pen.globalAlpha = 1;
  }
}

function drawOperations(pen, lane) {
  const y = stripY(lane), seen = {};
  for (const op of lane.ops) {
    if (ACQUIRES.has(op.f) || !inView(op)) continue;
    drawn.operations++;
    const x0 = xOf(op.t0), x1 = xOf(op.t1);
    const kind = op.fate ?? op.f + op.outcome;
    if (seen[kind] !== undefined && x1 - seen[kind] < 1.5 && x1 - x0 < 3 && op !== view.selected) continue;
    seen[kind] = x1;
    if (x1 - x0 > 2) { pen.fillStyle = colors.wait; pen.fillRect(x0, y - 1, x1 - x0, 2); }
    drawSign(pen, op, x1, y);
    if (view.selected === op) outline(pen, x0 - 6, y - 7, x1 - x0 + 12, 14);
  }
}

function drawMinimap() {
  const width = minimap.clientWidth, height = 34, pen = surface(minimap, width, height);
  const x = (t) => GUTTER + ((t - BEGIN) / LENGTH) * (width - GUTTER - RIGHT);
  pen.fillStyle = colors.fault; pen.globalAlpha = 0.25;
  for (const fault of faults) pen.fillRect(x(fault.t0), 0, Math.max(x(fault.t1) - x(fault.t0), 1), height);
  pen.globalAlpha = 0.85;
  const clients = lanes.filter((lane) => lane.client), row = (height - 10) / Math.max(clients.length, 1);
  clients.forEach((lane, i) => {
    let last = -1;
    for (const hold of lane.holds) {
      const x0 = x(hold.t0), x1 = Math.max(x(hold.t1), x0 + 0.7);
      if (x1 - last < 0.5) continue;
      last = x1;
      pen.fillStyle = holdColor(hold.lock);
      pen.fillRect(x0, 9 + i * row, x1 - x0, Math.max(row - 1, 0.7));
    }
  });
  pen.globalAlpha = 1; pen.fillStyle = colors.bad;
  for (const v of violations) pen.fillRect(x(v.t0), 0, Math.max(x(v.t1) - x(v.t0), 2), 6);
  pen.fillStyle = colors.ground; pen.globalAlpha = 0.62;
  const from = x(Math.max(view.t0, BEGIN)), to = x(Math.min(view.t1, END));
  pen.fillRect(GUTTER, 0, from - GUTTER, height);
  pen.fillRect(to, 0, width, height);
  pen.globalAlpha = 1; pen.strokeStyle = colors.focus; pen.lineWidth = 1.5;
  pen.strokeRect(from, 0.75, Math.max(to - from, 2), height - 1.5);
}
