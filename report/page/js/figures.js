// The figure of the cells: the chosen metric, in a panel for each load that is chosen.

const mostPanels = 6;

const spectrumOf = (metric) => (
  /^waiting/.test(metric.name) ? "waiting time" : /^response/.test(metric.name) ? "response time"
    : /^sync_delay/.test(metric.name) ? "synchronization delay" : undefined);

// estimate reads the list that stands for one: see the type Estimate of the page's data.
function estimate(cell, metric) {
  const v = cell.values[metric];
  if (!v) return undefined;
  const [count, median, lo, hi, min, max, standing, against, clocks] = v;
  return { count, median, lo: lo ?? NaN, hi: hi ?? NaN, min, max, standing, against, clocks, bounded: lo !== null };
}

function pointOf(i, x, at) {
  const cell = data.cells[i], e = estimate(cell, state.metric);
  return e && { x, y: e.median, lo: e.lo, hi: e.hi, cell: i, tip: () => cellTip(i, at) };
}

// cellTip says what is known of a point.
function cellTip(i, at) {
  const cell = data.cells[i], m = data.metrics[state.metric], e = estimate(cell, state.metric);
  const lines = [el("strong", { style: `color: ${colorOf(cell.label)}` }, el("bdi", {}, data.labels[cell.label].name))];
  lines.push(el("p", {}, `N = ${cell.n}${at ? `, ${at}` : ""} · ${data.loads[cell.load].brief}`));
  if (e) {
    lines.push(el("p", {}, `${m.title}: `, el("b", {}, write(m.type, e.median)), `, ${extent(m, e)}`));
    if (e.clocks) lines.push(el("p", {}, `by the hosts’ clocks ± ${write(m.type, e.clocks)}`));
    if (e.against) lines.push(el("p", { class: e.standing }, e.standing === "best" ? "best" : e.against));
  }
  for (const p of (cell.predictions ?? []).filter((q) => q.metric === state.metric).slice(0, 3)) lines.push(predictionLine(p, m, e));
  for (const w of cell.notes ?? []) lines.push(el("p", { class: "warned" }, w));
  for (const w of (cell.warnings ?? []).slice(0, 2)) lines.push(el("p", { class: "warned" }, `⚠ ${data.warnings[w].text}`));
  if (cell.command) lines.push(el("code", {}, cell.command));
  return lines;
}

function extent(m, e) {
  if (e.count === 1) return "one repetition";
  if (e.bounded) return `95% interval ${write(m.type, e.lo)} to ${write(m.type, e.hi)}, ${e.count} repetitions`;
  return `range ${write(m.type, e.min)} to ${write(m.type, e.max)} of ${e.count} repetitions, too few for an interval`;
}

const broken = ["differs", "exceeded", "below"];

function predictionLine(p, m, e) {
  const off = e && p.value ? `, measured ${percent((e.median - p.value) / p.value)}` : "";
  const said = p.false ? `known to be false: ${p.false}` : p.verdict;
  return el("p", { class: !p.false && broken.includes(p.verdict) ? "prediction bad" : "prediction" },
    `Predicted: ${p.formula}${p.formula === number(p.value) ? "" : ` = ${write(m.type, p.value)}`}${off}${said ? `; ${said}` : ""}`,
    el("small", {}, ` (${p.source})`));
}

const repetitions = new Map(); // of each cell

function runsOf(cell) {
  if (!repetitions.size) (data.runs ?? []).forEach((r) => repetitions.set(r.cell, [...(repetitions.get(r.cell) ?? []), r]));
  return repetitions.get(cell) ?? [];
}

// small are the repetitions of the cells of a series.
function small(points, label, dx) {
  if (!state.points) return [];
  const all = points.flatMap((p) => runsOf(p.cell).map((r) => ({ x: p.x, y: r.values?.[state.metric] })).filter((q) =>
    typeof q.y === "number"));
  return [{ label, role: "points", small: true, points: all, dx: dx + 5 }];
}

const curveRole = (kind) => (/bound/.test(kind) ? "bound" : "exact");

// panelsOverN are the loads that are shown, against the number of nodes.
function panelsOverN() {
  const panels = [];
  data.loads.forEach((load, i) => {
    if (!wantedLoad(i) || load.silent?.includes(state.metric)) return;
    const cells = data.cells.map((c, k) => k).filter((k) => data.cells[k].load === i && estimate(data.cells[k], state.metric));
    if (distinct(cells.map((k) => data.cells[k].n)).length < 2) return;
    const labels = distinct(cells.map((k) => data.cells[k].label)).filter(wantedLabel).sort((a, b) => a - b);
    const series = labels.flatMap((label, k) => {
      const dx = 2.5 * (k - (labels.length - 1) / 2);
      const points = cells.filter((c) => data.cells[c].label === label).sort((a, b) => data.cells[a].n - data.cells[b].n)
        .map((c) => pointOf(c, data.cells[c].n));
      const sharpest = labels.length > 6 ? 1 : 2;
      const curves = (data.curves ?? []).filter((c) => c.label === label && c.load === i && c.metric === state.metric).slice(0, sharpest)
        .map((c) => ({ label, role: curveRole(c.kind), points: c.points.map(([x, y]) => ({ x, y })) }));
      return [...curves, ...small(points, label, dx), { label, role: "measured", points, dx }];
    });
    panels.push({ title: load.brief, x: { title: "nodes N", type: "number", at: true, text: (v) => number(v) }, series });
  });
  return panels;
}

