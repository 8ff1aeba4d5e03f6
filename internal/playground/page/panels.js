// What stands beside the picture: the story of a lesson, what has happened and the code
// that did it, messages on their way, and what each node holds.

const Panels = {
  // flights lists the messages on their way, each with what can befall it.
  flights(play, options, hand) {
    const rows = play.state.flights.slice(0, 60).map(f => {
      const may = mayDeliver(f, options);
      const kind = Math.max(0, play.info.kinds.indexOf(f.message));
      return make("li", { key: `${f.from}>${f.node}>${f.index ?? 0}`, class: may ? "" : "held" },
        make("button", { class: `deliver k${kind % 8}`, disabled: !may, onclick: () => hand.message(f, "receive") }, f.message),
        make("span", { class: "way" }, `${f.from} → ${f.node}`),
        make("span", { class: "quiet" }, f.fields ?? ""),
        options.unreliable && may ? make("span", { class: "fates" },
          ...(f.fates ?? []).map(fate => make("button", { onclick: () => hand.message(f, fate) }, fate))) : null);
    });
    for (const t of play.state.timers) {
      rows.push(make("li", {}, make("button", { "data-act": `timer-${t.node}`, disabled: !t.may, onclick: () => hand.step(t) }, "timer fires"),
        make("span", { class: "way" }, `node ${t.node}`), make("span", { class: "quiet" }, `${t.delay_ns / 1e6} ms`)));
    }
    const left = play.state.flights.length - 60;
    if (left > 0) rows.push(make("li", { class: "quiet" }, `and ${left} more`));
    return rows.length ? make("ul", { class: "flights" }, ...rows) : make("p", { class: "quiet" }, "No message is on its way.");
  },

  // variables shows what each node holds, with marks where the last step changed it.
  variables(play, options, selected, hand) {
    const changed = changedVars(play.before, play.state);
    const many = play.state.nodes.length > 5;
    const acted = play.taken[play.at - 1]?.node;
    const box = make("div", { class: "cards" });
    for (const node of play.state.nodes) {
      const open = !many || node.id === selected || node.id === acted || changed.get(node.id).size > 0;
      const actions = play.state.enabled.filter(x => x.node === node.id && (options.faults || !["crash", "restart", "depart", "join"].includes(x.kind) || node.activity === "down"));
      const card = make("details", { class: `card ${node.activity}${node.id === selected ? " selected" : ""}`, open },
        make("summary", {}, make("b", {}, `node ${node.id}`), ` ${node.activity}${node.token ? ", has the token" : ""}`),
        make("div", { class: "group" }, ...actions.map(x => make("button", { "data-act": `${x.kind}-${node.id}`, onclick: () => hand.step(x) }, actionWord[x.kind] ?? x.kind)),
          options.faults ? make("button", { "data-act": `cut-${node.id}`, onclick: () => hand.cut(node.id) }, options.cut.has(node.id) ? "reconnect" : "cut off") : null),
        make("dl", {}, ...node.vars.flatMap(([name, value]) => [
          make("dt", { class: changed.get(node.id).has(name) ? "changed" : "" }, name),
          make("dd", { class: changed.get(node.id).has(name) ? "changed" : "" }, value)])),
        (node.waits ?? []).length ? make("p", { class: "quiet" }, "waits for ", node.waits.map(w => w.for ? `${w.for}’s ${w.what}` : w.what).join("; ")) : null);
      box.append(card);
    }
    return box;
  },

  // happened says what the last step was, what came of it, and shows the handler.
  happened(play, source) {
    const e = play.taken[play.at - 1];
    const box = make("div", {});
    if (play.state.property) {
      box.append(make("p", { class: "verdict" }, make("b", {}, play.state.property === "progress" ? "Standstill" : "Broken"), `: ${play.state.verdict}`));
    }
    if (!e) {
      box.append(make("p", {}, "Nothing has happened yet. Click a node: it asks for the critical section."));
      return box;
    }
    box.append(make("p", { class: "event" }, make("b", {}, `Step ${play.at}. `), capital(e.text.split(": ")[0]) + "."));
    const effects = e.events.slice(1).map(x => make("li", {}, sayEvent(x)));
    if (effects.length) box.append(make("ul", { class: "effects" }, ...effects));
    else if (!["crash", "lose"].includes(e.kind)) box.append(make("p", { class: "quiet" }, "Its node sends nothing."));
    const handler = source?.find(play.info.source, e);
    if (handler) {
      box.append(make("details", { class: "source", open: Panels.sourceOpen, ontoggle: event => { Panels.sourceOpen = event.target.open; } },
        make("summary", {}, "The code that ran", handler.said ? make("span", { class: "quiet" }, ` — ${handler.said}`) : null),
        make("pre", {}, make("code", {}, handler.code))));
    }
    return box;
  },
  sourceOpen: false,

  counters(state) {
    const kinds = Object.entries(state.by_kind).map(([k, n]) => `${k} ${n}`).join(", ");
    const per = state.entries ? ` — ${(state.sent / state.entries).toFixed(2).replace(/\.?0+$/, "")} for each entry` : "";
    return `${state.entries} ${state.entries === 1 ? "entry" : "entries"}, ${state.sent} messages${kinds ? ` (${kinds})` : ""}${per}`;
  },
};

