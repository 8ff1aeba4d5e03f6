// What all parts of the page share: elements, numbers as text, files and the clipboard.

// el makes an element. Text is set as text, so that no name becomes markup.
function el(tag, attributes, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name.startsWith("on")) e.addEventListener(name.slice(2), value);
    else if (value === true) e.setAttribute(name, "");
    else if (value !== undefined && value !== null && value !== false) e.setAttribute(name, value);
  }
  e.append(...children.flat(Infinity).filter((c) => c !== undefined && c !== null && c !== false));
  return e;
}

const button = (text, title, onclick, attributes, ...children) => el("button", { type: "button", title, onclick, ...attributes }, text,
  children);

// menu is a labelled choice of [value, text] pairs.
function menu(label, options, value, onchange) {
  const select = el("select", { onchange: () => onchange(select.value), "aria-label": label },
    options.map(([v, text]) => el("option", { value: v, selected: String(v) === String(value) }, text)));
  return el("label", { class: "menu" }, el("span", {}, label), select);
}

// number writes x with four significant digits; integer digits are never cut.
function number(x) {
  if (x === null || x === undefined || !isFinite(x)) return "–";
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size < 1e-4 || size >= 1e12) return x.toPrecision(4).replace(/\.?0+e/, "e");
  const fraction = Math.max(0, 3 - Math.floor(Math.log10(size)));
  return x.toLocaleString("en-US", { maximumFractionDigits: fraction }).replace("-", "−");
}

const timeUnits = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];

// time writes nanoseconds in the unit that they are best written in.
function time(ns) {
  if (ns === 0) return "0 s";
  if (ns === null || ns === undefined || !isFinite(ns)) return "–";
  const [divisor, unit] = timeUnits.find(([d]) => Math.abs(ns) >= d) ?? [1, "ns"];
  return `${number(ns / divisor)} ${unit}`;
}

const write = (type, x) => (type === "time" ? time(x) : type === "share" ? `${number(100 * x)}%` : number(x));

// between writes a range in the unit of the value that stands above it; 0 has none.
function between(type, value, lo, hi) {
  if (type === "time" && value === 0 && lo < hi) return `${time(lo)} to ${time(hi)}`;
  const [divisor] = type === "time" ? timeUnits.find(([d]) => Math.abs(value) >= d) ?? [1] : [type === "share" ? 0.01 : 1];
  const [a, b] = [number(lo / divisor), number(hi / divisor)];
  return a === b ? "" : lo < 0 ? `${a} to ${b}` : `${a}–${b}`;
}

const percent = (x) => `${x > 0 ? "+" : x < 0 ? "−" : "±"}${number(Math.abs(100 * x))}%`;
const upper = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);
const lower = (title) => (/^(?!Jain)[A-Z][a-z]/.test(title) ? title[0].toLowerCase() + title.slice(1) : title);
const slug = (text) => text.toLowerCase().replaceAll("µ", "u").replace(/[^a-z0-9.]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 100);
const plural = (n, noun) => `${number(n)} ${noun}${n === 1 ? "" : "s"}`;

// save hands a file to the reader.
function save(name, content, type) {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const a = el("a", { href: url, download: name });
  document.body.append(a);
  a.click();
  a.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

// copy puts text on the clipboard, also where a page may not use it directly.
async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = el("textarea", { class: "offscreen", "aria-hidden": "true" });
    area.value = text;
    (document.querySelector("dialog[open]") ?? document.body).append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  say(`${what} copied`);
}

// say tells of what happened, also to those who cannot see it.
function say(text) {
  const status = document.getElementById("said");
  status.textContent = text;
  clearTimeout(say.timer);
  say.timer = setTimeout(() => (status.textContent = ""), 4000);
}

const command = (text) => el("p", { class: "command" }, el("code", {}, text),
  button("copy", "Copy the command", () => copy(text, "command")));

// marks tell series apart without their colours.
const symbols = [d3.symbolCircle, d3.symbolSquare, d3.symbolTriangle, d3.symbolDiamond, d3.symbolStar, d3.symbolWye, d3.symbolCross];
const symbolOf = (label) => symbols[label % symbols.length];
const hollow = (label) => Math.floor(label / 8) % 2 === 1;
const colorOf = (label) => (label >= 0 ? `var(--s${label})` : "var(--ink)");

function markOf(label, size = 12) {
  const svg = d3.create("svg").attr("width", size).attr("height", size).attr("viewBox", "-7 -7 14 14").attr("aria-hidden", "true");
  svg.append("path").attr("d", d3.symbol(symbolOf(label), 70)()).attr("stroke", colorOf(label)).attr("stroke-width", 2)
    .attr("fill", hollow(label) ? "none" : colorOf(label));
  return svg.node();
}
