// Puts it all together, and says what a machine may want to know.
function paint() {
  cancelAnimationFrame(scheduled);
  scheduled = null;
  view.width = stage.clientWidth;
  drawLanes();
  drawMarks(drag?.range);
  drawMinimap();
  const count = (what) => marks.querySelectorAll(what).length;
  window.fencepost.view = [view.t0, view.t1];
  window.fencepost.drawn = { ...drawn, overlaps: count(".overlap"), faults: count(".fault") };
}

function onClick(id, action) {
  byId(id).addEventListener("click", action);
}
onClick("previous", () => step(-1));
onClick("next", () => step(1));
onClick("zoom-in", () => zoom(0.5));
onClick("zoom-out", () => zoom(2));
onClick("fit", showAll);
onClick("theme", () => {
  const root = document.documentElement, system = matchMedia("(prefers-color-scheme: dark)").matches;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : system;
  root.dataset.theme = dark ? "light" : "dark";
  recolor();
});
byId("previous").disabled = byId("next").disabled = violations.length === 0;

for (const link of document.querySelectorAll("#violations a")) {
  link.addEventListener("click", (event) => {
    event.preventDefault();
    jump(Number(link.dataset.violation));
  });
}
for (const button of document.querySelectorAll("#faults button")) {
  button.addEventListener("click", () => {
    reveal(faults.find((fault) => fault.id === Number(button.dataset.fault)));
    byId("timeline").scrollIntoView({ block: "start" });
  });
}

function recolor() {
  readColors();
  schedule();
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolor);
new ResizeObserver(() => {
  if (stage.clientWidth !== view.width) schedule();
}).observe(stage);
window.addEventListener("hashchange", fromHash);

if (data.locks.length > 1) {
  const choice = element("select");
  choice.setAttribute("aria-label", "Lock shown");
  choice.append(new Option("all locks", ""), ...data.locks.map((lock, i) => new Option(lock, i)));
  choice.addEventListener("input", () => {
    view.lock = choice.value === "" ? null : Number(choice.value);
    schedule();
  });
  byId("locks").append(choice);
}

window.fencepost = {
  lanes: lanes.filter((lane) => lane.client).length,
  serverLanes: lanes.filter((lane) => !lane.client).length,
  holds: holds.length,
  overlaps: violations.filter((v) => v.overlap !== null).length,
  violations: violations.length,
  faults: faults.length,
  stalls: stalls.length,
  exits: exits.length,
  operations: ops.length,
  focus: null,
  view: null,
  drawn: null,
  jump,
  show,
};
readColors();
drawLegend();
fillFilters();
showAll();
paint();
// What is measured stands now, so a jump from the address scrolls to the right place.
fromHash();
window.fencepost.ready = true;
