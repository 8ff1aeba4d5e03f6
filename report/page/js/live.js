// A page that a server fills: it shows where the sweep stands, and takes the newer page when
// there is one. Files do not have this part.

function follow() {
  const place = el("section", { id: "live", "aria-label": "The sweep in progress" });
  document.getElementById("before").before(place);
  let taking = false, last;

  // A reader who is typing is not interrupted; the next event tries again.
  const busy = () => taking || document.activeElement?.matches("input[type=search]");
  const take = async () => {
    taking = true;
    try {
      const answer = await fetch(location.pathname);
      if (answer.ok) refresh(await answer.text());
    } finally {
      taking = false;
    }
  };

  const events = new EventSource(data.live);
  events.onmessage = (e) => {
    last = JSON.parse(e.data);
    const newer = String(last.version) !== data.live.split("?")[1];
    if (newer && !busy()) take();
    place.replaceChildren(...standing(last));
    if (last.ended) {
      events.close();
      say(last.ended);
    }
  };
  events.onerror = () => place.replaceChildren(...(last ? standing(last) : []),
    el("p", { class: "warned" }, "The program that serves this page does not answer; this page shows what it sent last."));
}

// standing says where a sweep stands: how much is done, the run in progress, what went wrong.
function standing(s) {
  const run = s.run, out = [];
  const counts = Object.entries(s.counts).filter(([status, n]) => n && status !== "ok").map(([status, n]) => `${number(n)} ${status}`);
  const cells = s.cells ? ` · ${number(s.cells_done)} of ${plural(s.cells, "cell")} complete` : "";
  const left = s.left_s > 0 ? ` · about ${span(s.left_s)} left` : "";
  out.push(el("p", {}, el("strong", {}, s.ended ? "Ended: " : s.done < s.planned ? "In progress: " : "All there: "),
    s.ended || `${number(s.done)} of ${plural(s.planned, "run")}${cells}${left}`, counts.length
      ? el("span", { class: "bad" }, ` · ${counts.join(", ")}`) : null));
  out.push(el("progress", { max: Math.max(1, s.planned), value: s.done, "aria-label": "Runs that are done" }));
  if (run) {
    const facts = [run.of ? `${number(run.entries)} of ${number(run.of)} entries` : run.entries ? `${number(run.entries)} entries` : "",
      run.rate ? `${number(run.rate)} CS/s` : "", run.waiting_p99_ns
        ? `waited p50 ${time(run.waiting_p50_ns)}, p99 ${time(run.waiting_p99_ns)}` : ""];
    out.push(el("p", { class: "muted" }, el("bdi", {}, run.what), facts.filter(Boolean).length ? `: ${facts.filter(Boolean).join(", ")}`
      : ""));
  }
  for (const b of (s.bad ?? []).slice(-3)) out.push(el("p", { class: "bad" }, b));
  for (const w of (s.warnings ?? []).slice(0, 3)) out.push(el("p", { class: "warned" }, `⚠ ${plural(w.runs, "run")}: ${w.text}`));
  return out;
}

// span writes seconds as people say them.
const span = (s) => (s < 90 ? `${number(Math.ceil(s))} s` : s < 5400 ? `${number(Math.round(s / 60))} min`
  : `${number(Math.round(s / 360) / 10)} h`);

follow();
