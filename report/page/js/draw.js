// Drawing: one panel by Observable Plot, whatever its data, and what happens under the pointer.

const named = (label) => ({
  render(index, scales, values, dimensions, context, next) {
    const g = next(index, scales, values, dimensions, context);
    if (g && label >= 0) g.setAttribute("data-series", label);
    return g;
  },
});

const dashes = { exact: "6,4", mean: "6,4", bound: "1.5,3.5" };

// marksOf draws a series: {label, role, points: [{x, y, lo, hi}], dx}.
function marksOf(s) {
  const stroke = colorOf(s.label ?? -1), dx = s.dx ?? 0, on = { x: "x", y: "y", dx, ...named(s.label ?? -1) };
  const symbol = symbolOf(Math.max(0, s.label ?? 0));
  const interval = s.points.filter((p) => isFinite(p.lo) && isFinite(p.hi) && p.hi > p.lo);
  const bars = Plot.ruleX(interval, { x: "x", y1: "lo", y2: "hi", dx, stroke, strokeWidth: 1.5, ...named(s.label ?? -1) });
  const dots = Plot.dot(s.points, {
    ...on, symbol, r: s.small ? 2 : 4.2, stroke, fill: s.small || !hollow(s.label ?? 0) ? stroke : "var(--paper)",
    strokeWidth: s.small ? 0 : 1.5, fillOpacity: s.small ? 0.55 : 1,
  });
  switch (s.role) {
    case "points": return s.small ? [dots] : [bars, dots];
    case "curve": return [Plot.line(s.points, { ...on, stroke, strokeWidth: s.width ?? 1.8, strokeOpacity: s.faint ? 0.45 : 1 })];
    case "band": return [Plot.areaY(s.points, { x: "x", y1: "lo", y2: "hi", fill: stroke, fillOpacity: 0.15, ...named(s.label ?? -1) })];
    case "exact": case "bound":
      return [Plot.line(s.points, { ...on, stroke, strokeWidth: 1.3, strokeOpacity: 0.85, strokeDasharray: dashes[s.role] })];
  }
  return [Plot.line(s.points, { ...on, stroke, strokeWidth: 1.8 }), bars, dots];
}

// ticksFor keeps those of some values that have room beside one another, and the last.
function ticksFor(values, apply, room) {
  const kept = [];
  for (const v of [...values].sort((a, b) => b - a)) {
    if (!kept.length || Math.abs(apply(v) - apply(kept.at(-1))) >= room) kept.push(v);
  }
  return kept.reverse();
}

const spread = (values) => [Math.min(...values), Math.max(...values)];

// ordinate chooses the domain so that medians are seen: intervals and predictions far beyond
// them are cut at its end.
function ordinate(series, log) {
  const inner = series.filter((s) => !["exact", "bound"].includes(s.role)).flatMap((s) => s.points.map((p) => p.y)).filter((y) =>
    isFinite(y));
  const outer = series.flatMap((s) => s.points.flatMap((p) => [p.y, p.lo, p.hi])).filter((y) => isFinite(y));
  const base = inner.length ? inner : outer;
  if (!base.length) return [0, 1];
  if (log) {
    const [lo, hi] = spread(base.filter((y) => y > 0).concat(base.some((y) => y > 0) ? [] : [1]));
    const wide = outer.filter((y) => y > 0 && y >= lo / 3 && y <= hi * 3).concat([lo, hi]);
    const [a, b] = spread(wide);
    return a === b ? [a / 2, b * 2] : [a / 1.1, b * 1.1];
  }
  const [lo, hi] = spread(base);
  const limit = Math.max(hi * 1.6, hi);
  const top = Math.max(hi, ...outer.filter((y) => y <= limit)), bottom = Math.min(0, lo, ...outer.filter((y) => y >= Math.min(0, lo)));
  return top === bottom ? [bottom, top + 1] : [bottom, top + 0.04 * (top - bottom)];
}

