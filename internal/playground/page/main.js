// The page: what the buttons do, and what is drawn when something has changed.
const $ = id => document.getElementById(id);

let play, picture, diagram, catalog, source, story, painting, timer = 0, redraw = 0, selected = 0;
const due = []; // drawings, of the next frames
let pictured = false; // the frame before drew the picture
const options = { anyOrder: false, unreliable: false, faults: false, waits: true, cut: new Set() };

const hand = {
  // node: a click on a node lets it ask or leave, and shows what it holds.
  node(node) {
    selected = picture.selected = node.id;
    const action = primaryAction(node, play.state);
    if (action) attempt(() => play.do(action.step));
    else show();
  },
  message(f, kind) { attempt(() => play.do({ ...f, kind: kind === "receive" ? f.kind : kind })); },
  step(step) { attempt(() => play.do(step)); },
  // cut parts a node from all others, or lets it back: what is between them waits.
  cut(id) {
    if (!options.cut.delete(id)) options.cut.add(id);
    show();
  },
};

function attempt(action) {
  $("alert").hidden = true;
  try { return action(); } catch (error) { alertOf(error); return undefined; }
}

function alertOf(error) {
  $("alert").textContent = error.message;
  $("alert").hidden = false;
}

// changed is told of every change of the play.
function changed(how) {
  if (how === "open" || !painting || painting.rows !== play.taken || how === "go") paintAnew();
  else for (let k = painting.painted; k < play.taken.length; k++) paintStep(k);
  if (painting.painted > play.taken.length) paintAnew();
  if (how === "open") selected = picture.selected = 0;
  show();
}

// show draws what has changed: in the next frame the picture, in those that follow what stands
// beside it, so that no frame is late.
function show(drawings = [drawPicture, drawDiagram, drawPanels]) {
  for (const draw of drawings) {
    if (due.includes(draw)) continue;
    if (draw === drawPicture) due.unshift(draw);
    else due.push(draw);
  }
  if (!redraw) redraw = requestAnimationFrame(frame);
}

// frame draws one thing; where the picture changes in each frame, another one with it.
function frame() {
  const drawings = due.splice(0, pictured && due[0] === drawPicture ? 2 : 1);
  pictured = drawings[0] === drawPicture;
  redraw = due.length ? requestAnimationFrame(frame) : 0;
  for (const draw of drawings) draw();
}

function paintAnew() {
  painting = new Painting(play.state.nodes.map(n => `node ${n.id}`), play.info.kinds);
  painting.rows = play.taken;
  for (const e of play.started) for (const x of e.events) painting.event(0, x);
  painting.painted = 0;
  for (let k = 0; k < play.taken.length; k++) paintStep(k);
}

function paintStep(k) {
  // A step that replaced another changes what came after it.
  if (k < painting.painted) { paintAnew(); return; }
  for (const x of play.taken[k].events) painting.event(k + 1, x);
  painting.painted = k + 1;
  painting.tail = play.taken[k];
}

function drawPicture() {
  picture.show(play, options);
  $("counters").textContent = Panels.counters(play.state);
  $("slider").max = play.taken.length;
  $("slider").value = play.at;
  $("position").textContent = play.at < play.taken.length ? `step ${play.at} of ${play.taken.length}` : `step ${play.at}`;
  const proposed = play.proposed();
  $("next").disabled = !proposed;
  $("next").title = proposed ? `→  ${stepText(proposed)}` : "nothing is proposed";
  $("back").disabled = $("first").disabled = play.at === 0;
  document.body.dataset.hash = play.state.hash;
  document.body.dataset.steps = play.at;
}

function drawDiagram() {
  if (painting.tail && painting.tail !== play.taken[painting.painted - 1]) paintAnew();
  painting.bad = play.state.property ? new Set([play.at]) : null;
  diagram.show(painting, play.at);
}

function drawPanels() {
  renew($("flights"), [Panels.flights(play, options, hand)]);
  renew($("variables"), [Panels.variables(play, options, selected, hand)]);
  renew($("happened"), [Panels.happened(play, source)]);
  renew($("story"), [story.view(play)]);
  renew($("branches"), play.branches.slice(-4).map(b =>
    make("button", { title: "return to the steps that were left here", onclick: () => attempt(() => play.take(b)) }, `⎇ ${b.at}+${b.taken.length - b.at}`)));
  document.title = `${play.info.title} — dmebench playground`;
}

function stepText(x) {
  if (["receive", "copy", "lose"].includes(x.kind)) return `${x.kind === "receive" ? "deliver" : x.kind} ${x.from} → ${x.node}`;
  return `${actionWord[x.kind] ?? x.kind} ${x.node}`;
}

function stopPlaying() {
  clearTimeout(timer);
  timer = 0;
  $("play").textContent = "Play";
  $("play").setAttribute("aria-pressed", "false");
}

// run takes steps until nothing is proposed. Slow speeds show each step, high ones as many
// as fit between two frames.
function run() {
  const speed = Number($("speed").value);
  const pause = speed >= 10 ? 0 : 1600 / 2 ** speed;
  const many = speed >= 10 ? 20 : 1;
  let went = true;
  attempt(() => { for (let i = 0; i < many && went; i++) went = play.next(); }) ;
  if (!went || play.state.property || !$("alert").hidden || story.holds(play)) { stopPlaying(); return; }
  timer = setTimeout(run, pause);
}

