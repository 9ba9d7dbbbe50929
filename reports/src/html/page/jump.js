// Jumps to violations, and to whatever else is named elsewhere on the page.

// Shows a violation in the middle, with as much around it as makes it understood.
function jump(number) {
  const v = violations[number - 1];
  if (!v) return;
  // Centred even at the run's ends, so the view may reach past them here.
  const centre = middle(v), half = reachOf(v);
  view.violation = v;
  view.t0 = centre - half;
  view.t1 = centre + half;
  select(v);
  paint();
  markInList(number);
  byId("position").textContent = `violation ${number} of ${violations.length}`;
  const focus = { violation: number, check: v.check, start_ns: v.t0, end_ns: v.t1 };
  window.fencepost.focus = { ...focus, view: [view.t0, view.t1] };
  history.replaceState(null, "", "#v" + number);
  byId("timeline").scrollIntoView({ block: "nearest" });
}

// Half the time to show: the holds, faults and operations that belong to it, unless they are much longer than it.
function reachOf(v) {
  const length = Math.max(v.t1 - v.t0, 2e6);
  const around = [...v.holds, ...v.ops, ...faults.filter((fault) => v.faults.includes(fault.id))];
  const reach = around.flatMap((item) => [middle(v) - item.t0, item.t1 - middle(v)]);
  const most = v.overlap === null ? Math.max(length * 4, 2e9) : length * 4;
  return Math.min(Math.max(Math.max(length / 2, ...reach) * 1.15, length * 0.8), most);
}

function markInList(number) {
  document.querySelectorAll("#violations li.now").forEach((li) => li.classList.remove("now"));
  const li = byId("v" + number), list = li?.parentElement;
  if (!li) return;
  li.classList.add("now");
  list.scrollTop = Math.max(0, li.offsetTop - list.offsetTop - 60);
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

// The next operation of the lane in which the keyboard is.
function walk(by) {
  const list = lanes[view.lane]?.ops ?? [];
  if (!list.length) return;
  const now = list.indexOf(view.selected);
  const next = now >= 0 ? now + by : list.findIndex((op) => op.t0 >= view.t0);
  reveal(list[Math.min(Math.max(next, 0), list.length - 1)]);
}

function fromHash() {
  const found = /^#v(\d+)$/.exec(location.hash);
  if (found) jump(Number(found[1]));
}
