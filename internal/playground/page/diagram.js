// The space-time diagram: a lifeline for each node, time downwards, an arrow for each
// message. Only the rows in sight are drawn, so that a play of many thousand steps is as
// quick as a short one. A played schedule has a row for each step; a recorded run has its
// events where their times are.
class Diagram {
  constructor(box, { pick }) {
    this.box = box;
    this.pick = pick;
    this.canvas = svg("svg", { class: "spacetime", role: "img", "aria-label": "space-time diagram" }).create();
    this.spacer = document.createElement("div");
    this.spacer.className = "spacer";
    this.spacer.append(this.canvas);
    box.append(this.spacer);
    box.addEventListener("scroll", () => { if (box.scrollTop !== this.top) this.look(); });
    new ResizeObserver(() => this.look()).observe(box);
    this.row = 24;
    this.look();
  }

  // look notes what is in sight. To ask the box at each step would have the browser lay out the
  // page twice.
  look() {
    const { clientWidth, clientHeight, scrollTop } = this.box;
    [this.width, this.height, this.top] = [clientWidth, clientHeight, scrollTop];
    this.draw();
  }

  // show takes what is to be seen: lanes, rows, messages, sections, gaps, points; now is
  // the row until which it has happened.
  show(model, now) {
    this.model = model;
    this.now = now;
    // A play gets room for its next steps: not each is to scroll.
    const end = this.y(model.last) + 40, half = Math.max(100, this.height / 2);
    this.spacer.style.height = `${now <= model.last ? (Math.ceil(end / half) + 1) * half : end}px`;
    const y = this.y(Math.min(now, model.last));
    if (now <= model.last && (y > this.top + this.height - 50 || y < this.top + 40)) {
      this.box.scrollTop = Math.max(0, y - this.height / 2);
      this.top = this.box.scrollTop;
    }
    this.draw();
  }

  y(row) { return this.model.place ? this.model.place(row) : 34 + row * this.row; }

