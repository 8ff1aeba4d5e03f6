// Play is what has happened, and what could: the steps until now, those that were taken
// back, branches that were left, and the script of a scenario or a lesson.
class Play {
  constructor(changed, options) {
    this.changed = changed;
    this.options = options; // what links and nodes may do, of which the model knows nothing
    this.branches = [];
  }

  // open begins a scenario. Its commands are proposed one after the other.
  open(text) {
    const answer = Engine.call({ do: "open", text });
    this.text = text;
    this.info = answer;
    this.title = (text.match(/^#\s*(.*)$/m) ?? [])[1] ?? answer.title;
    this.started = answer.taken ?? [];
    this.taken = [];
    this.at = 0;
    this.state = answer.state;
    this.before = null;
    this.branches = [];
    this.script = [];
    this.settings = text.match(/^ *(algorithm|nodes|set|absent|seed|sequenced|bypass)\b.*/gm);
    let notes = [];
    for (const line of answer.lines.slice(1)) {
      if (!line.steps) {
        if (!/^(found by|a play of)/i.test(line.text) && !isCommand(line.text)) notes.push(line.text);
        continue;
      }
      for (const step of line.steps) {
        this.script.push({ step, notes });
        notes = [];
      }
    }
    this.epilogue = notes;
    this.changed("open");
  }

  // followed counts the steps of the script that were taken from the beginning.
  followed() {
    let k = 0;
    while (k < this.at && k < this.script.length && same(this.script[k].step, this.taken[k])) k++;
    return k;
  }

  get onScript() { return this.followed() === this.at; }

  // proposed is the step that Next takes.
  proposed() {
    if (this.state.property && this.state.property !== "progress") return null;
    if (this.at < this.taken.length) return this.taken[this.at];
    if (this.onScript && this.at < this.script.length) return this.script[this.at].step;
    // The oldest message arrives, or somebody leaves, or a timer fires.
    const { flights, enabled, timers } = this.state;
    return flights.find(f => !f.index && mayDeliver(f, this.options)) ?? enabled.find(x => x.kind === "exit") ?? timers.find(t => t.may) ?? null;
  }

  do(step) {
    const plain = plainStep(step);
    const next = this.taken[this.at];
    const answer = Engine.call({ do: "do", steps: [plain] });
    if (next && !same(next, plain)) {
      this.leave(this.at);
      this.taken.length = this.at;
    }
    this.before = this.state;
    this.state = answer.state;
    this.taken[this.at++] = answer.taken[0];
    this.changed("step");
  }

  next() {
    const step = this.proposed();
    if (!step) return false;
    this.do(step);
    return true;
  }

  // random takes a step that is drawn from what the algorithm's needs allow.
  random() {
    const steps = [
      ...this.state.enabled.filter(x => ["request", "request-shared", "exit"].includes(x.kind)),
      ...this.state.flights.filter(f => !f.beyond && mayDeliver(f, this.options)), ...this.state.timers.filter(t => t.may && !t.beyond),
    ];
    if (steps.length) this.do(steps[Math.floor(Math.random() * steps.length)]);
  }

  // goTo goes to where k steps have been taken, back or forward.
  goTo(k) {
    k = Math.max(0, Math.min(k, this.taken.length));
    if (k === this.at) return;
    const from = Math.min(this.at, k > 0 ? k - 1 : 0);
    if (from < this.at) this.state = Engine.call({ do: "go", count: from }).state;
    const steps = this.taken.slice(from, k).map(plainStep);
    if (steps.length > 1) this.state = Engine.call({ do: "do", steps: steps.slice(0, -1) }).state;
    this.before = k > 0 ? this.state : null;
    if (k > 0) this.state = Engine.call({ do: "do", steps: steps.slice(-1) }).state;
    this.at = k;
    this.changed("go");
  }

  // leave keeps the present line, from the beginning, as a branch that goes off after k steps.
  leave(k) {
    this.branches.push({ at: k, taken: [...this.taken] });
    if (this.branches.length > 20) this.branches.shift();
  }

  // take returns to a branch that was left, where it goes off; the present line is kept in its place.
  take(branch) {
    this.branches.splice(this.branches.indexOf(branch), 1);
    let k = 0; // the steps that both have
    while (k < Math.min(this.taken.length, branch.taken.length) && same(this.taken[k], branch.taken[k])) k++;
    this.goTo(Math.min(k, this.at));
    if (this.taken.length > k) this.leave(k);
    this.taken = [...branch.taken];
    this.goTo(branch.at);
    this.changed("go");
  }

  // load replaces all steps.
  load(steps) {
    Engine.call({ do: "go", count: 0 });
    const answer = Engine.call({ do: "do", steps });
    this.taken = answer.taken;
    this.at = this.taken.length;
    this.before = null;
    this.state = answer.state;
    this.changed("go");
  }

  // scenario is the text of what has been played until now.
  scenario() {
    const broken = this.state.property && this.state.property !== "progress" ? [`violates ${this.state.property}`] : [];
    const commands = this.taken.slice(0, this.at).map(e => e.command);
    return [`# ${this.title}`, ...this.settings, ...broken, "", ...commands, ""].join("\n");
  }
}

const plainStep = ({ kind, node, from, index, timer }) => ({ kind, node, from, index, timer });

const same = (a, b) => a.kind === b.kind && a.node === b.node && (a.from ?? 0) === (b.from ?? 0) &&
  (a.index ?? 0) === (b.index ?? 0) && (a.timer ?? 0) === (b.timer ?? 0);

const isCommand = text => /^(state|waits|settle|stop)\b/.test(text);

// changedVars names the variables of each node that the last step has changed.
function changedVars(before, now) {
  const changed = new Map();
  for (const node of now.nodes) {
    const was = new Map(before?.nodes.find(x => x.id === node.id)?.vars ?? []);
    changed.set(node.id, new Set(before ? node.vars.filter(([name, value]) => was.get(name) !== value).map(v => v[0]) : []));
  }
  return changed;
}

// The whole play in a link: the scenario's text, compressed.
async function packText(text) {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  let binary = "";
  for (const b of bytes) binary += String.fromCharCode(b);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

async function unpackText(packed) {
  const bytes = Uint8Array.from(atob(packed.replaceAll("-", "+").replaceAll("_", "/")), c => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"))).text();
}
