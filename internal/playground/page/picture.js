// The nodes in their tree, mesh, ring or circle; messages on their way, which a click or
// a drag delivers; tokens, locks, pointers, quorums, and who waits for whom.
class Picture {
  constructor(box, hand) {
    this.hand = hand;
    this.canvas = svg("svg", { class: "picture", role: "group", "aria-label": "the nodes and the messages on their way" }).create();
    box.append(this.canvas);
    this.selected = 0;
    this.drawn = new Map();
  }

  place(id) {
    const [x, y] = this.shape.points[id - 1];
    return [36 + x * (this.width - 72), 34 + y * (this.height - 74)];
  }

  show(play, options) {
    const { state, info } = play;
    // A narrow screen gets a smaller drawing, not smaller letters.
    const [width, height] = this.canvas.clientWidth && this.canvas.clientWidth < 520 ? [400, 350] : [640, 520];
    if (this.shape !== info.shape || this.width !== width) this.drawn.clear();
    Object.assign(this, { shape: info.shape, quorums: info.quorums, width, height });
    this.canvas.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.radius = state.nodes.length > 30 ? 9 : state.nodes.length > 13 ? 14 : 20;
    [this.before, this.drawn] = [this.drawn, new Map()];
    const layers = [this.edges(), this.quorum(), this.pointers(state), options.waits ? this.waiting(state) : null,
      this.nodes(state, play, options), this.flights(state, options, info)];
    renew(this.canvas, [svg("defs", {}, marker("arrow-pointer", "of-pointer"), marker("arrow-wait", "of-wait")), ...layers.filter(Boolean)]);
  }

  // kept draws what has a name that says all of it, unless it was drawn before.
  kept(name, draw) {
    const d = this.before.get(name) ?? draw();
    this.drawn.set(name, d);
    return d;
  }

  edges() {
    const g = layer("edges");
    for (const e of this.shape.edges ?? []) {
      const [x1, y1] = this.place(e.a), [x2, y2] = this.place(e.b);
      g.append(svg("line", { x1, y1, x2, y2, class: e.thin ? "thin" : "" }));
    }
    return g;
  }

  quorum() {
    const members = this.quorums?.[this.selected - 1];
    if (!members) return null;
    const g = layer("quorum");
    const [x1, y1] = this.place(this.selected);
    for (const id of members) {
      const [x2, y2] = this.place(id);
      if (id !== this.selected) g.append(svg("line", { x1, y1, x2, y2 }));
      g.append(svg("circle", { cx: x2, cy: y2, r: this.radius + 7 }));
    }
    return g;
  }

  // pointers draws variables that name another node: the holder of a tree, a father.
  pointers(state) {
    const g = layer("pointers");
    for (const node of state.nodes) {
      for (const [name, value] of node.vars) {
        if (!["HOLDER", "father", "next"].includes(name) || !/^\d+$/.test(value) || Number(value) === node.id || value === "0") continue;
        const next = name === "next";
        const line = this.arrow(node.id, Number(value), this.radius + 4, next ? "pointer next" : "pointer", "arrow-pointer", next ? 26 : 9);
        line.append(svg("title", {}, `${name} of node ${node.id} is ${value}`));
        g.append(line);
      }
    }
    return g;
  }

  waiting(state) {
    const g = layer("waits");
    for (const node of state.nodes) {
      for (const w of node.waits ?? []) {
        const name = `node ${node.id} waits for node ${w.for}'s ${w.what}`;
        if (!w.for || this.drawn.has(name)) continue;
        g.append(this.kept(name, () => this.arrow(node.id, w.for, this.radius + 3, "wait", "arrow-wait", -14, name).append(svg("title", {}, name))));
      }
    }
    return g;
  }