  draw() {
    const m = this.model;
    if (!m) return;
    const width = Math.max(this.width - 12, m.lanes.length * 34);
    const { height, top } = this, bottom = top + height;
    const base = Math.floor(top / 4096) * 4096; // numbers far from zero would be drawn inexactly
    const x = lane => 30 + (lane + 0.5) * (width - 40) / m.lanes.length;
    const y = row => this.y(row);
    this.canvas.setAttribute("viewBox", `0 ${top - base} ${width} ${height}`);
    this.canvas.style.cssText = `top: ${top}px; width: ${width}px; height: ${height}px`;
    const layers = [];
    const layer = (name, attributes) => layers.push(svg("g", { class: name, ...attributes }));
    const add = (name, attributes, text) => { const e = svg(name, attributes, text); layers.at(-1).append(e); return e; };
    const seen = (a, b) => y(b) >= top - 30 && y(a) <= bottom + 30;
    const at = row => y(row) - base;
    const later = row => row > this.now ? " later" : "";
    layer("lanes");
    m.lanes.forEach((name, lane) => {
      add("line", { class: "lane", x1: x(lane), x2: x(lane), y1: base ? 0 : 22, y2: 4096 + height });
      for (const g of m.gaps) {
        if (g.lane === lane && seen(g.from, g.to)) add("line", { class: "gap", x1: x(lane), x2: x(lane), y1: at(g.from), y2: at(Math.min(g.to, m.last)) });
      }
    });
    layer("sections");
    for (const [key, s] of m.sections.entries()) {
      if (!seen(s.from, s.to)) continue;
      const end = Math.min(s.to, Math.max(this.now, s.from), m.last);
      add("rect", { key, class: `section${s.bad ? " bad" : ""}${later(s.from)}`, x: x(s.lane) - 7, width: 14, y: at(s.from), height: Math.max(3, at(s.open ? end : s.to) - at(s.from)), rx: 3 });
    }
    layer("messages");
    let drawn = 0;
    const taken = []; // by labels: where one would lie over another it is left out, and the pointer tells it
    const free = (cx, cy, w) => {
      if (taken.some(t => Math.abs(t[0] - cx) < (t[2] + w) / 2 && Math.abs(t[1] - cy) < 11)) return false;
      taken.push([cx, cy, w]);
      return true;
    };
    for (const [key, g] of m.messages.entries()) {
      const last = g.end ?? Math.min(this.now, m.last);
      if (!seen(g.sent, last) || drawn++ > 1500) continue;
      const x1 = x(g.from), x2 = x(g.to), y1 = at(g.sent);
      const way = g.fate === "lost" ? 0.6 : g.fate === "way" ? 0.75 : 1;
      const yEnd = g.fate === "arrived" ? at(last) : Math.max(at(last), y1 + 14);
      const to = [x1 + (x2 - x1) * way, y1 + (yEnd - y1) * way];
      const kind = `k${g.kind % 8}`;
      add("line", { key, class: `message ${kind} ${g.fate}${later(g.sent)}`, x1, y1, x2: to[0], y2: to[1], "marker-end": g.fate === "lost" ? "url(#lost)" : `url(#arrow-${kind})` })
        .append(svg("title", {}, `${g.label}: ${m.lanes[g.from]} to ${m.lanes[g.to]}`));
      const length = Math.hypot(to[0] - x1, to[1] - y1);
      if (length > 34) {
        const here = [0.5, 0.32, 0.68].map(t => [x1 + (to[0] - x1) * t, y1 + (to[1] - y1) * t - 3]).find(([cx, cy]) => cy > top - base + 26 && free(cx, cy, g.short.length * 6.3));
        if (here) add("text", { key: `label of ${key}`, class: `label ${kind}${later(g.sent)}`, x: here[0], y: here[1], "text-anchor": "middle" }, g.short);
      }
    }
    layer("points");
    for (const [key, p] of m.points.entries()) {
      if (!seen(p.row, p.row)) continue;
      const cx = x(p.lane), cy = at(p.row);
      const c = `point ${p.mark}${p.bad ? " bad" : ""}${later(p.row)}`;
      if (p.mark === "request") add("path", { key, class: c, d: `M${cx - 5},${cy - 5}h10l-5,9z` });
      else if (p.mark === "exit") add("rect", { key, class: c, x: cx - 7, y: cy - 2, width: 14, height: 4 });
      else if (p.mark === "crash") add("path", { key, class: c, d: `M${cx - 5},${cy - 5}l10,10m0,-10l-10,10` });
      else add("circle", { key, class: c, cx, cy, r: p.mark === "timer" ? 4.5 : 3 });
    }
    layer("rows");
    const first = m.rowAt ? m.rowAt(top) : Math.max(0, Math.floor((top - 34) / this.row));
    const lastRow = m.rowAt ? m.rowAt(bottom) : Math.min(m.last, Math.ceil((bottom - 34) / this.row));
    if (m.times) {
      for (const tick of m.times(top, bottom)) add("text", { class: "row", x: 3, y: at(tick.row) + 3 }, tick.text);
    } else {
      for (let r = Math.max(1, first); r <= lastRow; r++) {
        add("text", { key: r, class: `row${later(r)}${m.bad?.has(r) ? " bad" : ""}`, x: 24, y: at(r) + 4, "text-anchor": "end", onclick: () => this.pick(r) }, r);
      }
    }
    layer("present");
    if (this.now <= m.last && seen(this.now, this.now)) add("line", { class: "now", x1: 28, x2: width, y1: at(this.now) + 9, y2: at(this.now) + 9 });
    layer("names", { transform: `translate(0,${top - base})` });
    add("rect", { class: "heads", x: 0, y: 0, width, height: 20 });
    m.lanes.forEach((name, lane) => add("text", { class: "head", x: x(lane), y: 14, "text-anchor": "middle" }, m.lanes.length > 12 ? name.replace(/\D+/, "") : name));
    const arrows = Array.from({ length: 8 }, (_, k) => marker(`arrow-k${k}`, `k${k}`));
    renew(this.canvas, [svg("defs", {}, ...arrows, marker("lost", "lost", "M0,0L7,7M0,7L7,0")), ...layers]);
  }
}

