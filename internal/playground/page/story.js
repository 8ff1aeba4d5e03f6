// What is told beside a play: the lessons, what to look at in an example, and the comments
// of its scenario. A line that begins with "?" is a question, one with "=" its answer.
const Lessons = {
  lessons: [], errata: [], notes: {},

  // read reads lessons.txt: "=== id | title" begins a lesson, "---" its next part, "!!! task |
  // condition" what the reader is to do at the end of a part; "*** algorithm nodes for" begins
  // an erratum and "+++ name" what is said of a worked example.
  read(text) {
    let lesson = null, lines = [];
    for (const line of text.split("\n")) {
      const [mark, rest] = [line.slice(0, 3), line.slice(3).trim()];
      if (mark === "===") {
        const [id, title] = rest.split("|").map(s => s.trim());
        lesson = { id, title, parts: [{ lines: [] }] };
        this.lessons.push(lesson);
        lines = lesson.parts[0].lines;
      } else if (mark === "---") {
        lesson.parts.push({ lines: [] });
        lines = lesson.parts[lesson.parts.length - 1].lines;
      } else if (mark === "!!!") {
        const [task, condition] = rest.split("|").map(s => s.trim());
        Object.assign(lesson.parts[lesson.parts.length - 1], { task, condition });
      } else if (mark === "***") {
        const [algorithm, nodes, what] = rest.split(/\s+/);
        this.errata.push({ algorithm, nodes: Number(nodes), for: what, lines: lines = [] });
      } else if (mark === "+++") {
        lines = this.notes[rest] = [];
      } else {
        lines.push(line);
      }
    }
    for (const l of this.lessons) {
      for (const p of l.parts) p.text = p.lines.join("\n");
      l.text = l.parts[0].text;
    }
  },
};

class Story {
  constructor(play, name, catalog) {
    this.name = name ?? "";
    this.lesson = this.name.startsWith("lesson:") ? Lessons.lessons.find(l => l.id === this.name.slice(7)) : null;
    this.part = 0;
    this.answered = new Set();
    const about = this.name.startsWith("scenario:") ? Lessons.notes[this.name.slice(9)]
      : this.name.startsWith("erratum:") ? Lessons.errata.find(e => e.algorithm === this.name.slice(8))?.lines : null;
    this.about = about ? paragraphs(about) : [];
    this.algorithm = catalog.algorithms.find(a => a.name === play.info.algorithm);
  }

  // holds reports whether a question waits to be thought about before the next step.
  holds(play) {
    return play.onScript && this.open(play).some(p => p.answer && !this.answered.has(p.text));
  }

  // open are the paragraphs that belong to the step that comes next.
  open(play) {
    const k = play.followed();
    if (k < play.script.length) return paragraphs(play.script[k].notes);
    return paragraphs(play.epilogue ?? []);
  }

  view(play) {
    const box = make("div", {});
    box.append(make("h2", {}, this.lesson ? this.lesson.title : play.title));
    if (this.about.length) box.append(...this.about.map(p => this.paragraph(p)));
    else if (play.script.length === 0 && play.at === 0) {
      box.append(make("p", {}, this.algorithm.description), make("p", { class: "quiet" }, this.algorithm.citation));
    }
    const k = play.followed();
    let told = [];
    for (let i = Math.min(k, play.script.length - 1); i >= 0 && told.length === 0; i--) {
      if (i < k || play.onScript) told = paragraphs(play.script[i].notes);
      if (told.length && i < k) break;
    }
    const now = this.open(play);
    if (play.onScript && now.length) box.append(...now.map(p => this.paragraph(p)));
    else if (told.length) box.append(...told.map(p => this.paragraph(p)));
    if (play.script.length && !play.onScript && k < play.script.length) {
      box.append(make("p", { class: "quiet" }, "You have left the script. ", make("button", { onclick: () => attempt(() => play.goTo(k)) }, "Return to it")));
    }
    if (play.script.length) box.append(make("progress", { max: play.script.length, value: k, "aria-label": "how far the script is" }));
    if (this.lesson && k === play.script.length) box.append(this.task(play));
    return box;
  }

  task(play) {
    const part = this.lesson.parts[this.part];
    const done = !part.condition || met(part.condition, play.state);
    const last = this.part === this.lesson.parts.length - 1;
    const box = make("div", { class: `task${done ? " done" : ""}` });
    if (part.task) box.append(make("p", {}, make("b", {}, done ? "Done. " : "Your turn. "), part.task));
    if (!done) return box;
    const next = Lessons.lessons[Lessons.lessons.indexOf(this.lesson) + 1];
    if (!last) box.append(make("button", { class: "primary", onclick: () => this.turn(play) }, "Go on"));
    else if (next) box.append(make("button", { class: "primary", onclick: () => choose(`lesson:${next.id}`) }, `Next lesson: ${next.title}`));
    else box.append(make("p", {}, "That was the last lesson. Begin a play of your own above, or choose a worked example."));
    return box;
  }

  turn(play) {
    this.part++;
    attempt(() => play.open(this.lesson.parts[this.part].text));
  }

  paragraph(p) {
    if (!p.answer) return make("p", {}, p.text);
    const shown = this.answered.has(p.text);
    return make("div", { class: "question" }, make("p", {}, make("b", {}, "Question: "), p.text),
      shown ? make("p", { class: "answer" }, p.answer)
        : make("button", { onclick: () => { this.answered.add(p.text); show(); } }, "Show the answer"));
  }
}

// paragraphs joins lines: a question with its answer is one, an empty line ends one.
function paragraphs(lines) {
  const all = [];
  let last = null;
  for (const raw of lines) {
    const line = raw.trim();
    if (line === "") { last = null; continue; }
    if (line.startsWith("?")) all.push(last = { text: line.slice(1).trim(), kind: "?" });
    else if (line.startsWith("=") && last) { last.answer = line.slice(1).trim(); }
    else if (last) {
      if (last.answer !== undefined) last.answer += ` ${line}`;
      else last.text += ` ${line}`;
    } else all.push(last = { text: line });
  }
  return all;
}

// met reports whether what a lesson asks for is so.
function met(condition, state) {
  const [word, value] = condition.split(" ");
  switch (word) {
    case "entries": return state.entries >= Number(value);
    case "inside": return state.inside.includes(Number(value));
    case "standstill": return state.property === "progress";
    case "overlap": return state.property === "mutual exclusion";
    case "rest": return state.flights.length === 0 && state.inside.length === 0 && !state.nodes.some(n => n.activity === "requesting");
  }
  return false;
}
