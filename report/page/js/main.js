// The page begins here: it reads its data and shows it, and shows it anew when a reader
// chooses something, when the window changes, or when there is new data.

let data = {};

// look sets the colours of the series: lighter on dark paper.
function look() {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches && !look.printing;
  (data.labels ?? []).forEach((l, i) => {
    document.documentElement.style.setProperty(`--s${i}`, d3.color(dark ? d3.interpolateRgb(l.color, "#ffffff")(0.32)
      : l.color).formatHex());
  });
}

// take shows other data, in place of what there was.
function take(text) {
  data = JSON.parse(text);
  data.spectrum_steps ??= 12;
  repetitions.clear();
  tables.length = 0;
  if (data.cells?.length && data.metrics?.length) tables.push(results());
  for (const t of data.tables ?? []) tables.push(new Table(t));
  document.getElementById("tables").replaceChildren(...tables.map((t) => t.element()));
  look();
  readState();
  show();
  performance.mark("shown");
}

function show() {
  showBar();
  showFigures();
  for (const t of tables) t.show();
  showOpen();
}

// refresh takes a newer version of the page, as a server has it, and keeps what was chosen.
function refresh(html) {
  const newer = new DOMParser().parseFromString(html, "text/html");
  for (const id of ["before", "after"]) document.getElementById(id)?.replaceChildren(...(newer.getElementById(id)?.childNodes ?? []));
  take(newer.getElementById("data").textContent);
}

document.getElementById("more").addEventListener("close", () => {
  hideTip();
  if (state.open) open("");
});
document.getElementById("more").addEventListener("click", (e) => {
  if (e.target.id === "more") e.target.close();
});
addEventListener("hashchange", () => {
  readState();
  show();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", look);
addEventListener("beforeprint", () => {
  look.printing = true;
  for (const t of tables) t.showMore(Infinity);
  look();
});
addEventListener("afterprint", () => {
  look.printing = false;
  look();
});
let shownWidth = innerWidth;
addEventListener("resize", () => {
  if (innerWidth === shownWidth) return;
  shownWidth = innerWidth;
  requestAnimationFrame(() => show());
});
take(document.getElementById("data").textContent);
