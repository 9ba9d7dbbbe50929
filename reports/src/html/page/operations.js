// The table of operations: filtered, a page at a time.
const PAGE = 50;
const table = { matching: ops, page: 0 };
const filters = { lane: byId("by-lane"), f: byId("by-f"), outcome: byId("by-outcome"), text: byId("by-text") };

function fillFilters() {
  const offer = (select, list) => {
    select.append(new Option("all", ""), ...list.map(([text, value]) => new Option(text, value)));
  };
  offer(filters.lane, lanes.filter((lane) => lane.client).map((lane) => [lane.name, lane.i]));
  offer(filters.f, data.fs.map((f) => [f, f]));
  offer(filters.outcome, [...OUTCOMES.map((o) => [o, o]), ["write refused", "refused"], ["write lost", "lost"]]);
  for (const filter of Object.values(filters)) filter.addEventListener("input", applyFilters);
  byId("page-back").addEventListener("click", () => turn(-1));
  byId("page-on").addEventListener("click", () => turn(1));
  applyFilters();
}

function applyFilters() {
  const lane = filters.lane.value, f = filters.f.value, outcome = filters.outcome.value, text = filters.text.value;
  const words = (op) => [brief(value(op, "asked")), brief(value(op, "got")), op.error ?? ""].join(" ");
  table.matching = ops.filter((op) => (lane === "" || op.lane === Number(lane)) && (f === "" || op.f === f)
    && (outcome === "" || op.outcome === outcome || op.fate === outcome) && (text === "" || words(op).includes(text)));
  table.page = 0;
  turn(0);
}

function turn(by) {
  const pages = Math.max(1, Math.ceil(table.matching.length / PAGE));
  table.page = Math.min(Math.max(table.page + by, 0), pages - 1);
  const from = table.page * PAGE, rows = table.matching.slice(from, from + PAGE);
  byId("rows").replaceChildren(...rows.map(rowOf));
  const shown = `${from + 1}–${from + rows.length} of ${table.matching.length}`;
  byId("matching").textContent = rows.length ? shown : "none";
  byId("page-back").disabled = table.page === 0;
  byId("page-on").disabled = table.page >= pages - 1;
}

function rowOf(op) {
  const got = value(op, "got") ?? value(op, "asked");
  const row = element("tr", null, ...[
    op.invoke < 0 ? op.complete : op.invoke,
    lanes[op.lane].name,
    null,
    (op.t0 / 1e9).toFixed(3),
    op.duration < 0 ? "–" : (op.duration / 1e6).toFixed(2),
    op.outcome + (op.fate === "refused" || op.fate === "lost" ? ", " + op.fate : ""),
    (got === undefined ? "" : brief(got)) + (op.error ? " · " + op.error : ""),
  ].map((cell) => element("td", cell)));
  const link = element("button", op.f);
  link.className = "link";
  link.title = "Show in the timeline";
  row.children[2].append(link);
  for (const i of [0, 3, 4]) row.children[i].className = "n";
  row.addEventListener("click", () => {
    reveal(op);
    byId("timeline").scrollIntoView({ block: "start" });
  });
  return row;
}
