// What things are made of, in words: the tooltip in short, the panel in full. Text only, never markup.
const details = byId("details"), tipBox = byId("tip");

function element(name, text, ...children) {
  const made = document.createElement(name);
  if (text !== null && text !== undefined) made.textContent = text;
  made.append(...children);
  return made;
}

function summary(item) {
  const lane = item.lane === undefined ? "" : lanes[item.lane].name;
  switch (item.type) {
    case "hold": return `${lane} ${verb(item)} ${lockName(item.lock)}${item.token === null ? "" : ", token " + item.token}\n${seconds(item.t0)} to ${seconds(item.t1)} (${span(item.t1 - item.t0)})` +
      (item.promised !== null && item.promised < item.t1 ? `\nthe promise ran out at ${seconds(item.promised)}` : "") + `\nended: ${item.ending}`;
    case "fault": return `Fault ${item.id}: ${item.kind} of ${item.lanes.map((i) => lanes[i].name).join(", ")}\n${seconds(item.t0)} to ${item.ended ? seconds(item.t1) : "the end"} (${span(item.t1 - item.t0)}), ${item.result}\n${brief(item.evidence)}`;
    case "violation": return `${item.number} · ${item.check}\n${item.text}`;
    default: return `${lane} ${item.f}: ${item.outcome}${item.fate ? " (" + item.fate + ")" : ""}\n${seconds(item.t0)}${item.duration < 0 ? "" : ", took " + span(item.duration)}\n${brief(value(item, "got") ?? value(item, "asked"))}${item.error ? "\n" + item.error : ""}`;
  }
}

function tip(event, text) {
  tipBox.hidden = !event || !text;
  if (tipBox.hidden) return;
  tipBox.textContent = text;
  const box = byId("stage").getBoundingClientRect();
  const x = event.clientX - box.left + 14, y = event.clientY - box.top + 16;
  tipBox.style.left = Math.max(0, Math.min(x, box.width - tipBox.offsetWidth - 4)) + "px";
  tipBox.style.top = (y + tipBox.offsetHeight > box.height ? Math.max(0, y - tipBox.offsetHeight - 30) : y) + "px";
}

function select(item) {
  view.selected = item;
  details.replaceChildren(...described(item));
  schedule();
}

function described(item) {
  if (item.type === "operation") return [element("h3", `${lanes[item.lane].name} · ${item.f} · ${item.outcome}${item.fate ? ", " + item.fate : ""}`), events([item])];
  if (item.type === "hold") return [element("h3", summary(item).replaceAll("\n", " · ")), events(during(item))];
  if (item.type === "fault") return [element("h3", summary(item).split("\n").slice(0, 2).join(" · ")), element("p", "Evidence: " + brief(item.evidence) + (item.healed ? ". Its removal was verified." : ". Its removal was not verified."))];
  const while_ = faults.filter((fault) => item.faults.includes(fault.id)).map((fault) => `${fault.kind} ${fault.lanes.map((i) => lanes[i].name).join(", ")}`);
  return [element("h3", `Violation ${item.number} · ${item.check}`), element("p", item.text),
    element("p", `${seconds(item.t0)} to ${seconds(item.t1)}${while_.length ? " · under way: " + while_.join("; ") : ""} · events ${item.indexes.join(", ")}`), events(item.ops)];
}

// The operations of one process under one hold, the acquire first.
function during(hold) {
  return lanes[hold.lane].ops.filter((op) => op.process === hold.op.process && op.t0 >= hold.op.t0 && op.t0 <= hold.t1).slice(0, 40);
}

function events(list) {
  const table = element("table");
  for (const op of list) {
    const row = (index, t, kind, what) => element("tr", null, ...[index < 0 ? "" : index, seconds(t), op.f, kind, what].map((cell) => element("td", cell)));
    if (op.invoke >= 0) table.append(row(op.invoke, op.t0, "invoke", brief(value(op, "asked") ?? "")));
    if (op.complete >= 0) table.append(row(op.complete, op.t1, op.outcome, brief(value(op, "got") ?? "") + (op.error ? " · " + op.error : "")));
  }
  for (const op of list) if (served.has(op.i)) table.append(element("tr", null, ...["", "", "resource", "seq " + served.get(op.i)[0], resourceSays(served.get(op.i))].map((cell) => element("td", cell))));
  const scroll = element("div", null, table);
  scroll.className = "scroll";
  return scroll;
}

function resourceSays([, unfencedBase, unfenced, fencedBase, fenced]) {
  const register = (name, took, base) => took === null ? "" : `${name} register ${took ? "took it" : "refused it"} (the client had read ${base ?? "nothing"})`;
  return [register("unfenced", unfenced, unfencedBase), register("fenced", fenced, fencedBase)].filter(Boolean).join(", ");
}
