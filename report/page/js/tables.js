// Tables that sort, filter, choose their columns and are copied.

const tables = [];

const valueOf = (v) => (v === null || v === undefined ? {} : typeof v === "object" ? v : typeof v === "number" ? { v } : { t: v });
const shownAs = (v, column) => v.t ?? (v.v === undefined || v.v === null ? "–" : write(column.type, v.v));

const fewRows = 40;

class Table {
  constructor(spec) {
    Object.assign(this, { spec, id: `table-${spec.id}`, sort: -1, down: false, words: "", chosen: {}, most: fewRows });
    this.visible = new Set(spec.columns.map((c, i) => i).filter((i) => !spec.columns[i].hidden));
    this.rows = spec.rows.map((row, i) => ({ row, i, values: row.values.map(valueOf) }));
  }

  // state is what a link says of the table: "key,down,words".
  state() {
    const parts = [this.sort >= 0 ? this.spec.columns[this.sort].key : "", this.down ? "1" : "", this.words,
      ...Object.entries(this.chosen).filter(([, v]) => v).map(([k, v]) => `${k}=${v}`)];
    return parts.some(Boolean) ? parts.map(encodeURIComponent).join(",") : "";
  }

  read(text) {
    const [key, down, words, ...chosen] = (text ?? "").split(",").map(decodeURIComponent);
    this.sort = this.spec.columns.findIndex((c) => c.key === key);
    this.down = down === "1";
    this.words = words ?? "";
    this.chosen = Object.fromEntries(chosen.map((c) => [c.slice(0, c.indexOf("=")), c.slice(c.indexOf("=") + 1)]));
  }

