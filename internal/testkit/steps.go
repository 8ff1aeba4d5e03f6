package testkit

import (
	"bytes"
	_ "embed"
	"fmt"
	"image/png"
	"strings"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

//go:embed axe/axe.min.js
var axe string

// Step carries out a line of a test of a page that package report/page has made, and
// returns what the line asks for; ok is false if it is none of these:
//
//	click, double, hover SELECTOR    the first element that a CSS selector finds
//	choose SELECTOR = VALUE          of a menu or a field
//	key NAME…                        Tab, Enter, Escape, ArrowRight
//	size WIDTH HEIGHT [dark]
//	scripts off
//	see bar                          which algorithms are shown, and what is chosen
//	see figure                       its title, and of each panel the series that are drawn
//	see table ID                     its head, how many rows, and the first of them
//	see tip, see open, see address   what is under the pointer, what is open, and the fragment
//	see text SELECTOR                the text of an element
//	copied ID FORMAT                 what the button of a table copies
//	saved SELECTOR                   what a button downloads
//	faults                           what axe-core calls serious
//	layout                           labels that overlap or are cut, what is wider than the window, more than six screens
func (b *Browser) Step(line string) (said string, ok bool) {
	b.t.Helper()
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "click":
		b.Click(rest, 1)
	case "double":
		b.Click(rest, 2)
	case "hover":
		b.Hover(rest)
	case "choose":
		selector, value, _ := strings.Cut(rest, " = ")
		b.Choose(selector, value)
	case "key":
		for _, name := range strings.Fields(rest) {
			key, known := map[string]string{"Tab": kb.Tab, "Enter": kb.Enter, "Escape": kb.Escape, "ArrowRight": kb.ArrowRight, "Space": " "}[name]
			if !known {
				b.t.Fatalf("no key %s", name)
			}
			do(b, chromedp.KeyEvent(key))
		}
	case "size":
		var width, height int64
		var scheme string
		if n, err := fmt.Sscan(rest, &width, &height, &scheme); n < 2 {
			b.t.Fatalf("%s: %v", line, err)
		}
		b.Size(width, height, scheme == "dark")
	case "scripts":
		_, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: rest == "off"})
		b.check(err)
		return "", true
	case "see":
		what, of, _ := strings.Cut(rest, " ")
		return b.Eval(fmt.Sprintf("(%s)(%q, %q)", seen, what, of)), true
	case "copied":
		id, format, _ := strings.Cut(rest, " ")
		b.Click(fmt.Sprintf(`.table:has(#table-%s) button[title$=" as %s"]`, id, format), 1)
		return strings.TrimSpace(strings.ReplaceAll(b.Eval("navigator.clipboard.readText()"), "\r", "")), true
	case "saved":
		name, data := b.Downloaded(func() { b.Click(rest, 1) })
		return name + "\n" + described(data), true
	case "faults":
		do(b, chromedp.Evaluate[any](axe+"; 0"))
		return b.Eval(`axe.run({resultTypes: ["violations"]}).then((r) => r.violations.filter((v) => ["serious", "critical"].includes(v.impact))
			.map((v) => v.id + ": " + v.help + "; " + v.nodes.slice(0, 3).map((n) => n.target).join(", ")).join("\n") || "no serious fault")`), true
	case "layout":
		return b.Eval(fmt.Sprintf("(%s)()", layout)), true
	default:
		return "", false
	}
	b.Eval("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))") // what follows from it has happened
	return "", true
}

// described is a file as a test can compare it: text by its first lines, a picture by
// whether it has anything on it.
func described(data []byte) string {
	if picture, err := png.Decode(bytes.NewReader(data)); err == nil {
		colors := make(map[any]bool)
		for x := range picture.Bounds().Dx() {
			for y := range picture.Bounds().Dy() {
				colors[picture.At(x, y)] = true
			}
		}
		return fmt.Sprintf("a picture of more than 50 colours: %v", len(colors) > 50)
	}
	text := strings.ReplaceAll(string(data), "\r", "")
	if strings.HasPrefix(text, "<svg") {
		return fmt.Sprintf("an SVG with %d plots; colours of the page left in it: %d", strings.Count(text, "<svg")-1, strings.Count(text, "var("))
	}
	lines := strings.Split(text, "\n")
	return strings.Join(lines[:min(3, len(lines))], "\n")
}

// seen says what a reader sees of a page.
const seen = `(what, of) => {
	const text = (e) => (e?.innerText ?? "").replace(/\s+/g, " ").trim();
	const all = (selector, from) => [...(from ?? document).querySelectorAll(selector)];
	const name = (e) => all(".chip")[e.dataset.series] ? text(all(".chip")[e.dataset.series]) : e.dataset.series;
	switch (what) {
	case "bar":
		return all(".chip").map((c) => (c.getAttribute("aria-pressed") === "true" ? "" : "not ") + text(c)).join(", ") + "; " +
			all("#bar select").map((s) => s.dataset.key + ": " + text(s.selectedOptions[0]))
			.concat(all("#bar input:checked").map((i) => i.dataset.key)).join(", ");
	case "figure":
		return [text(document.querySelector("#figure h2, #figure > p"))].concat(all("#figure .panel").map((p) => {
			const drawn = new Set(all("[data-series]", p).filter((e) => getComputedStyle(e).opacity > 0.5).map(name));
			const ordinates = p.spec?.log ? ", log" : "";
			return text(p.querySelector("h3")) + ": " + [...drawn].sort().join(", ") + ordinates;
		})).join("\n");
	case "table": {
		const table = document.getElementById("table-" + of), rows = all("tbody tr", table);
		return [text(table.tHead.rows[0]), text(table.closest(".table").querySelector(".count"))]
			.concat(rows.slice(0, 3).map((r) => [...r.cells].map(text).join(" | "))).join("\n");
	}
	case "tip": return document.getElementById("tip").hidden ? "no tip" : text(document.getElementById("tip"));
	case "open": {
		const d = document.querySelector("dialog[open]");
		return d ? all("h2", d).map(text).join("; ") : "nothing is open";
	}
	case "address": return decodeURIComponent(location.hash);
	case "text": return text(document.querySelector(of)) || "nothing";
	}
}`

// layout says what of a page a person would dislike.
const layout = `() => {
	const faults = [], wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
	if (wide > 1) faults.push("wider than the window by " + wide);
	const screens = document.documentElement.scrollHeight / innerHeight;
	if (screens > 6) faults.push(screens.toFixed(1) + " screens tall");
	for (const svg of document.querySelectorAll("svg.plot")) {
		const box = svg.getBoundingClientRect();
		const texts = [...svg.querySelectorAll("text")].filter((t) => t.textContent).map((t) => [t.textContent, t.getBoundingClientRect()]);
		texts.forEach(([a, r], i) => {
			if (r.left < box.left - 2 || r.right > box.right + 2 || r.top < box.top - 2 || r.bottom > box.bottom + 2) faults.push("cut: " + a);
			if (/rotate/.test(svg.innerHTML)) return;
			for (const [b, q] of texts.slice(i + 1)) {
				const beside = r.left < q.right - 1 && q.left < r.right - 1;
				if (beside && r.top < q.bottom - 3 && q.top < r.bottom - 3) faults.push("overlap: " + a + " and " + b);
			}
		});
	}
	return faults.slice(0, 6).join("\n") || "no fault";
}`