  // curve is the way from one node to another, bent a little to one side, so that ways there
  // and back lie apart; at gives a point of it.
  curve(from, to, gap, bend) {
    const [x1, y1] = this.place(from), [x2, y2] = this.place(to);
    const d = Math.hypot(x2 - x1, y2 - y1) || 1;
    const ux = (x2 - x1) / d, uy = (y2 - y1) / d;
    const a = [x1 + ux * gap, y1 + uy * gap], b = [x2 - ux * gap, y2 - uy * gap];
    const c = [(a[0] + b[0]) / 2 - uy * bend, (a[1] + b[1]) / 2 + ux * bend];
    const at = t => [0, 1].map(i => (1 - t) ** 2 * a[i] + 2 * t * (1 - t) * c[i] + t ** 2 * b[i]);
    return { d: `M${a}Q${c} ${b}`, at };
  }

  arrow(from, to, gap, name, end, bend, key) {
    return svg("path", { key, class: name, d: this.curve(from, to, gap, bend).d, "marker-end": `url(#${end})` });
  }

  nodes(state, play, options) {
    const g = layer("nodes");
    const last = play.at > 0 ? play.taken[play.at - 1] : null;
    for (const node of state.nodes) {
      const [x, y] = this.place(node.id);
      const r = this.radius;
      const bad = state.concerned?.includes(node.id) ? " bad" : "";
      const e = svg("g", {
        class: `node ${node.activity}${bad}${options.cut.has(node.id) ? " cut" : ""}${node.id === this.selected ? " selected" : ""}${last?.node === node.id ? " acted" : ""}`,
        transform: `translate(${x},${y})`, tabindex: 0, role: "button", "data-node": node.id,
        "aria-label": `node ${node.id}, ${node.activity}${node.token ? ", has the token" : ""}: ${primaryAction(node, state)?.label ?? "nothing to do"}`,
        onclick: () => this.hand.node(node),
        onkeydown: event => { if (pressed(event)) this.hand.node(node); },
      });
      e.append(svg("circle", { r }), svg("text", { class: "id", y: r > 10 ? 6 : 4, "text-anchor": "middle" }, String(node.id)));
      if (node.activity === "down") e.append(svg("path", { class: "cross", d: `M${-r},${-r}L${r},${r}M${-r},${r}L${r},${-r}` }));
      if (node.token || node.colour) {
        const title = node.colour ? `its token is ${node.colour}` : "the token";
        e.append(svg("circle", { class: `token ${node.colour ?? ""}`, cx: r * 0.8, cy: -r * 0.8, r: 7 }, svg("title", {}, title)));
      }
      const lock = lockOf(node);
      if (lock) {
        const [x0, y0] = [r * 0.5, r * 0.55];
        e.append(svg("path", { class: "shackle", d: `M${x0 + 6},${y0}v-4a5,5 0 0 1 10,0v4` }),
          svg("rect", { class: "lock", x: x0, y: y0, width: 22, height: 15, rx: 3 }, svg("title", {}, `its lock is with node ${lock}`)),
          svg("text", { class: "locked", x: x0 + 11, y: y0 + 11.5, "text-anchor": "middle" }, String(lock)));
      }
      e.append(svg("title", {}, `node ${node.id} is ${node.activity}`));
      g.append(e);
    }
    return g;
  }

  flights(state, options, info) {
    const g = layer("flights");
    const counts = new Map();
    for (const f of state.flights) counts.set(`${f.from}>${f.node}`, (counts.get(`${f.from}>${f.node}`) ?? 0) + 1);
    for (const f of [...state.flights].reverse()) {
      const all = counts.get(`${f.from}>${f.node}`), may = mayDeliver(f, options), cut = isCut(f, options);
      const name = [f.from, f.node, f.index, f.kind, f.message, f.fields, all, may, cut].join();
      g.append(this.kept(name, () => this.flight(f, all, may, cut, Math.max(0, info.kinds.indexOf(f.message)))));
    }
    return g;
  }