  // wanted are the rows that are shown, in their order.
  wanted() {
    const { columns } = this.spec, find = this.words.toLowerCase();
    const rows = this.rows.filter(({ row, values }) => wantedLabel(row.label) && wantedLoad(row.load) && wantedNodes(row.n)
      && Object.entries(this.chosen).every(([key, v]) => !v || shownAs(values[columns.findIndex((c) => c.key === key)] ?? {}, {}) === v)
      && (!find || values.some((v, i) => shownAs(v, columns[i]).toLowerCase().includes(find))));
    if (this.sort < 0) return rows;
    const of = (r) => {
      const v = r.values[this.sort];
      return v.v !== undefined && v.v !== null ? v.v : v.t === "–" || v.t === undefined ? undefined : v.t.toLowerCase();
    };
    const order = (a, b) => {
      const [x, y] = [of(a), of(b)];
      if (x === undefined || y === undefined) return (x === undefined) - (y === undefined);
      const less = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y), "en", { numeric: true });
      return this.down ? -less : less;
    };
    return [...rows].sort((a, b) => order(a, b) || a.i - b.i);
  }

  sortBy(i) {
    const better = this.spec.columns[i].better;
    if (this.sort !== i) [this.sort, this.down] = [i, better === "higher"];
    else if (this.down === (better === "higher")) this.down = !this.down;
    else [this.sort, this.down] = [-1, false];
    this.changed(`th${i}`);
  }

  changed(focus) {
    writeState();
    this.show();
    if (focus) this.holder.querySelector(`[data-key="${focus}"]`)?.focus();
  }

  tools() {
    const { columns } = this.spec;
    const filter = el("input", { type: "search", placeholder: "filter", "aria-label": `Filter ${this.spec.title}`, value: this.words });
    filter.addEventListener("input", () => {
      this.words = filter.value;
      writeState();
      this.show();
    });
    const choices = columns.filter((c) => c.choose).map((c) => {
      const i = columns.indexOf(c), all = distinct(this.rows.map((r) => shownAs(r.values[i] ?? {}, c))).sort((a, b) => a.localeCompare(b,
        "en", { numeric: true }));
      return all.length > 1 && menu(c.title, [["", "all"], ...all.map((v) => [v, v])], this.chosen[c.key] ?? "", (v) => {
        this.chosen[c.key] = v;
        this.changed();
      });
    });
    const boxes = columns.map((c, i) => {
      const box = el("input", { type: "checkbox", checked: this.visible.has(i), onchange: () => {
        if (box.checked) this.visible.add(i);
        else this.visible.delete(i);
        this.show();
      } });
      return el("label", {}, box, c.title);
    });
    const formats = Object.keys(copied).map((f) => button(f, `Copy ${this.spec.title} as ${f}`, () => copy(copied[f](this), f)));
    return el("div", { class: "tools" }, filter, choices, el("details", { class: "columns" }, el("summary", {}, "columns"),
      el("div", {}, boxes)),
      el("span", { class: "files", role: "group", "aria-label": `Copy ${this.spec.title}` }, "copy ", formats),
        el("span", { class: "count muted" }));
  }

  element() {
    const { spec } = this;
    this.body = el("tbody", {});
    this.head = el("thead", {});
    this.bar = this.tools();
    this.scroll = el("div", { class: "scroll", role: "region", tabindex: 0, "aria-label": spec.title },
      el("table", { id: this.id }, this.head, this.body));
    const inside = [this.bar, this.scroll, spec.note ? el("p", { class: "muted note" }, spec.note) : null];
    this.holder = spec.folded
      ? el("details", { class: "table" }, el("summary", {}, spec.title), inside)
      : el("section", { class: "table" }, el("h2", {}, spec.title), inside);
    this.scroll.addEventListener("scroll", () => {
      const { scrollTop, clientHeight, scrollHeight } = this.scroll;
      if (this.most < this.rows.length && scrollTop + clientHeight > scrollHeight - 300) this.showMore(100);
    });
    this.holder.addEventListener("toggle", () => this.show());
    return this.holder;
  }

  show() {
    if (this.spec.folded && !this.holder.open) return;
    const { columns } = this.spec, shown = [...this.visible].sort((a, b) => a - b), rows = this.wanted();
    this.head.replaceChildren(el("tr", {}, shown.map((i) => {
      const c = columns[i], sorted = this.sort === i;
      const kind = `${c.type === "text" ? "name" : ""} ${c.wide ? "wide" : ""}`.trim();
      const order = !sorted ? "none" : this.down ? "descending" : "ascending";
      return el("th", { scope: "col", class: kind, "aria-sort": order },
        button([c.title, c.unit ? ` (${c.unit})` : "", sorted ? (this.down ? " ▾" : " ▴") : ""].join(""), "Sort", () => this.sortBy(i),
          { "data-key": `th${i}` }));
    })));
    const group = (r) => (this.sort < 0 && r.row.load !== undefined ? `${r.row.load} ${r.row.n ?? ""}` : "");
    let before;
    this.body.replaceChildren(...rows.slice(0, this.most).map((r) => {
      const first = before !== undefined && before !== group(r);
      before = group(r);
      return this.line(r, shown, first);
    }));
    const all = plural(this.rows.length, "row"), counted = rows.length < this.rows.length ? `${rows.length} of ${all}` : all;
    this.bar.querySelector(".count").replaceChildren(...(rows.length > this.most
      ? [`${counted}, the first ${this.most} shown `, button("show all", "Show all rows", () => this.showMore(Infinity))] : [counted]));
  }

  // showMore shows more rows. Browsers take long to lay out many: the others come when they are scrolled to.
  showMore(rows) {
    this.most += rows;
    this.show();
  }

  // line is a row with the columns that are shown. It is made once: a choice in the bar only
  // takes rows out or puts them back.
  line(r, shown, first) {
    const key = shown.join();
    if (r.key !== key) [r.key, r.line] = [key, this.newLine(r, shown)];
    r.line.classList.toggle("first", first);
    return r.line;
  }

  newLine({ row, values, i: place, warned }, shown) {
    const { columns } = this.spec;
    const opens = row.open ? () => open(`${this.spec.id}.${place}`) : row.cell >= 0 ? () => openCell(row.cell) : undefined;
    return el("tr", { "data-series": row.label >= 0 ? row.label : undefined, class: row.weak ? "incomplete" : "" }, shown.map((i, k) => {
      const v = values[i] ?? {}, c = columns[i], text = shownAs(v, c), name = c.type === "text" ? el("bdi", {}, text) : text;
      const title = row.cell >= 0 ? "Open its runs" : "Open what is behind it", press = v.o ? () => open(v.o) : k === 0 ? opens : undefined;
      return el("td", { class: [c.type === "text" ? "name" : "", c.wide ? "wide" : "", v.c ?? ""].filter(Boolean).join(" ") || undefined,
        title: v.h },
        k === 0 && row.label >= 0 ? markOf(row.label) : null, press ? button("", title, press, { class: "opens" }, name) : name,
        k === 0 && warned ? el("span", { class: "warned", title: warned }, " ⚠") : null,
        v.s ? el("small", {}, v.s) : null, v.a ? el("small", { class: "against" }, v.a) : null);
    }));
  }
}