const typed = (type) => (x) => write(type, x);

// tickText writes the ticks of an axis in one unit, so that they are short.
function tickText(type, domain) {
  if (type !== "time") return { unit: "", text: typed(type) };
  const top = Math.max(...domain.map(Math.abs));
  const [divisor, unit] = timeUnits.find(([d]) => top >= d) ?? [1, "ns"];
  return { unit: ` (${unit})`, text: (x) => number(x / divisor) };
}

// panel draws series over one abscissa and returns the element. spec: {title, x, y, series,
// events, log, width, height, tip, open, describe}. An axis is {title, type, log, names, at}.
function panel(spec) {
  const { x, y } = spec, width = Math.max(220, Math.round(spec.width));
  const series = spec.series.filter((s) => s.points.length);
  const everyX = series.flatMap((s) => s.points.map((p) => p.x));
  const yLog = Boolean(spec.log ?? y.log) && series.some((s) => s.points.some((p) => p.y > 0));
  const yDomain = ordinate(series, yLog), yText = tickText(y.type, yDomain);
  const words = Boolean(x.names?.length);
  const xDomain = words ? [-0.5, x.names.length - 0.5] : everyX.length ? spread(everyX) : [0, 1];
  const xLog = !words && (x.log ?? (x.at && xDomain[0] > 0 && xDomain[1] / xDomain[0] > 8));
  const xText = words ? { unit: "", text: (i) => x.names[i] ?? "" } : x.text ? { unit: "", text: x.text } : tickText(x.type, xDomain);
  const leftmost = Math.max(...(yLog ? yDomain : [yDomain[1], yDomain[1] / 2, yDomain[1] / 3]).map((v) => yText.text(v).length));
  const margin = { marginLeft: Math.min(88, 22 + 7 * leftmost), marginRight: 14, marginTop: 26, marginBottom: 40 };
  const inner = width - margin.marginLeft - margin.marginRight;
  // Names that have no room beside one another stand aslant, as long as there is room to the left.
  const longest = words ? Math.max(...x.names.map((n) => n.length)) : 0, aslant = longest * 6.4 > inner / (x.names?.length ?? 1);
  const letters = aslant ? Math.max(8, Math.min(24, longest, Math.floor((margin.marginLeft + inner / x.names.length / 2) / 6.4))) : 24;
  if (aslant) margin.marginBottom = 32 + 4.2 * letters;
  const height = spec.height + margin.marginBottom - 40;
  const flat = xDomain[0] === xDomain[1];
  const domain = words || !flat ? xDomain : [xDomain[0] * 0.5, xDomain[0] * 1.5 || 1];
  const at = (v) => inner * (xLog ? Math.log(v / domain[0]) / Math.log(domain[1] / domain[0]) : (v - domain[0]) / (domain[1] - domain[0]));
  const room = words ? 11 : 14 + 7 * Math.max(1, ...distinct(everyX).slice(0, 40).map((v) => xText.text(v).length));
  const measured = distinct(series.filter((s) => ["measured", "points"].includes(s.role)).flatMap((s) => s.points.map((p) => p.x)));
  const ticks = words ? ticksFor(x.names.map((_, i) => i), at, room) : x.at ? ticksFor(measured, at, room) : x.ticks
    && ticksFor(x.ticks, at, 34);
  const yTicks = Math.max(2, Math.floor(spec.height / 52));
  const clipName = (n) => (n.length > letters ? `${n.slice(0, letters - 1)}…` : n);
  const plot = Plot.plot({
    width, height, ...margin, className: "plot", clip: true, style: { background: "transparent", color: "var(--ink)", fontSize: "12px",
      fontFamily: "inherit" },
    x: { type: xLog ? "log" : "linear", domain, label: null, insetLeft: words ? 0 : 12, insetRight: words ? 0 : 12 },
    y: { type: yLog ? "log" : "linear", domain: yDomain, label: null, nice: false },
    marks: [
      Plot.gridY({ stroke: "var(--rule)", strokeOpacity: 1, ...(yLog ? {} : { ticks: yTicks }) }),
      Plot.axisY({
        ticks: yLog ? d3.scaleLog(yDomain, [0, 1]).ticks() : yTicks, label: null, color: "var(--muted)", tickSize: 0,
        tickFormat: (v) => (yLog && !decade(v, yDomain) ? "" : yText.text(v)),
      }),
      Plot.axisX({
        ticks, tickFormat: (v) => clipName(String(xText.text(v))), label: null, color: "var(--muted)", tickSize: words ? 0 : 5, clip: false,
        ...(aslant ? { tickRotate: -38, textAnchor: "end" } : {}),
      }),
      Plot.ruleY([yDomain[0]], { stroke: "var(--muted)" }),
      ...(spec.events ?? []).flatMap((e) => eventMarks(e)),
      ...["band", "exact", "bound", "curve", "measured", "points"].flatMap((role) =>
        series.filter((s) => s.role === role).sort((a, b) => Boolean(b.small) - Boolean(a.small)).flatMap(marksOf)),
    ],
  });
  const heading = d3.select(plot).append("text").attr("class", "ordinate").attr("x", 4).attr("y", 12).attr("text-anchor",
    "start").attr("fill", "var(--muted)");
  heading.text(cutTo(y.title + yText.unit, (width - 8) / 6.6));
  d3.select(plot).append("text").attr("class", "abscissa").attr("x", margin.marginLeft + inner / 2).attr("y", height - 4)
    .attr("text-anchor", "middle").attr("fill", "var(--muted)").text(cutTo(x.title + xText.unit, inner / 6.2));
  for (const g of plot.querySelectorAll("g[aria-label]")) g.removeAttribute("aria-label"); // the whole has a name
  plot.setAttribute("role", "img");
  plot.setAttribute("aria-label", `${spec.title ? `${spec.title}: ` : ""}${y.title} against ${x.title}. The table has the numbers.`);
  const holder = el("div", { class: "panel" }, spec.title ? el("h3", { dir: "auto" }, spec.title) : null, plot);
  holder.spec = { ...spec, series };
  const scaleX = plot.scale("x"), scaleY = plot.scale("y");
  const spots = series.filter((s) => !s.small && s.role !== "band").flatMap((s) => s.points.filter((p) => p.tip).map((p) => ({
    cx: scaleX.apply(p.x) + (s.dx ?? 0), cy: Math.max(margin.marginTop, scaleY.apply(p.y)), point: p, label: s.label ?? -1,
  }))).sort((a, b) => a.cx - b.cx || a.cy - b.cy);
  if (spots.length) reachable(holder, plot, spots, spec);
  return holder;
}

