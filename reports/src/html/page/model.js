"use strict";
// The run as objects. All times are nanoseconds since the run began.
const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId("run-data").textContent);
const BEGIN = data.start, END = data.end > BEGIN ? data.end : BEGIN + 1e9, LENGTH = END - BEGIN;
const OUTCOMES = ["ok", "fail", "info", "open"];
const ACQUIRES = new Set(["acquire", "campaign"]);

const lanes = data.lanes.map(([name, client], i) => ({ i, name, client: client === 1, rows: 1, ops: [], holds: [] }));
const lost = new Set(data.lost);
const served = new Map(data.served.map(([op, ...entry]) => [op, entry]));

const ops = data.ops.map(([lane, process, f, t0, duration, outcome, invoke, complete, asked, got, error], i) => ({
  type: "operation", i, lane, process, f: data.fs[f], t0, t1: duration < 0 ? END : t0 + duration, duration,
  outcome: OUTCOMES[outcome], invoke, complete, asked, got, error: error < 0 ? null : data.errors[error],
}));
const holds = data.holds.map(([lane, op, lock, token, t0, duration, promised, ending, noticed], i) => ({
  type: "hold", i, lane, op: ops[op], lock, token, t0, t1: t0 + duration, ending, noticed: noticed === 1,
  promised: promised < 0 ? null : t0 + promised, row: 0, overlaps: [],
}));
const faults = data.faults.map(([id, kind, on, t0, t1, result, healed, evidence]) => ({
  type: "fault", id, kind, lanes: on, t0, t1: t1 < 0 ? END : t1, ended: t1 >= 0, result, healed, evidence, row: 0,
}));
const stalls = data.stalls.map(([lane, t0, t1]) => ({ type: "stall", lane: lane < 0 ? null : lane, t0, t1 }));
const exits = data.exits.map(([lane, t0, how]) => ({ type: "exit", lane, t0, t1: END, how }));
const holdOf = new Map(holds.map((hold) => [hold.op.i, hold]));
const violations = data.violations.map(([check, text, t0, t1, overlap, on, during, indexes], i) => ({
  type: "violation", number: i + 1, check, text, t0, t1, overlap: overlap < 0 ? null : overlap, faults: during, indexes,
  ops: on.map((op) => ops[op]), holds: on.map((op) => holdOf.get(op)).filter(Boolean),
}));

for (const v of violations) if (v.overlap !== null) for (const hold of v.holds) hold.overlaps.push(v);
ops.forEach((op) => lanes[op.lane].ops.push(op));
holds.forEach((hold) => lanes[hold.lane].holds.push(hold));
lanes.forEach((lane) => { lane.rows = Math.max(1, packed(lane.holds)); });
const faultRows = packed(faults);

// Gives each span the first row in which it overlaps nothing; answers the number of rows.
function packed(spans) {
  const ends = [];
  for (const span of spans) {
    let row = ends.findIndex((end) => end <= span.t0);
    if (row < 0) row = ends.length;
    ends[row] = span.t1;
    span.row = row;
  }
  return ends.length;
}

// An operation's value: what was asked and what came back, as an object; undefined where it was left out.
function value(op, which) {
  if (which === "asked" && op.asked < 0) {
    // The completion repeats what was asked: of it, the keys of this shape.
    const got = value(op, "got");
    return Object.fromEntries(data.shapes[-1 - op.asked].map((key) => [key, got[key]]));
  }
  if (!Array.isArray(op[which])) return undefined;
  const [shape, ...fields] = op[which];
  return shape < 0 ? fields[0] : Object.fromEntries(data.shapes[shape].map((key, i) => [key, fields[i]]));
}

// How a write is shown.
function fate(op) {
  if (op.outcome === "info" || op.outcome === "open") return "unclear";
  if (op.outcome === "fail" || value(op, "got")?.fenced_refused === true) return lost.has(op.i) ? "lost" : "refused";
  return lost.has(op.i) ? "lost" : "accepted";
}
ops.forEach((op) => { if (op.f === "write") op.fate = fate(op); });

const verb = (hold) => (hold.op.f === "campaign" ? "leads" : "holds");
const lockName = (lock) => data.locks[lock] ?? "?";
const seconds = (ns) => (ns / 1e9).toFixed(3) + " s";
function span(ns) {
  const ms = ns / 1e6;
  if (ms >= 10000) return (ms / 1000).toFixed(1) + " s";
  return ms.toFixed(ms >= 100 ? 0 : ms >= 10 ? 1 : 2) + " ms";
}
function brief(value) {
  if (value === null || value === undefined) return "none";
  if (Array.isArray(value)) return value.map(brief).join(" ");
  if (typeof value !== "object") return String(value);
  return Object.entries(value).map(([key, item]) => key + " " + brief(item)).join(", ");
}
