// What a point or a row opens: the runs behind it, or what its row has more.

function open(key) {
  state.open = key;
  writeState();
  showOpen();
}

const openCell = (i) => open(`c${i}`);

// showOpen shows what is open, and closes what is not.
function showOpen() {
  const dialog = document.getElementById("more");
  hideTip();
  if (!state.open) {
    if (dialog.open) dialog.close();
    return;
  }
  const [id, row] = state.open.split("."), table = (data.tables ?? []).find((t) => t.id === id);
  const body = /^c\d+$/.test(state.open) && data.cells?.[state.open.slice(1)] ? cellBody
    : table?.rows[row]?.open ? moreBody : undefined;
  if (!body) {
    state.open = "";
    return;
  }
  const close = el("form", { method: "dialog" }, el("button", { class: "close", "aria-label": "Close" }, "close"));
  const inside = el("div", { class: "inside" });
  dialog.replaceChildren(close, inside);
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
  if (body === cellBody) cellBody(inside, Number(state.open.slice(1)));
  else moreBody(inside, table, Number(row));
}

const dialogWidth = () => document.getElementById("more").clientWidth - 40;

// moreBody is what a row of a table has more.
function moreBody(inside, table, i) {
  const { open, values, label } = table.rows[i];
  const named = table.columns.map((c, k) => [c.title, shownAs(valueOf(values[k]), c)]).filter(([, v]) => v && v !== "–");
  inside.append(
    el("h2", {}, label >= 0 ? markOf(label, 16) : null, " ", el("bdi", {}, label >= 0 ? data.labels[label].name
      : shownAs(valueOf(values[0]), table.columns[0]))),
    el("dl", { class: "facts" }, named.map(([k, v]) => [el("dt", {}, k), el("dd", {}, v)])),
    ...(open.text ?? []).map((text) => el("p", {}, text)), ...(open.commands ?? []).map(command),
    ...(open.pre ? [el("pre", { tabindex: 0 }, open.pre)] : []), ...(open.plots ?? []).map((p) => plotPanel(p, dialogWidth())));
}

// cellBody shows the repetitions of a cell: one of them, or all together.
function cellBody(inside, i) {
  const cell = data.cells[i], load = data.loads[cell.load], runs = runsOf(i);
  inside.append(
    el("h2", {}, markOf(cell.label, 16), " ", el("bdi", {}, data.labels[cell.label].name), ` · N = ${cell.n}`),
    el("p", { class: "muted" }, load.title));
  for (const text of [...(cell.notes ?? []), ...(cell.warnings ?? []).map((w) => data.warnings[w].text)]) inside.append(el("p",
    { class: "warned" }, `⚠ ${text}`));
  if (cell.command) inside.append(el("p", { class: "muted small" }, "The first of these runs, again:"), command(cell.command));
  for (const p of (cell.predictions ?? []).filter((q) => q.metric === state.metric)) {
    inside.append(predictionLine(p, data.metrics[state.metric], estimate(cell, state.metric)));
  }
  if (!runs.length) {
    inside.append(el("p", {}, (data.left_out ?? []).join(" ") || "There is nothing more of its runs."));
    return;
  }
  const shown = data.metrics.map((m, k) => k).filter((k) => !data.metrics[k].minor && runs.some((r) => typeof r.values?.[k] === "number"));
  const t = new Table({
    id: "runs", title: "Runs", columns: [
      { key: "repetition", title: "run", type: "number" }, { key: "seed", title: "seed", type: "number" },
        { key: "status", title: "status", type: "text" },
      ...shown.map((k) => ({ key: data.metrics[k].name, title: lower(data.metrics[k].title), type: data.metrics[k].type,
        better: data.metrics[k].better })),
    ],
    rows: runs.map((r) => ({ values: [r.rep, { t: r.seed, v: Number(r.seed) }, { t: r.status, c: r.status === "ok" ? "" : "bad" },
      ...shown.map((k) => r.values[k])] })),
  });
  t.changed = () => t.show();
  const pictures = el("div", {}), which = el("div", {});
  let run = "";
  const redraw = () => {
    which.replaceChildren(menu("shown", [["", "all runs"], ...runs.map((r, k) => [k, `run ${r.rep}, seed ${r.seed}`])], run, (v) => {
      run = v;
      redraw();
    }));
    pictures.replaceChildren(...runPictures(cell, run === "" ? runs : [runs[run]], run !== ""));
  };
  inside.append(t.element(), which, pictures);
  t.show();
  redraw();
}

