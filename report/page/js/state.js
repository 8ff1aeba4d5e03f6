// What a reader has chosen. It stands in the fragment of the page's address, so that a link
// shows what its sender saw.

const state = { hidden: new Set(), network: "", load: "", nodes: 0, metric: 0, against: "", log: false, points: false, all: false,
  open: "" };

function readState() {
  const q = new URLSearchParams(location.hash.slice(1));
  const first = data.figures?.[0] ?? { metric: 0 };
  const metric = data.metrics?.findIndex((m) => m.name === q.get("metric")) ?? -1;
  state.hidden = new Set(q.getAll("hide").map((name) => data.labels?.findIndex((l) => l.name === name)).filter((i) => i >= 0));
  state.network = q.get("network") ?? "";
  state.load = q.get("load") ?? "";
  state.nodes = Number(q.get("n") ?? first.n ?? 0);
  state.metric = metric >= 0 ? metric : first.metric;
  state.against = q.get("against") ?? (first.against || "n");
  state.log = q.has("log") ? q.get("log") === "1" : Boolean(first.log);
  state.points = q.get("points") === "1";
  state.all = q.get("all") === "1";
  state.open = q.get("open") ?? "";
  for (const t of tables) t.read(q.get(t.id));
}

// writeState puts what differs from how the page opens into its address.
function writeState() {
  const q = new URLSearchParams();
  const first = data.figures?.[0] ?? { metric: 0 };
  for (const i of state.hidden) q.append("hide", data.labels[i].name);
  if (state.network) q.set("network", state.network);
  if (state.load) q.set("load", state.load);
  if (state.nodes !== (first.n ?? 0)) q.set("n", state.nodes);
  if (state.metric !== first.metric) q.set("metric", data.metrics[state.metric].name);
  if (state.against !== (first.against || "n")) q.set("against", state.against);
  if (state.log !== Boolean(first.log)) q.set("log", state.log ? "1" : "0");
  if (state.points) q.set("points", "1");
  if (state.all) q.set("all", "1");
  if (state.open) q.set("open", state.open);
  for (const t of tables) if (t.state()) q.set(t.id, t.state());
  const text = q.toString();
  history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
}

// change sets what a reader has chosen, and shows it.
function change(values) {
  Object.assign(state, values);
  writeState();
  show();
}

function toggle(label) {
  const hidden = new Set(state.hidden);
  if (!hidden.delete(label)) hidden.add(label);
  change({ hidden });
}

// alone hides all labels but one, or shows all again where that was so before.
function alone(label, before) {
  const others = data.labels.map((_, i) => i).filter((i) => i !== label);
  const already = !before.has(label) && others.every((i) => before.has(i));
  change({ hidden: new Set(already ? [] : others) });
}

const wantedLoad = (load) => load === undefined || load < 0
  || ((!state.network || data.loads[load].network === state.network) && (!state.load || data.loads[load].workload === state.load));
const wantedLabel = (label) => label === undefined || !state.hidden.has(label);
const wantedNodes = (n) => !n || !state.nodes || n === state.nodes;