  // flight draws one of so many messages of its link.
  flight(f, all, may, cut, kind) {
    const t = f.from === f.node ? 0 : 0.72 - 0.5 * (f.index ?? 0) / Math.max(4, all);
    const way = this.curve(f.from, f.node, this.radius + 6, 16);
    const [x, y] = f.from === f.node ? this.place(f.from).map((v, i) => v + (i ? 34 : 0)) : way.at(t);
    const width = Math.max(26, f.message.length * 6.2 + 10);
    const key = `${f.from}>${f.node}>${f.index ?? 0}`;
    const near = this.place(f.node), angle = Math.atan2(near[1] - y, near[0] - x);
    const end = `${Math.cos(angle) * (width / 2 * Math.abs(Math.cos(angle)) + 15)},${Math.sin(angle) * 17}`;
    const side = by => `M${end}l${-Math.cos(angle + by) * 9},${-Math.sin(angle + by) * 9}`;
    return svg("g", {
      class: `flight k${kind % 8}${may ? "" : " held"}`, transform: `translate(${x},${y})`, tabindex: may ? 0 : -1, role: "button",
      key, "data-flight": key,
      "aria-label": `${f.message} ${f.fields ?? ""} from node ${f.from} to node ${f.node}: deliver`, "aria-disabled": String(!may),
      ...(may ? this.drag(f, [x, y]) : {}),
    }, svg("path", { class: "nose", d: side(-0.5) + side(0.5) }),
    svg("rect", { x: -width / 2, y: -9, width, height: 18, rx: 9 }),
    svg("text", { y: 4, "text-anchor": "middle" }, f.message),
    svg("title", {}, `${f.message} ${f.fields ?? ""}, ${f.from} → ${f.node}${may ? ": click to deliver" : cut ? ": the link is cut" : ": an earlier message of this link comes first"}`));
  }

  // drag lets a message follow the pointer; let go over its receiver, or clicked, it is
  // delivered.
  drag(f, [x, y]) {
    const moved = event => {
      const scale = this.width / this.canvas.getBoundingClientRect().width;
      return [(event.clientX - this.begun[0]) * scale, (event.clientY - this.begun[1]) * scale];
    };
    const move = (e, [dx, dy]) => e.setAttribute("transform", `translate(${x + dx},${y + dy})`);
    return {
      onpointerdown: event => {
        this.begun = [event.clientX, event.clientY];
        event.currentTarget.setPointerCapture(event.pointerId);
      },
      onpointermove: event => { if (this.begun) move(event.currentTarget, moved(event)); },
      onpointerup: event => {
        if (!this.begun) return;
        const [dx, dy] = moved(event), target = this.place(f.node);
        this.begun = null;
        move(event.currentTarget, [0, 0]);
        if (Math.hypot(dx, dy) < 6 || Math.hypot(x + dx - target[0], y + dy - target[1]) < this.radius + 24) this.hand.message(f, "receive");
      },
      onpointercancel: event => { this.begun = null; move(event.currentTarget, [0, 0]); },
      onkeydown: event => { if (pressed(event)) this.hand.message(f, "receive"); },
    };
  }
}

// layer is a group of the picture, which stays the same one: what is kept of it stays there.
const layer = name => svg("g", { class: name, key: name });

// pressed reports whether a key presses what has the focus, and keeps the event from others then.
function pressed(event) {
  if (event.key !== "Enter" && event.key !== " ") return false;
  event.preventDefault();
  event.stopPropagation();
  return true;
}

// A message may arrive if the network says so, its turn has come, and no cut lies between.
const mayDeliver = (f, options) => f.may && (!f.index || options.anyOrder || f.kind !== "receive") && !isCut(f, options);

const isCut = (f, options) => options.cut.has(f.from) !== options.cut.has(f.node);

// lockOf is the node to which an arbiter has given its lock, 0 for none.
function lockOf(node) {
  for (const [name, value] of node.vars) {
    const match = ["locking", "granted"].includes(name) && /^\(\d+,(\d+)\)$/.exec(value);
    if (match) return Number(match[1]);
  }
  return 0;
}

// primaryAction is what a click on a node does.
function primaryAction(node, state) {
  const may = kind => state.enabled.find(x => x.kind === kind && x.node === node.id);
  for (const [kind, label] of [["exit", "leave the critical section"], ["request", "ask for the critical section"], ["restart", "come back"], ["join", "join"]]) {
    const step = may(kind);
    if (step) return { step, label };
  }
  return null;
}