function open(text, name) {
  stopPlaying();
  attempt(() => {
    play.open(text);
    options.cut.clear();
    story = new Story(play, name, catalog);
    const a = catalog.algorithms.find(x => x.name === play.info.algorithm);
    $("algorithm").value = play.info.algorithm;
    $("count").value = play.info.nodes;
    $("options").value = [...text.matchAll(/^set (\S+)/gm)].map(m => m[1]).join(" ");
    setRules({
      anyOrder: !a.fifo && play.script.every(s => !s.step.index) ? options.anyOrder : play.script.some(s => s.step.index > 0),
      unreliable: play.script.some(s => ["lose", "copy"].includes(s.step.kind)),
      faults: play.script.some(s => ["crash", "restart", "join", "depart"].includes(s.step.kind)),
    });
  });
}

function setRules(rules) {
  Object.assign(options, rules);
  $("any-order").checked = options.anyOrder;
  $("unreliable").checked = options.unreliable;
  $("faults").checked = options.faults;
  $("waits").checked = options.waits;
}

function fresh() {
  const set = $("options").value.trim().split(/[\s,]+/).filter(Boolean).map(o => `set ${o}`);
  const name = $("algorithm").value;
  const title = catalog.algorithms.find(a => a.name === name).title;
  return [`# A play of ${title}`, `algorithm ${name}`, `nodes ${Number($("count").value)}`, ...set, ""].join("\n");
}

async function ask(what) {
  stopPlaying();
  $("found").textContent = "Searching …";
  $("end").hidden = false;
  const set = Object.fromEntries([...play.text.matchAll(/^set ([^=\s]+)=(\S+)/gm)].map(m => [m[1], m[2]]));
  const progress = done => { $("found").textContent = `Searching … ${done.toLocaleString("en")} ${["shorter", "proof", "starvation"].includes(what) ? "states" : "schedules"}`; };
  const requests = what === "shorter"
    ? [{ do: "open", text: play.text }, { do: "do", steps: play.taken.slice(0, play.at).map(plainStep) }, { do: "shorter" }]
    : [{ do: "search", for: what, algorithm: play.info.algorithm, nodes: play.info.nodes, set }];
  try {
    const answer = await Engine.search(requests, progress);
    if (answer.text) open(answer.text, "found");
    else if (answer.steps) attempt(() => play.load(answer.steps));
    $("found").textContent = capital(answer.found) + (answer.text ? ". It is loaded: go through it with Next." : "");
  } catch (error) {
    $("found").textContent = capital(error.message) + ".";
  }
  $("end").hidden = true;
}

function fillMenus() {
  renew($("algorithm"), catalog.algorithms.map(a => make("option", { value: a.name }, a.name)));
  const names = Object.keys(catalog.scenarios);
  const groups = [
    ["Lessons", Lessons.lessons.map(l => [`lesson:${l.id}`, l.title])],
    ["Worked examples", names.filter(n => !n.endsWith("/example")).map(n => [`scenario:${n}`, `${n}: ${titleOf(catalog.scenarios[n])}`])],
    ["Printed texts that are wrong", Lessons.errata.map(e => [`erratum:${e.algorithm}`, `${e.algorithm}`])],
    ["Each algorithm, shortly", names.filter(n => n.endsWith("/example")).map(n => [`scenario:${n}`, n.replace("/example", "")])],
  ];
  renew($("menu"), [make("option", { value: "" }, "choose …"),
    ...groups.map(([label, items]) => make("optgroup", { label }, ...items.map(([value, text]) => make("option", { value }, text.length > 90 ? text.slice(0, 88) + "…" : text))))]);
}

