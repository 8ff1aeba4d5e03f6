// The page of a recorded run: the diagram with true times, a list of the events in sight, a
// search, and zoom.
async function unpackRecording() {
  const packed = Uint8Array.from(atob(document.getElementById("recording").textContent.trim()), c => c.charCodeAt(0));
  const text = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  return text.split("\n").filter(Boolean).map(line => JSON.parse(line));
}

// painted draws the events of a recording; rows are times in nanoseconds.
function painted(header, events) {
  const p = new Painting(Array.from({ length: header.nodes }, (_, i) => `node ${i + 1}`), header.kinds);
  for (const id of header.absent ?? []) p.fall(0, id);
  for (const e of events) p.event(e.at_ns, e);
  if (header.whole) for (const m of p.messages) if (m.fate === "way") { m.fate = "lost"; m.end = m.sent; }
  return p;
}

const milliseconds = ns => `${(ns / 1e6).toFixed(3)} ms`;

async function showRecording() {
  const $ = id => document.getElementById(id);
  const [header, ...events] = await unpackRecording();
  const picture = painted(header, events);
  const first = events[0]?.at_ns ?? 0, span = Math.max(1, picture.last - first);
  const entries = events.filter(e => e.event === "enter");
  const sends = Math.max(1, picture.messages.length);
  // At the middle of the scale two messages are some 14 pixels apart, on average.
  const scaleOf = zoom => (14 * sends / span) * 2 ** ((zoom - 50) / 8);
  let scale = scaleOf(50);
  picture.place = t => 34 + (t - first) * scale;
  const timeAt = y => first + (y - 34) / scale;
  picture.times = (top, bottom) => {
    const least = Math.max(1, 45 / scale), power = 10 ** Math.floor(Math.log10(least));
    const step = power * [1, 2, 5, 10].find(k => k * power >= least);
    const ticks = [];
    for (let t = Math.ceil(Math.max(first, timeAt(top)) / step) * step; t <= Math.min(picture.last, timeAt(bottom)); t += step) ticks.push({ row: t, text: (t / 1e6).toFixed(step < 1e4 ? 3 : step < 1e6 ? 2 : 0) });
    return ticks;
  };
  const box = $("diagram");
  const diagram = new Diagram(box, { pick() {} });
  const set = ["transport", "workload"].map(k => header[k]).filter(Boolean).join(", ");
  $("title").textContent = `${header.title ?? header.algorithm}, ${header.nodes} nodes${set ? ` (${set})` : ""}`;
  document.title = `${$("title").textContent} — dmebench`;
  const unit = header.clock === "steps" ? "steps, not times" : header.clock === "virtual" ? "virtual time" : "the host's clock";
  $("facts").textContent = `${events.length.toLocaleString("en")} events, ${entries.length} entries, ${milliseconds(span)} (${unit})${header.dropped ? `; ${header.dropped} later events were not recorded` : ""}. Times are in milliseconds.`;
  $("entry").max = Math.max(1, entries.length);

  const centre = t => { box.scrollTop = picture.place(t) - box.clientHeight / 3; };
  function list() {
    const from = timeAt(box.scrollTop), to = timeAt(box.scrollTop + box.clientHeight);
    let k = events.findIndex(e => e.at_ns >= from);
    const rows = [];
    for (; k >= 0 && k < events.length && events[k].at_ns <= to && rows.length < 200; k++) {
      rows.push(make("li", { class: hit === k ? "hit" : "", value: k + 1 }, make("span", { class: "quiet" }, `${(events[k].at_ns / 1e6).toFixed(3)} `), sayEvent(events[k])));
    }
    renew($("events"), rows);
  }
  let hit = -1, pending = 0;
  box.addEventListener("scroll", () => { if (!pending) pending = requestAnimationFrame(() => { pending = 0; list(); }); });
  $("zoom").value = 50;
  $("zoom").addEventListener("input", () => {
    const middle = timeAt(box.scrollTop + box.clientHeight / 3);
    // Browsers do not scroll further than some ten million pixels.
    scale = Math.min(scaleOf(Number($("zoom").value)), 1e7 / span);
    diagram.show(picture, Infinity);
    centre(middle);
    list();
  });
  $("entry").addEventListener("change", () => { const e = entries[Number($("entry").value) - 1]; if (e) centre(e.at_ns); });
  $("find").addEventListener("submit", submit => {
    submit.preventDefault();
    const words = $("query").value.toLowerCase().split(/\s+/).filter(Boolean);
    const matches = e => words.every(w => sayEvent(e).toLowerCase().includes(w));
    const count = words.length ? events.filter(matches).length : 0;
    $("hits").textContent = words.length ? `${count} found` : "";
    if (!count) return;
    for (let step = 1; step <= events.length; step++) {
      const k = (hit + step) % events.length;
      if (matches(events[k])) { hit = k; break; }
    }
    centre(events[hit].at_ns);
    list();
  });
  diagram.show(picture, Infinity);
  centre(events.find(e => e.event !== "start")?.at_ns ?? first); // nodes start long before they do something
  list();
  document.body.classList.add("ready");
}

showRecording();
