// What things are made of, in words: the tooltip in short, the panel in full. Text only, never markup.
const details = byId("details"), tipBox = byId("tip");

function element(name, text, ...children) {
  const made = document.createElement(name);
  if (text !== null && text !== undefined) made.textContent = text;
  made.append(...children);
  return made;
}
const names = (on) => on.map((lane) => lanes[lane].name).join(", ");

// The first line names the thing.
function summary(item) {
  const about = { hold: aboutHold, fault: aboutFault, violation: aboutViolation, operation: aboutOperation, stall: aboutStall, exit: aboutExit };
  return about[item.type](item);
}
function aboutHold(hold) {
  const token = hold.token === null ? "" : ", token " + hold.token;
  const lines = [
    `${lanes[hold.lane].name} ${verb(hold)} ${lockName(hold.lock)}${token}`,
    `${seconds(hold.t0)} to ${seconds(hold.t1)} (${span(hold.t1 - hold.t0)})`,
  ];
  if (hold.promised !== null && hold.promised < hold.t1) lines.push(`the promise ran out at ${seconds(hold.promised)}`);
  return [...lines, `ended: ${hold.ending}`].join("\n");
}
function aboutFault(fault) {
  const until = fault.ended ? seconds(fault.t1) : "the end";
  return [
    `Fault ${fault.id}: ${fault.kind} of ${names(fault.lanes)}`,
    `${seconds(fault.t0)} to ${until} (${span(fault.t1 - fault.t0)}), ${fault.result}`,
    brief(fault.evidence),
  ].join("\n");
}
function aboutStall(stall) {
  const who = stall.lane === null ? "the harness" : lanes[stall.lane].name;
  return `${who} stood still, by no fault\n${seconds(stall.t0)} to ${seconds(stall.t1)} (${span(stall.t1 - stall.t0)})`;
}
function aboutExit(exit) {
  return `${lanes[exit.lane].name} ended by itself\n${seconds(exit.t0)}, ${exit.how}`;
}
function aboutViolation(v) {
  return `${v.number} · ${v.check}\n${v.text}`;
}
function aboutOperation(op) {
  const fate = op.fate ? ` (${op.fate})` : "", took = op.duration < 0 ? "" : `, took ${span(op.duration)}`;
  return [
    `${lanes[op.lane].name} ${op.f}: ${op.outcome}${fate}`,
    seconds(op.t0) + took,
    brief(value(op, "got") ?? value(op, "asked")),
    ...(op.error ? [op.error] : []),
  ].join("\n");
}

function tip(event, text) {
  tipBox.hidden = !event || !text;
  if (tipBox.hidden) return;
  tipBox.textContent = text;
  const box = byId("stage").getBoundingClientRect();
  const x = event.clientX - box.left + 14, y = event.clientY - box.top + 16;
  const below = y + tipBox.offsetHeight <= box.height;
  tipBox.style.left = Math.max(0, Math.min(x, box.width - tipBox.offsetWidth - 4)) + "px";
  tipBox.style.top = (below ? y : Math.max(0, y - tipBox.offsetHeight - 30)) + "px";
}

function select(item) {
  view.selected = item;
  details.replaceChildren(...described(item));
  schedule();
}

function described(item) {
  if (item.type === "violation") return describedViolation(item);
  const [title, ...rest] = summary(item).split("\n");
  if (item.type === "operation") {
    const heading = [lanes[item.lane].name, item.f, item.outcome, ...(item.fate ? [item.fate] : [])].join(" · ");
    return [element("h3", heading), events([item])];
  }
  if (item.type === "hold") return [element("h3", title), element("p", rest.join(" · ")), events(during(item))];
  const healed = item.healed ? "Its removal was verified." : "Its removal was not verified.";
  return [element("h3", title), element("p", rest[0]), element("p", `Evidence: ${brief(item.evidence)}. ${healed}`)];
}
function describedViolation(v) {
  const under = faults.filter((fault) => v.faults.includes(fault.id));
  const facts = [`${seconds(v.t0)} to ${seconds(v.t1)}`];
  if (under.length) facts.push("under way: " + under.map((fault) => `${fault.kind} ${names(fault.lanes)}`).join("; "));
  facts.push("events " + v.indexes.join(", "));
  const heading = element("h3", `Violation ${v.number} · ${v.check}`);
  return [heading, element("p", v.text), element("p", facts.join(" · ")), events(v.ops)];
}

// The operations of one process under one hold, the acquire first.
function during(hold) {
  const of = (op) => op.process === hold.op.process && op.t0 >= hold.op.t0 && op.t0 <= hold.t1;
  return lanes[hold.lane].ops.filter(of).slice(0, 40);
}

function events(list) {
  const table = element("table");
  const row = (...cells) => table.append(element("tr", null, ...cells.map((cell) => element("td", cell))));
  for (const op of list) {
    const got = brief(value(op, "got") ?? "") + (op.error ? " · " + op.error : "");
    if (op.invoke >= 0) row(op.invoke, seconds(op.t0), op.f, "invoke", brief(value(op, "asked") ?? ""));
    if (op.complete >= 0) row(op.complete, seconds(op.t1), op.f, op.outcome, got);
    if (served.has(op.i)) row("", "", "resource", "seq " + served.get(op.i)[0], resourceSays(served.get(op.i)));
  }
  const scroll = element("div", null, table);
  scroll.className = "scroll";
  return scroll;
}

function resourceSays([, unfencedBase, unfenced, fencedBase, fenced]) {
  const says = (name, took, base) =>
    `${name} register ${took ? "took it" : "refused it"} (the client had read ${base ?? "nothing"})`;
  const parts = [says("unfenced", unfenced, unfencedBase)];
  if (fenced !== null) parts.push(says("fenced", fenced, fencedBase));
  return parts.join(", ");
}