// panelsAlong are the lines of an axis, a panel for each title and number of nodes.
function panelsAlong(axis) {
  const lines = axis.lines.filter((l) => wantedNodes(l.n));
  return d3.groups(lines, (l) => l.title ?? "").map(([title, some]) => {
    const names = axis.type === "text" ? distinct(some.flatMap((l) => l.at.map((v) => v.t ?? String(v)))) : undefined;
    const place = (v) => (names ? names.indexOf(v.t ?? String(v)) : typeof v === "object" ? v.v : v);
    const at = (v) => `${lower(axis.title)} ${names ? v : write(axis.type, place(v))}`;
    const wanted = (c) => wantedLoad(data.cells[c].load) && wantedLabel(data.cells[c].label);
    const series = some.flatMap((l, k) => {
      const dx = 2.5 * (k - (some.length - 1) / 2), label = l.name ? -1 : l.label; // of several labels: in the colour of none
      const points = l.cells.map((c, i) => (wanted(c) ? pointOf(c, place(l.at[i]), at(l.at[i])) : undefined)).filter(Boolean);
      return [...predictedAlong(label, points), ...small(points, label, dx), { label, role: names ? "points" : "measured", points, dx }];
    });
    return { title, x: { title: axis.title, type: axis.type, names, at: !names }, series };
  }).filter((p) => p.series.some((s) => s.points.length));
}

// predictedAlong is the sharpest prediction that there is at every point of a line.
function predictedAlong(label, points) {
  const of = points.map((p) => (data.cells[p.cell].predictions ?? []).filter((q) => q.metric === state.metric));
  const first = of[0]?.find((p) => !p.false && of.every((all) => all.some((q) => q.formula === p.formula)));
  if (!first || points.length < 2) return [];
  const values = points.map((p, i) => ({ x: p.x, y: of[i].find((q) => q.formula === first.formula).value }));
  return [{ label, role: curveRole(first.kind), points: values }];
}

// panelsByLabel set the algorithms side by side, on one number of nodes for each panel.
function panelsByLabel() {
  const groups = d3.groups(data.cells.map((_, i) => i).filter((i) => {
    const c = data.cells[i];
    return wantedLoad(c.load) && wantedNodes(c.n) && wantedLabel(c.label) && !data.loads[c.load].silent?.includes(state.metric)
      && estimate(c, state.metric);
  }), (i) => `${data.cells[i].load} ${data.cells[i].n}`);
  return groups.map(([, cells]) => {
    const labels = distinct(cells.map((i) => data.cells[i].label)).sort((a, b) => a - b);
    const { load, n } = data.cells[cells[0]];
    const series = labels.flatMap((label, k) => {
      const points = cells.filter((i) => data.cells[i].label === label).map((i) => pointOf(i, k));
      const all = points.flatMap((p) => runsOf(p.cell).map((r) => ({ x: k + 0.22, y: r.values?.[state.metric] })).filter((q) =>
        typeof q.y === "number"));
      const said = (data.cells[points[0].cell].predictions ?? []).filter((p) => p.metric === state.metric).slice(0, 1);
      return [
        ...said.map((p) => ({ label, role: curveRole(p.kind), points: [{ x: k - 0.35, y: p.value }, { x: k + 0.35, y: p.value }] })),
        { label, role: "points", small: true, points: all }, { label, role: "points", points },
      ];
    });
    const title = [data.loads.length > 1 ? data.loads[load].brief : "", `N = ${n}`].filter(Boolean).join(" · ");
    return { title, x: { title: "algorithm", type: "text", names: labels.map((l) => data.labels[l].name) }, series };
  });
}

const shareText = (inverse) => (inverse <= 1 ? "0%" : `${number(100 * (1 - 1 / inverse))}%`);
const decades = [1, 2, 10, 100, 1000, 1e4, 1e5, 1e6, 1e7];

const spectrumPoints = (s) => s.values.map((y, k) => ({ x: k === s.values.length - 1 ? s.count : 10 ** (k / data.spectrum_steps), y }));

// spectrumAxis is the abscissa of times by percentile.
const spectrumAxis = (longest) => ({ title: "percentile", type: "number", log: true, ticks: decades.filter((d) => d <= longest),
  text: shareText });