const cutTo = (text, letters) => (text.length > letters ? `${text.slice(0, Math.max(4, Math.floor(letters) - 1))}…` : text);

// decade keeps the ticks of a logarithmic axis that are written.
function decade(v, [lo, hi]) {
  const first = v / 10 ** Math.floor(Math.log10(v) + 1e-9);
  if (hi / lo < 8) return true;
  return Math.log10(hi / lo) > 2.2 ? Math.abs(first - 1) < 1e-6 : [1, 2, 5].some((d) => Math.abs(first - d) < 1e-6);
}

// eventMarks draw a fault as a line, and as an area while it lasts.
function eventMarks(e) {
  const area = e.lasts ? [Plot.rect([e], { x1: "at", x2: (d) => d.at + d.lasts, fill: "var(--bad)", fillOpacity: 0.12 })] : [];
  return [...area, Plot.ruleX([e], { x: "at", stroke: "var(--bad)", strokeDasharray: "3,3", clip: true })];
}

// reachable lets pointer and keyboard go from point to point.
function reachable(holder, plot, spots, spec) {
  const { y } = spec;
  holder.tabIndex = 0;
  holder.setAttribute("role", "group");
  const enter = spec.open ? ", Enter opens its runs" : "";
  holder.setAttribute("aria-label", `${spec.title || y.title}: arrow keys go from point to point${enter}`);
  let current = -1;
  const choose = (i) => {
    current = i;
    showTip(plot, spots[i], spec);
  };
  const nearest = (event) => {
    const box = plot.getBoundingClientRect(), scale = plot.viewBox.baseVal.width / box.width;
    const [px, py] = [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
    const far = spots.map((s) => Math.hypot(s.cx - px, s.cy - py)), i = d3.minIndex(far);
    return far[i] < 32 ? i : -1;
  };
  holder.addEventListener("pointermove", (event) => {
    const i = nearest(event);
    if (i < 0) hideTip();
    else choose(i);
    plot.style.cursor = i >= 0 && spec.open ? "pointer" : "";
  });
  holder.addEventListener("pointerleave", hideTip);
  holder.addEventListener("blur", hideTip);
  plot.addEventListener("click", (event) => {
    const i = nearest(event);
    if (i >= 0) spec.open?.(spots[i].point);
  });
  holder.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      choose((current + step + spots.length) % spots.length);
    }
    if (event.key === "Escape") hideTip();
  });
  // Not when it is pressed: then it would also press the first button of what opens.
  holder.addEventListener("keyup", (event) => {
    if (event.key === "Enter" && current >= 0) spec.open?.(spots[current].point);
  });
}