// copied writes a table as text, with the rows and columns that are shown.
const copied = {
  CSV: (t) => csv(grid(t, (v, c) => (c.type === "text" ? v.t ?? "" : v.v ?? v.t), true)),
  Markdown: (t) => {
    const safe = (text) => String(text ?? "").replaceAll("\\", "\\\\").replaceAll("|", "\\|").replaceAll("<", "&lt;").replace(/[\r\n]+/g,
      " ");
    const [head, ...rows] = grid(t, (v, c) => shownAs(v, c) + (v.s ? ` (${v.s})` : ""));
    const line = (cells) => `| ${cells.map(safe).join(" | ")} |\n`;
    return line(head) + `|${t.columnsShown().map((c) => (c.type === "text" ? " --- |" : " ---: |")).join("")}\n` + rows.map(line).join("");
  },
  LaTeX: (t) => {
    const signs = { "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "µ": "\\textmu{}", "−": "$-$",
      "–": "--", "≤": "$\\le$", "≥": "$\\ge$", "·": "$\\cdot$", "×": "$\\times$" };
    const safe = (text) => String(text ?? "").replace(/[\\~^µ−–≤≥·×&%$#_{}]/g, (c) => signs[c] ?? `\\${c}`)
      .replace(/[\r\n]+/g, " ");
    const [head, ...rows] = grid(t, (v, c) => shownAs(v, c) + (v.s ? ` [${v.s}]` : ""));
    const line = (cells) => `  ${cells.map(safe).join(" & ")} \\\\\n`;
    const sides = t.columnsShown().map((c) => (c.type === "text" ? "l" : "r")).join("");
    return `% Needs \\usepackage{booktabs}.\n\\begin{tabular}{${sides}}\n  \\toprule\n`
      + `${line(head)}  \\midrule\n${rows.map(line).join("")}  \\bottomrule\n\\end{tabular}\n`;
  },
};

Table.prototype.columnsShown = function () {
  return [...this.visible].sort((a, b) => a - b).map((i) => this.spec.columns[i]);
};

// grid is the head and the rows of a table; bounds of intervals are columns of their own.
function grid(t, text, bounds) {
  const shown = [...t.visible].sort((a, b) => a - b), { columns } = t.spec;
  const interval = (i) => bounds && t.rows.some((r) => r.values[i]?.lo !== undefined);
  const head = shown.flatMap((i) => {
    const name = bounds ? columns[i].key : columns[i].title;
    return interval(i) ? [name, `${name}_low`, `${name}_high`] : [name];
  });
  return [head, ...t.wanted().map((r) => shown.flatMap((i) => {
    const v = r.values[i] ?? {};
    return interval(i) ? [text(v, columns[i]), v.lo, v.hi] : [text(v, columns[i])];
  }))];
}

// results is the table of the cells: every metric is a column, and those that say most are shown.
function results() {
  const messages = data.metrics.findIndex((m) => m.name === "messages_per_cs");
  const theory = data.cells.some((c) => c.predictions?.some((p) => p.metric === messages));
  const columns = [
    { key: "label", title: "algorithm", type: "text" }, { key: "load", title: "load", type: "text", hidden: data.loads.length < 2 },
    { key: "nodes", title: "N", type: "number" }, { key: "runs", title: "runs", type: "number", better: "higher",
      hidden: !data.cells.some((c) => c.bad) },
    ...data.metrics.flatMap((m, k) => [
      { key: m.name, title: lower(m.title), type: m.type, better: m.better, hidden: m.minor || silentEverywhere(m) },
      ...(theory && k === messages ? [{ key: "predicted", title: "predicted", type: "text", wide: true }] : []),
    ]),
  ];
  const rows = data.cells.map((c, i) => ({
    label: c.label, load: c.load, n: c.n, cell: i, weak: Boolean(c.bad),
    values: [
      data.labels[c.label].name, data.loads[c.load].brief, c.n, c.bad
        ? { v: c.runs, t: `${c.runs} of ${c.runs + c.bad}`, c: "bad", h: c.notes?.join("; ") } : c.runs,
      ...data.metrics.flatMap((m, k) => [measured(c, m, k), ...(theory && k === messages ? [predicted(c, messages)] : [])]),
    ],
  }));
  const t = new Table({ id: "results", title: "Results", note: data.legend, columns, rows });
  t.rows.forEach((r, i) => (r.warned = [...(data.cells[i].notes ?? []),
    ...(data.cells[i].warnings ?? []).map((w) => data.warnings[w].text)].join("\n")));
  return t;
}

// measured is a metric of a cell as the table has it.
function measured(cell, m, k) {
  const e = estimate(cell, k);
  if (!e) return { t: "–" };
  return {
    v: e.median, t: write(m.type, e.median) + (e.clocks ? ` ± ${write(m.type, e.clocks)}` : ""), a: e.against,
    s: e.bounded ? between(m.type, e.median, e.lo, e.hi) : between(m.type, e.median, e.min, e.max),
    c: [e.standing, e.bounded ? "" : "weak"].filter(Boolean).join(" "), h: `${m.title}: ${write(m.type, e.median)}, ${extent(m, e)}`,
    lo: e.bounded ? e.lo : "", hi: e.bounded ? e.hi : "",
  };
}

const silentEverywhere = (m) => data.loads.every((l) => l.silent?.includes(data.metrics.indexOf(m)));

// predicted says what claims say of a cell's messages.
function predicted(cell, metric) {
  const all = (cell.predictions ?? []).filter((p) => p.metric === metric);
  const text = (p) => p.formula + (p.formula.replace(/^[≤≥] |^mean /, "") === number(p.value) ? "" : ` = ${number(p.value)}`)
    + (p.false ? " (known to be false)" : p.verdict ? `: ${p.verdict}` : "");
  const bad = all.some((p) => !p.false && broken.includes(p.verdict));
  return { t: all.length ? text(all[0]) : "–", s: all.slice(1, 3).map(text).join("; "),
    h: all.map((p) => `${text(p)} (${p.source})`).join("\n"), c: bad ? "bad" : "" };
}
