// Taking figures away, as they are seen.

// resolved replaces the page's colours by what they are now.
function resolved(svg) {
  const style = getComputedStyle(document.documentElement);
  const text = new XMLSerializer().serializeToString(svg);
  return text.replace(/var\((--[a-z0-9]+)\)/g, (_, name) => style.getPropertyValue(name).trim());
}

// whole composes the panels of a figure, its title and the legend of what is in it.
function whole(figure) {
  const style = getComputedStyle(document.documentElement), color = (name) => style.getPropertyValue(name).trim();
  const plots = figure.panels.map((p) => [p.querySelector("h3")?.textContent ?? "", p.querySelector("svg.plot")]);
  const columns = Math.max(1, Math.round(figure.clientWidth / (figure.panels[0].offsetWidth + 1)));
  const w = plots[0][1].viewBox.baseVal.width, h = Math.max(...plots.map(([, s]) => s.viewBox.baseVal.height)) + 22;
  const labels = distinct(figure.panels.flatMap((p) => p.spec.series.filter((s) => s.points.length).map((s) => s.label))).filter((l) =>
    l >= 0);
  const width = w * Math.min(columns, plots.length), rows = Math.ceil(plots.length / columns);
  const out = d3.create("svg").attr("xmlns", "http://www.w3.org/2000/svg").attr("font-family", "system-ui, sans-serif").attr("font-size",
    12);
  const back = out.append("rect").attr("width", width).attr("fill", color("--paper"));
  out.append("text").attr("x", 6).attr("y", 18).attr("font-size", 15).attr("font-weight", 600).attr("fill",
    color("--ink")).text(figure.querySelector("h2").textContent);
  let x = 8, y = 40;
  for (const l of labels) {
    const name = data.labels[l].name, wide = 34 + 7.2 * name.length;
    if (x + wide > width && x > 8) [x, y] = [8, y + 18];
    const g = out.append("g").attr("transform", `translate(${x + 6},${y - 4})`);
    g.append("path").attr("d", d3.symbol(symbolOf(l), 60)()).attr("stroke", colorOf(l)).attr("fill", hollow(l) ? "none" : colorOf(l));
    g.append("text").attr("x", 12).attr("y", 4).attr("fill", color("--ink")).text(name);
    x += wide;
  }
  const top = y + 14;
  plots.forEach(([title, svg], i) => {
    const [px, py] = [w * (i % columns), top + h * Math.floor(i / columns)];
    out.append("text").attr("x", px + 6).attr("y", py + 14).attr("font-weight", 600).attr("fill", color("--ink")).text(cutTo(title, w / 7));
    const copy = svg.cloneNode(true);
    copy.querySelectorAll(".ring").forEach((r) => r.remove());
    for (const [name, value] of [["x", px], ["y", py + 22], ["color", color("--ink")]]) copy.setAttribute(name, value);
    out.node().append(copy);
  });
  const height = top + h * rows + 4;
  back.attr("height", height);
  out.attr("width", width).attr("height", height).attr("viewBox", `0 0 ${width} ${height}`);
  return { text: resolved(out.node()), width, height };
}

const saveSVG = (figure) => save(`${figure.dataset.name}.svg`, whole(figure).text, "image/svg+xml");

async function savePNG(figure) {
  const { text, width, height } = whole(figure), image = new Image(), scale = 2;
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = el("canvas", { width: width * scale, height: height * scale });
  canvas.getContext("2d").drawImage(image, 0, 0, width * scale, height * scale);
  canvas.toBlob((blob) => save(`${figure.dataset.name}.png`, blob), "image/png");
}

const csvCell = (v) => {
  const text = v === undefined || v === null || Number.isNaN(v) ? "" : String(v);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};
const csv = (rows) => rows.map((r) => r.map(csvCell).join(",")).join("\r\n") + "\r\n";

// saveData writes every point that is drawn.
function saveData(figure) {
  const rows = [["panel", "label", "what", "x", "y", "low", "high"]];
  for (const { spec } of figure.panels) {
    for (const s of spec.series) {
      for (const p of s.points) {
        const what = s.small ? "repetition" : { exact: "predicted", bound: "bound", points: "median", measured: "median" }[s.role]
          ?? s.role;
        rows.push([spec.title, s.label >= 0 ? data.labels[s.label].name : s.name, what, spec.x.names ? spec.x.names[Math.round(p.x)]
          : p.x, p.y, p.lo, p.hi]);
      }
    }
  }
  save(`${figure.dataset.name}.csv`, csv(rows), "text/csv");
}