function showTip(plot, spot, spec) {
  const tip = document.getElementById("tip");
  tip.replaceChildren(...spot.point.tip());
  (plot.closest("dialog") ?? document.body).append(tip);
  tip.hidden = false;
  const box = plot.getBoundingClientRect(), scale = box.width / plot.viewBox.baseVal.width;
  const x = box.left + spot.cx * scale, y = box.top + spot.cy * scale;
  const left = Math.min(x + 14, document.documentElement.clientWidth - tip.offsetWidth - 8);
  tip.style.left = `${Math.max(8, left)}px`;
  const below = y + 16;
  tip.style.top = `${below + tip.offsetHeight < window.innerHeight ? below : Math.max(8, y - tip.offsetHeight - 14)}px`;
  d3.select(plot).selectAll(".ring").data([spot]).join("circle").attr("class", "ring").attr("r", 8).attr("fill", "none")
    .attr("stroke", "var(--ink)").attr("cx", (s) => s.cx).attr("cy", (s) => s.cy);
  showTip.plot = plot;
}

function hideTip() {
  document.getElementById("tip").hidden = true;
  if (showTip.plot) d3.select(showTip.plot).selectAll(".ring").remove();
}

// plotPanel draws a figure that comes with its own data.
function plotPanel(p, width) {
  const x = { title: p.x.title, type: p.x.type, log: p.x.log, names: p.x.names };
  const y = { title: p.y.title, type: p.y.type, log: p.y.log };
  const series = p.series.map((s) => ({
    label: s.label ?? -1, role: s.role, name: s.name,
    points: s.points.map(([px, py, lo, hi], i) => ({
      x: px, y: py, lo, hi,
      tip: ["measured", "points"].includes(s.role) ? () => [
        el("strong", {}, s.label >= 0 ? data.labels[s.label].name : s.name ?? ""),
        el("p", {}, s.tips?.[i] ?? `${write(y.type, py)} at ${x.names ? x.names[px] : write(x.type, px)}`),
      ] : undefined,
    })),
  }));
  const drawn = panel({ x, y, series, events: p.events, width, height: Math.min(360, Math.max(240, width * 0.5)) });
  const kinds = { exact: "dashed", bound: "dotted", curve: "line", band: "area" };
  const key = distinct(p.series.filter((s) => s.name).map((s) => `${kinds[s.role] ?? "points"}: ${s.name}`)).join("; ");
  return figure(p.name, p.title, [drawn], [p.caption, key].filter(Boolean).join(". "), 1);
}
