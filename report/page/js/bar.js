// The bar that stays in sight: algorithms, and what is shown of them.

const distinct = (values) => [...new Set(values)];

function showBar() {
  const bar = document.getElementById("bar");
  bar.hidden = !data.labels?.length;
  if (showBar.of !== data) {
    showBar.of = data;
    bar.replaceChildren(chips(), el("div", { class: "choices" }));
  }
  for (const chip of bar.querySelectorAll(".chip")) chip.setAttribute("aria-pressed",
    String(!state.hidden.has(Number(chip.dataset.series))));
  const focused = bar.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  bar.lastChild.replaceChildren(...choices());
  if (focused) bar.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
}

function chips() {
  let before; // what was hidden before the first click of two
  const all = (data.labels ?? []).map((l, i) => el("button", {
    type: "button", class: "chip", "data-series": i,
    title: `${l.name}: click to hide or show it, double-click (or Shift and click) for it alone`,
    onclick: (e) => {
      if (e.detail > 1) return;
      before = state.hidden;
      if (e.shiftKey) alone(i, before);
      else toggle(i);
      highlight(i);
    },
    ondblclick: () => alone(i, before),
    onpointerenter: () => highlight(i), onpointerleave: () => highlight(-1), onfocus: () => highlight(i), onblur: () => highlight(-1),
  }, markOf(i), el("bdi", {}, l.name)));
  return el("div", { class: "chips", role: "group", "aria-label": "Algorithms" }, all);
}

function choices() {
  const menus = [];
  const add = (key, node) => {
    (node.querySelector("select, input") ?? node).dataset.key = key;
    menus.push(node);
  };
  if (data.metrics?.length && data.cells?.length) {
    const networks = distinct(data.loads.map((l) => l.network));
    const workloads = distinct(data.loads.map((l) => l.workload));
    const sizes = distinct(data.cells.map((c) => c.n)).sort((a, b) => a - b);
    const named = (values, all) => [["", all], ...values.map((v) => [v, v])];
    if (networks.length > 1) add("network", menu("network", named(networks, "all"), state.network, (network) => change({ network })));
    if (workloads.length > 1) add("load", menu("load", named(workloads, "all"), state.load, (load) => change({ load })));
    if (sizes.length > 1) {
      add("n", menu("N", [[0, "all"], ...sizes.map((n) => [n, n])], state.nodes, (n) => change({ nodes: Number(n) })));
    }
    add("metric", menu("metric", metricChoices(), state.metric, (m) => change({ metric: Number(m) })));
    const views = viewChoices();
    if (views.length > 1) add("against", menu("against", views, state.against, (against) => change({ against })));
    const check = (key, text, title) => {
      const box = el("input", { type: "checkbox", checked: state[key], onchange: () => change({ [key]: box.checked }) });
      add(key, el("label", { class: "check", title }, box, text));
    };
    check("log", "log", "Logarithmic ordinate");
    check("points", "repetitions", "Show each repetition as a small point");
  }
  return menus;
}

// metricChoices are the metrics that say something under some load that is shown.
function metricChoices() {
  const loads = data.loads.map((_, i) => i).filter(wantedLoad);
  const all = data.metrics.map((m, i) => [i, m]);
  const spoken = state.against === "percentile"
    ? all.filter(([, m]) => /_p50_ns$/.test(m.name) && spectrumOf(m))
    : all.filter(([i, m]) => (m.better || m.name === "t_ns") && loads.some((l) => !data.loads[l].silent?.includes(i)));
  if (!spoken.some(([i]) => i === state.metric)) spoken.unshift([state.metric, data.metrics[state.metric]]);
  return spoken.map(([i, m]) => [i, state.against === "percentile" ? spectrumOf(m) ?? m.title : m.title]);
}

function viewChoices() {
  const sizes = new Map();
  for (const c of data.cells) sizes.set(c.load, (sizes.get(c.load) ?? new Set()).add(c.n));
  const views = [];
  if ([...sizes.values()].some((s) => s.size > 1)) views.push(["n", "nodes N"]);
  for (const a of data.axes ?? []) views.push([a.name, a.title]);
  views.push(["algorithm", "algorithm"]);
  if (data.cells.some((c) => c.spectra?.length)) views.push(["percentile", "percentile"]);
  if (!views.some(([v]) => v === state.against)) state.against = views[0][0];
  return views;
}

// highlight lets one series stand out in all figures and tables.
function highlight(label) {
  const sheet = document.getElementById("highlight");
  sheet.textContent = label < 0 || state.hidden.has(label) ? ""
    : `[data-series]:not([data-series="${label}"]):not(.chip) { opacity: 0.13; } tr[data-series="${label}"] { background: var(--touch); }`;
}