// panelsBySpectrum are distributions by percentile: of each load the size that most algorithms have.
function panelsBySpectrum() {
  const wanted = spectrumOf(data.metrics[state.metric]);
  const having = data.cells.map((c, i) => [c, i]).filter(([c]) => c.spectra?.length && wantedLoad(c.load) && wantedNodes(c.n));
  return d3.groups(having, ([c]) => c.load).flatMap(([load, cells]) => {
    const sizes = d3.groups(cells, ([c]) => c.n).sort((a, b) => b[1].length - a[1].length || b[0] - a[0]);
    return (state.nodes ? sizes : sizes.slice(0, 1)).map(([n, some]) => {
      const series = some.filter(([c]) => wantedLabel(c.label)).sort(([a], [b]) => a.label - b.label).map(([c, i]) => {
        const s = c.spectra.find((q) => q.title === wanted) ?? (wanted ? undefined : c.spectra[0]);
        const points = s ? spectrumPoints(s) : [];
        points.forEach((p) => {
          p.cell = i;
          p.tip = () => [el("strong", { style: `color: ${colorOf(c.label)}` }, data.labels[c.label].name),
            el("p", {}, `${shareText(p.x)} of the times are at most ${time(p.y)}`),
            el("p", {}, `N = ${n} · ${data.loads[load].brief} · ${plural(c.runs, "repetition")}`)];
        });
        return { label: c.label, role: "curve", points };
      });
      const longest = Math.max(1, ...series.flatMap((s) => s.points.map((p) => p.x)));
      return {
        title: [data.loads.length > 1 ? data.loads[load].brief : "", `N = ${n}`].filter(Boolean).join(" · "), x: spectrumAxis(longest),
          series,
        y: { title: wanted ?? some[0][0].spectra[0].title, type: "time" },
      };
    });
  }).filter((p) => p.series.some((s) => s.points.length));
}

// columnsFor is how many panels stand side by side.
function columnsFor(panels, width) {
  const fit = width >= 1000 ? 3 : width >= 620 ? 2 : 1;
  return panels === 4 ? Math.min(fit, 2) : Math.min(fit, panels);
}

function showFigures() {
  const section = document.getElementById("figure");
  if (!data.cells?.length || !data.metrics?.length) return;
  const m = data.metrics[state.metric], axis = data.axes?.find((a) => a.name === state.against);
  const panels = axis ? panelsAlong(axis) : state.against === "algorithm" ? panelsByLabel()
    : state.against === "percentile" ? panelsBySpectrum() : panelsOverN();
  const what = { n: "nodes N", algorithm: "algorithm", percentile: "percentile" }[state.against] ?? lower(axis?.title ?? "");
  const title = state.against === "percentile" ? `${upper(panels[0]?.y.title ?? "time")} by percentile`
    : state.against === "algorithm" ? `${m.title} by algorithm` : `${m.title} against ${what}`;
  if (!panels.length) {
    section.replaceChildren(el("p", { class: "muted" }, nothingShown(m)));
    return;
  }
  const shown = state.all ? panels : panels.slice(0, mostPanels);
  const width = section.clientWidth, columns = columnsFor(shown.length, width);
  const each = (width - 16 * (columns - 1)) / columns, height = columns === 1 ? Math.min(440, Math.max(260, each * 0.55))
    : Math.min(340, each * 0.72);
  const drawn = shown.map((p) => panel({
    y: { title: lower(m.title), type: m.type }, ...p, log: state.log, width: each, height, open: (q) => openCell(q.cell),
  }));
  const said = ["n", "algorithm"].includes(state.against) || axis
    ? `Medians with their 95% intervals${predictsAny(shown) ? "; dashed: predicted exactly or on average, dotted: a bound" : ""}. `
      + "A click on a point opens its runs."
    : "All repetitions together. A click on a curve opens its runs.";
  const more = panels.length > mostPanels && button(state.all ? "show fewer" : `show ${panels.length - mostPanels} more panels`, "",
    () => change({ all: !state.all }));
  section.replaceChildren(figure(`${slug(title)}`, title, drawn, said, columns, more));
}

const predictsAny = (panels) => panels.some((p) => p.series.some((s) => ["exact", "bound"].includes(s.role) && s.points.length));

// nothingShown says why there is no figure.
function nothingShown(m) {
  if (data.labels.every((_, i) => state.hidden.has(i))) return "All algorithms are hidden: choose one in the bar.";
  const silent = data.loads.some((l, i) => wantedLoad(i) && l.silent?.includes(state.metric));
  if (silent) return `${m.title} says nothing of its own under what is chosen: choose another metric or load.`;
  return `There is nothing to draw: no ${lower(m.title)} was measured under what is chosen. The table below has all numbers.`;
}

// figure is a title, panels, what they are, and how to take them away.
function figure(name, title, panels, caption, columns, more) {
  const f = el("figure", { class: "drawn", "data-name": name });
  f.append(
    el("div", { class: "head" }, el("h2", {}, title), el("span", { class: "files", role: "group", "aria-label": `Save ${title}` },
      button("SVG", `Save as SVG: ${title}`, () => saveSVG(f)), button("PNG", `Save as PNG: ${title}`, () => savePNG(f)),
      button("data", `Save the numbers as CSV: ${title}`, () => saveData(f)))),
    el("div", { class: "panels", style: `grid-template-columns: repeat(${columns}, minmax(0, 1fr))` }, panels),
    el("figcaption", { class: "muted" }, caption, " ", more ?? null));
  f.panels = panels;
  return f;
}