// runPictures draw what runs were like inside.
function runPictures(cell, runs, single) {
  const details = runs.map((r) => r.detail).filter(Boolean), width = dialogWidth(), half = width > 760 ? (width - 16) / 2 : width;
  const out = [], at = (title, x, y, series, extra) => panel({ title, x, y, series, width: half, height: Math.max(230, half * 0.52),
    ...extra });
  const name = slug(`${data.labels[cell.label].name} n${cell.n}`);
  const add = (kind, title, panels, caption) => {
    if (panels.length) out.push(figure(`${kind}-${name}`, title, panels, caption, half < width ? 2 : 1));
  };
  if (!details.length) {
    if (data.left_out?.length) out.push(el("p", { class: "muted" }, data.left_out.join(" ")));
    return out;
  }
  const titles = distinct(details.flatMap((d) => (d.spectra ?? []).map((s) => s.title)));
  add("percentiles", "Times by percentile", titles.map((title) => {
    const series = details.map((d) => d.spectra?.find((s) => s.title === title)).filter(Boolean)
      .map((s) => ({ label: cell.label, role: "curve", faint: !single, width: single ? 2 : 1, points: spectrumPoints(s) }));
    const all = cell.spectra?.find((s) => s.title === title);
    if (!single && all) {
      const points = spectrumPoints(all);
      points.forEach((p) => (p.tip = () => [el("p", {}, `${shareText(p.x)} of the ${title}s are at most ${time(p.y)}`)]));
      series.push({ label: cell.label, role: "curve", width: 2.4, points });
    }
    const longest = Math.max(1, ...series.flatMap((s) => s.points.map((p) => p.x)));
    return at(title, spectrumAxis(longest), { title, type: "time" }, series);
  }), single ? "" : "Thin: each run; thick: all of them together.");
  const courses = details.filter((d) => d.interval && d.entries?.length > 1);
  if (courses.length) {
    const faults = single ? courses[0].faults ?? [] : courses.flatMap((d) => d.faults ?? []);
    const x = { title: "time since the start", type: "time" };
    const over = (of) => courses.map((d) => ({
      label: cell.label, role: "curve", faint: !single, points: d.entries.map((e,
        k) => ({ x: (k + 0.5) * d.interval, y: of(d, k) })).filter((p) => p.y !== null && p.y !== undefined),
    }));
    add("course", "Course of the run", [
      at("Throughput", x, { title: "entries per second", type: "number" }, over((d, k) => (1e9 * d.entries[k]) / d.interval),
        { events: faults }),
      at("Waiting time of those that entered, p99", x, { title: "p99", type: "time" }, over((d, k) => d.p99?.[k]), { events: faults }),
    ], distinct(faults.map((f) => f.text)).slice(0, 6).join("; "));
  }
  const nodes = (title, of) => {
    const lists = details.map(of).filter((l) => l?.length);
    if (!lists.length) return [];
    const points = lists.flatMap((l) => l.map((y, k) => ({ x: k + 1, y, tip: () => [el("p", {}, `node ${k + 1}: ${number(y)}`)] })));
    return [at(title, { title: "node", type: "number", at: true, log: false, text: number }, { title: title.toLowerCase(), type: "number" },
      [{ label: cell.label, role: "points", points }])];
  };
  add("nodes", "Who did the work, and who entered", [
    ...nodes("Messages sent and handled", (d) => d.sent?.map((s, k) => s + (d.handled?.[k] ?? 0))), ...nodes("Entries", (d) => d.entered),
  ], "");
  const facts = distinct(runs.map((r) => r.env).filter((e) => e >= 0));
  for (const e of facts.slice(0, 3)) {
    out.push(el("details", {}, el("summary", {}, facts.length > 1 ? `Environment of ${runs.filter((r) => r.env === e).length} runs`
      : "Environment"),
      el("dl", { class: "facts" }, data.environments[e].map(([k, v]) => [el("dt", {}, k), el("dd", {}, v)]))));
  }
  return out;
}