// marker is the end of a line, with a class that has the colour of the line: some browsers do not
// know context-stroke.
function marker(id, colour, d = "M0,0L7,3.5L0,7z") {
  const m = svg("marker", { id, viewBox: "0 0 7 7", refX: 6.5, refY: 3.5, markerWidth: 7, markerHeight: 7, orient: "auto-start-reverse" });
  m.append(svg("path", { d, class: `marker ${colour}` }));
  return m;
}

// Painting collects the events of a play, or of a recorded run, as a diagram shows them.
class Painting {
  constructor(lanes, kinds) {
    this.lanes = lanes;
    this.kinds = kinds;
    this.messages = [];
    this.sections = [];
    this.gaps = [];
    this.points = [];
    this.last = 0;
    this.flying = new Map();
    this.inside = new Map();
    this.down = new Map();
  }

  send(row, from, to, number, kind, fields, lost) {
    const k = this.kinds.indexOf(kind);
    const message = {
      from: from - 1, to: to - 1, sent: row, fate: lost ? "lost" : "way", end: lost ? row + 0.8 : undefined,
      kind: k < 0 ? 7 : k, label: `${kind} ${fields ?? ""}`.trim(), short: kind,
    };
    this.messages.push(message);
    if (!lost) this.flying.set(number, message);
  }

  arrive(row, number, again) {
    const message = this.flying.get(number);
    if (!message) return;
    if (message.fate !== "way") { // another copy of it
      this.messages.push({ ...message, end: row, fate: "arrived" });
      return;
    }
    message.end = row;
    message.fate = "arrived";
    if (!again) this.flying.delete(number);
  }

  lose(row, number) {
    const message = this.flying.get(number);
    if (message) { message.end = row; message.fate = "lost"; this.flying.delete(number); }
  }

  enter(row, node) {
    const section = { lane: node - 1, from: row, to: Infinity, open: true, bad: this.inside.size > 0 };
    this.inside.set(node, section);
    this.sections.push(section);
  }

  leave(row, node) {
    const section = this.inside.get(node);
    if (section) { section.to = row; section.open = false; this.inside.delete(node); }
  }

  fall(row, node) {
    this.leave(row, node);
    const gap = { lane: node - 1, from: row, to: Infinity };
    this.down.set(node, gap);
    this.gaps.push(gap);
  }

  rise(row, node) {
    const gap = this.down.get(node);
    if (gap) { gap.to = row; this.down.delete(node); }
  }

  point(row, node, mark) { this.points.push({ lane: node - 1, row, mark }); }

  // event adds one, as a recording has it.
  event(row, e) {
    this.last = Math.max(this.last, row);
    switch (e.event) {
      case "request": case "request-shared": this.point(row, e.node, "request"); break;
      case "exit": this.leave(row, e.node); this.point(row, e.node, "exit"); break;
      case "receive": this.arrive(row, e.id, e.copy); break;
      case "lose": this.lose(row, e.id); break;
      case "timer": this.point(row, e.node, "timer"); break;
      case "crash": this.fall(row, e.node); this.point(row, e.node, "crash"); break;
      case "restart": case "join": this.rise(row, e.node); this.point(row, e.node, "dot"); break;
      case "send": if (e.peer !== e.node) this.send(row, e.node, e.peer, e.id, e.kind, e.message, e.lost); break;
      case "enter": this.enter(row, e.node); break;
      case "left": this.fall(row, e.node); break;
      case "start": case "set-timer": case "cancel-timer": case "refuse": break;
      default: this.point(row, e.node, "dot");
    }
  }
}