const titleOf = text => (text.match(/^#\s*(.*)$/m) ?? [])[1] ?? "";

// choose opens what the menu names: "lesson:first", "scenario:maekawa/section-5".
async function choose(value) {
  const [kind, name] = [value.slice(0, value.indexOf(":")), value.slice(value.indexOf(":") + 1)];
  $("menu").value = value;
  $("found").textContent = "";
  switch (kind) {
    case "lesson": open(Lessons.lessons.find(l => l.id === name).text, value); break;
    case "scenario": open(catalog.scenarios[name], value); break;
    case "erratum": {
      const erratum = Lessons.errata.find(e => e.algorithm === name);
      $("found").textContent = "Searching for a schedule that breaks it …";
      $("end").hidden = false;
      try {
        const answer = await Engine.search([{ do: "search", for: erratum.for ?? "deadlock", algorithm: name, nodes: erratum.nodes, set: erratum.set }]);
        $("found").textContent = capital(answer.found) + ".";
        if (answer.text) open(answer.text, value);
      } catch (error) { $("found").textContent = capital(error.message) + "."; }
      $("end").hidden = true;
    }
  }
}

function download(name, text) {
  const a = make("a", { href: URL.createObjectURL(new Blob([text], { type: "text/plain" })), download: name }).create();
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 1000);
}

function listen() {
  $("new").addEventListener("submit", e => { e.preventDefault(); $("menu").value = ""; open(fresh()); });
  $("algorithm").addEventListener("change", () => {
    const a = catalog.algorithms.find(x => x.name === $("algorithm").value);
    $("options").value = "";
    $("options").placeholder = (a.options ?? []).map(o => `${o.name}=${o.values[1] ?? o.default}`)[0] ?? "none";
    $("options").title = (a.options ?? []).map(o => `${o.name}=${o.values.join("|")} (default ${o.default}): ${o.help}`).join("\n");
  });
  $("menu").addEventListener("change", () => choose($("menu").value));
  $("next").addEventListener("click", () => attempt(() => play.next()));
  $("random").addEventListener("click", () => attempt(() => play.random()));
  $("back").addEventListener("click", () => attempt(() => play.goTo(play.at - 1)));
  $("first").addEventListener("click", () => attempt(() => play.goTo(0)));
  $("slider").addEventListener("input", () => attempt(() => play.goTo(Number($("slider").value))));
  $("play").addEventListener("click", () => {
    if (timer) { stopPlaying(); return; }
    $("play").textContent = "Pause";
    $("play").setAttribute("aria-pressed", "true");
    run();
  });
  for (const [id, name] of [["any-order", "anyOrder"], ["unreliable", "unreliable"], ["faults", "faults"], ["waits", "waits"]]) {
    $(id).addEventListener("change", () => { options[name] = $(id).checked; show(); });
  }
  for (const button of $("questions").querySelectorAll("[data-for]")) button.addEventListener("click", () => ask(button.dataset.for));
  $("end").addEventListener("click", () => Engine.stop());
  $("link").addEventListener("click", async () => {
    location.hash = `play=${await packText(play.scenario())}`;
    let said = "The link is in the address bar.";
    try { await navigator.clipboard.writeText(location.href); said = "The link is copied."; } catch { /* without leave to */ }
    $("found").textContent = said;
  });
  $("save").addEventListener("click", () => download(`${play.info.algorithm}.txt`, play.scenario()));
  $("load").addEventListener("change", async () => {
    const file = $("load").files[0];
    if (file) open(await file.text());
    $("load").value = "";
  });
  document.addEventListener("keydown", e => {
    if (e.target.closest("input, select, textarea, button, summary") && !["ArrowRight", "ArrowLeft"].includes(e.key)) return;
    if (e.target.matches("input, select, textarea") || e.altKey || e.ctrlKey || e.metaKey) return;
    const act = { ArrowRight: () => play.next(), ArrowLeft: () => play.goTo(play.at - 1), Home: () => play.goTo(0), End: () => play.goTo(play.taken.length), " ": () => $("play").click() }[e.key];
    if (act) { e.preventDefault(); attempt(act); }
  });
  window.addEventListener("hashchange", () => fromHash());
}

// fromHash opens what the address says: a whole play, or an entry of the menu.
async function fromHash() {
  const parameters = new URLSearchParams(location.hash.slice(1));
  try {
    if (parameters.has("play")) {
      const text = await unpackText(parameters.get("play"));
      if (play.text === undefined || play.scenario() !== text) { open(text); play.goTo(0); play.load(play.script.map(s => s.step)); }
      return true;
    }
    if (parameters.has("open")) { await choose(parameters.get("open")); return true; }
  } catch (error) { alertOf(new Error(`this link cannot be read: ${error.message}`)); }
  return false;
}

// rehearse takes and draws steps that nobody sees: the browser compiles what that needs before
// somebody waits for a step.
function rehearse() {
  const steps = new Play(() => {}, options), nodes = new Picture(document.createElement("div"), hand), panels = document.createElement("div");
  steps.open("# A rehearsal\nalgorithm maekawa\nnodes 13\n");
  for (const x of steps.state.enabled) steps.do(x);
  for (const until = performance.now() + 300; performance.now() < until && steps.next();) {
    nodes.show(steps, options);
    renew(panels, [Panels.flights(steps, options, hand), Panels.variables(steps, options, 1, hand), Panels.happened(steps, source)]);
  }
}

async function begin() {
  try { await Engine.start(); } catch (error) { alertOf(new Error(`the algorithms cannot be loaded: ${error.message}`)); return; }
  catalog = Engine.call({ do: "catalog" });
  source = new Source(JSON.parse(new TextDecoder().decode(await Engine.unpack("source"))));
  play = new Play(changed, options);
  picture = new Picture($("nodes"), hand);
  diagram = new Diagram($("diagram"), { pick: row => attempt(() => play.goTo(row)) });
  Lessons.read($("lessons").textContent);
  fillMenus();
  listen();
  rehearse();
  const opened = $("opened").textContent.trim();
  if (opened) open(JSON.parse(opened), "found");
  else if (!await fromHash()) await choose(`lesson:${Lessons.lessons[0].id}`);
  show([() => document.body.classList.add("ready")]);
  // The browser compiles what a play needs, and does so where it is in nobody's way.
  Engine.search(Object.values(catalog.scenarios).map(text => ({ do: "open", text }))).catch(() => {});
}

begin();
