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
    let notes = [];
    for (const line of (answer.lines ?? []).slice(1)) {
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
    return this.pass(this.state.next);
  }

  // pass is the step, unless it is the arrival of a message that is held: then it is that of
  // another one, or else somebody leaves.
  pass(step) {
    const held = x => this.state.flights.some(f => f.from === x.from && f.to === x.node && f.index === (x.index ?? 0) && isCut(f, this.options));
    if (!step || !held(step)) return step;
    const other = this.state.flights.find(f => mayDeliver(f, this.options));
    if (other) return { kind: other.kind, node: other.to, from: other.from, index: other.index };
    return this.state.enabled.find(x => x.kind === "exit") ?? null;
  }

  do(step) {
    const plain = plainStep(step);
    const next = this.taken[this.at];
    const answer = Engine.call({ do: "step", step: plain });
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

  // random takes a step that is drawn.
  random() {
    const seed = Math.floor(Math.random() * 2 ** 32);
    const [event] = Engine.call({ do: "random", seed, count: 1 }).taken ?? [];
    if (!event) return;
    Engine.call({ do: "go", count: this.at });
    this.do(event);
  }

  // goTo goes to where k steps have been taken, back or forward.
  goTo(k) {
    k = Math.max(0, Math.min(k, this.taken.length));
    if (k === this.at) return;
    let answer;
    if (k < this.at) {
      answer = Engine.call({ do: "go", count: Math.max(0, k - 1) });
      this.before = k > 0 ? answer.state : null;
      if (k > 0) answer = Engine.call({ do: "step", step: plainStep(this.taken[k - 1]) });
    } else {
      if (k - 1 > this.at) Engine.call({ do: "steps", steps: this.taken.slice(this.at, k - 1).map(plainStep) });
      this.before = Engine.call({ do: "state" }).state;
      answer = Engine.call({ do: "step", step: plainStep(this.taken[k - 1]) });
    }
    this.at = k;
    this.state = answer.state;
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

  // load replaces all steps by those that were taken elsewhere.
  load(taken) {
    const steps = taken.map(plainStep);
    Engine.call({ do: "go", count: 0 });
    const answer = Engine.call({ do: "steps", steps });
    this.taken = answer.taken;
    this.at = this.taken.length;
    this.before = null;
    this.state = answer.state;
    this.changed("go");
  }

  // scenario is the text of what has been played until now.
  scenario() { return Engine.call({ do: "scenario", text: this.title }).text; }
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