const actionWord = {
  request: "ask", "request-shared": "ask, as a reader", exit: "leave", crash: "crash", restart: "restart", join: "join", depart: "leave the system", stop: "no more requests",
};

const capital = text => text.charAt(0).toUpperCase() + text.slice(1);

const verbs = {
  request: "asks", "request-shared": "asks, as a reader", enter: "enters", exit: "leaves", start: "starts", stop: "is told to stop",
  down: "hears of the crash", up: "hears of the return", timer: "timer fires", crash: "crashes", left: "has left", depart: "is told to leave",
  "set-timer": "sets a timer", "cancel-timer": "cancels a timer", refuse: "refuses", lose: "never hears of",
};

const sayEvent = e => [
  `node ${e.node}`, verbs[e.event] ?? `${e.event}s`, e.kind, e.message, e.peer ? `${{ send: "to", down: "of", up: "of" }[e.event] ?? "from"} ${e.peer}` : "",
  e.lost ? "(lost: it is down)" : "", e.delay_ns ? `(${e.delay_ns / 1e6} ms)` : "", e.stamp, e.reason, e.state,
].filter(Boolean).join(" ");

// Source finds the code of a handler among the methods of the algorithms' nodes.
class Source {
  constructor(types) { this.types = types; }

  find(type, e) {
    const methods = this.types[type];
    const name = { request: "Request", "request-shared": "RequestShared", exit: "Release", receive: "Receive", copy: "Receive", timer: "Timeout",
      start: "Start", stop: "Stop", restart: "Restart", join: "Join", depart: "Depart", down: "Down", up: "Up" }[e.kind];
    const found = methods?.[name];
    if (!found) return null;
    const called = calls(found.code, methods);
    let of;
    if (name === "Receive") {
      const kinds = {};
      for (const m of [found, ...called]) dispatch(m.code, methods, kinds);
      of = kinds[e.events[0].kind] ?? kinds[""];
    }
    const parts = of ? [...of, found] : [found, ...called];
    const said = parts.find(p => /step|process|procedure|section|handler/i.test(p.doc ?? "")) ?? found;
    return { code: parts.map(p => p.code).join("\n\n"), said: (said.doc ?? "").replace(/\.$/, "") };
  }
}

const uncommented = code => code.replace(/\s*\/\/.*/g, "");

// calls are the methods of the node that a piece of code calls, each once.
function calls(code, methods) {
  const names = [...uncommented(code).matchAll(/\.(\w+)\(/g)].map(m => m[1]);
  return [...new Set(names)].filter(name => Object.hasOwn(methods, name)).map(name => methods[name]);
}

// dispatch notes what is called for a kind of message: in a case of that kind, or after an if that
// asks for it; what stands behind its else is for all other kinds, "".
function dispatch(code, methods, kinds) {
  const lines = uncommented(code).split("\n");
  const note = (kind, from, to) => {
    const called = calls(lines.slice(from, to).join("\n"), methods);
    if (called.length) kinds[kind] ??= called;
  };
  lines.forEach((line, k) => {
    const [, indent, , asked] = /^(\t+)(case|if|\} else if) (.*)[:{]$/.exec(line) ?? [];
    const named = [...(asked ?? "").matchAll(/\bkind([A-Z]\w*)/g)].map(m => m[1].replace(/(?!^)[A-Z]/g, "_$&").toUpperCase());
    if (!named.length) return;
    const end = lines.findIndex((l, i) => i > k && l !== "" && !l.startsWith(`${indent}\t`));
    for (const kind of named) note(kind, k + 1, end);
    if (lines[end].startsWith(`${indent}} else`)) note("", end, lines.indexOf(`${indent}}`, end));
  });
}
