package page

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"dmebench/algorithms"
	"dmebench/internal/testkit"
)

// compiledOnce compiles the model for all tests of the package.
var compiledOnce = sync.OnceValues(func() ([]byte, error) { return compile(context.Background()) })

func compiledPage(t *testing.T) []byte {
	t.Helper()
	if testing.Short() {
		t.Skip("compiles to WebAssembly")
	}
	html, err := compiledOnce()
	if err != nil {
		t.Fatal(err)
	}
	return html
}

// MostBytes is how large the page may be.
const mostBytes = 4 << 20

func opened(t *testing.T, scenario, fragment string) *testkit.Browser {
	t.Helper()
	b := testkit.NewBrowser(t)
	html := open(compiledPage(t), scenario)
	if len(html) > mostBytes {
		t.Errorf("the page has %d bytes", len(html))
	}
	b.Size(1400, 900, false)
	b.Open(html, fragment)
	b.Eval(ready)
	return b
}

// until waits until an expression is true.
const until = `await new Promise(resolve => { const look = () => (%s) ? resolve() : setTimeout(look, 10); look(); })`

var ready = fmt.Sprintf(until, `document.body?.classList.contains("ready")`)

// drawn waits until what has changed is drawn, which takes three frames.
const drawn = `(async () => { for (let k = 0; k < 4; k++) await new Promise(requestAnimationFrame); })()`

// A hand that clicks nodes and messages comes to the deadlock of the literal text, as its
// lesson says, and with the repaired text the member that is passed is told FAILED, and
// somebody is asked by INQUIRE.
func TestHand(t *testing.T) {
	b := opened(t, "", "")
	step := func(selector string) {
		b.Click(selector, 1)
		b.Eval(drawn)
	}
	begin := func(algorithm string) {
		b.Choose("#algorithm", algorithm)
		b.Choose("#count", "7")
		step("#new button")
		for _, node := range []int{1, 2, 3, 4} {
			step(fmt.Sprintf(`[data-node="%d"]`, node))
		}
		for _, link := range []string{"3>4", "1>2", "1>4", "2>3", "2>5", "3>6", "4>5", "4>7"} {
			step(fmt.Sprintf(`[data-flight="%s>0"]`, link))
		}
	}
	begin("maekawa-as-published")
	for i := 0; b.Eval(`document.querySelector("#next").disabled`) == "false" && i < 40; i++ {
		step("#next")
	}
	verdict := b.Eval(`play.state.property + ": " + document.querySelector(".verdict").textContent`)
	if !strings.Contains(verdict, "progress: Standstill") {
		t.Errorf("the literal text ends with %q", verdict)
	}
	if waits := b.Eval(`document.querySelectorAll(".picture .wait").length`); waits == "0" {
		t.Error("nobody is drawn as waiting for anybody in a deadlock")
	}
	begin("maekawa")
	sent := b.Eval(`Object.keys(play.state.by_kind).sort().join()`)
	if !strings.Contains(sent, "FAILED") {
		t.Errorf("the repaired text has sent %s", sent)
	}
	for i := 0; b.Eval(`play.state.entries`) != "4" && i < 120; i++ {
		step("#next")
	}
	if entries := b.Eval(`play.state.entries`); entries != "4" {
		t.Errorf("with the repaired text %s nodes have been inside", entries)
	}
	b.Eval(`await choose("scenario:maekawa/section-5")`)
	sent = b.Eval(`(() => { while (play.next()); return Object.keys(play.state.by_kind).join(); })()`)
	if !strings.Contains(sent, "INQUIRE") {
		t.Errorf("the paper's example sends %s", sent)
	}
}

// A timer that is fired by hand is drawn, and its handler is shown.
func TestTimer(t *testing.T) {
	b := opened(t, "", "")
	b.Choose("#algorithm", "ricart-agrawala-implicit")
	for _, selector := range []string{"#new button", `[data-node="1"]`, `[data-act="timer-1"]`} {
		b.Click(selector, 1)
		b.Eval(drawn)
	}
	shown := b.Eval(`[play.taken.at(-1).command, document.querySelectorAll(".point.timer").length,
		document.querySelector(".source code")?.textContent.includes("Timeout(")].join()`)
	if shown != "timeout 1 1,1,true" {
		t.Errorf("after a timer the page shows %s", shown)
	}
}

// Back and forward, branches, the link and the file restore states by their hashes.
func TestBackAndForward(t *testing.T) {
	testkit.TakesLong(t)
	b := opened(t, "", "open=lesson:tree")
	hash := func() string { b.Eval(drawn); return b.Eval(`document.body.dataset.hash`) }
	hashes := []string{hash()}
	for range 6 {
		b.Press("\u0303") // →
		hashes = append(hashes, hash())
	}
	if hashes[6] == hashes[0] {
		t.Fatal("the key → takes no step")
	}
	for k := 5; k >= 0; k-- {
		b.Click("#back", 1)
		if got := hash(); got != hashes[k] {
			t.Errorf("a step back leads to %s; before step %d it was %s", got, k+1, hashes[k])
		}
	}
	b.Choose("#slider", "6")
	if got := hash(); got != hashes[6] {
		t.Errorf("forward by the slider leads to %s; it was %s", got, hashes[6])
	}
	b.Choose("#slider", "3")
	b.Eval(drawn)
	b.Click(`[data-node="4"]`, 1)
	other := hash()
	b.Click("#branches button", 1)
	b.Eval(drawn) // the slider is longer now
	b.Choose("#slider", "6")
	if got := hash(); got != hashes[6] {
		t.Errorf("the branch that was left leads to %s; it was %s", got, hashes[6])
	}
	b.Click("#branches button", 1)
	b.Eval(drawn) // the slider is longer now
	b.Choose("#slider", "4")
	if got := hash(); got != other {
		t.Errorf("the other branch leads to %s; it was %s", got, other)
	}
	name, text := b.Downloaded(func() { b.Click("#save", 1) })
	if !strings.HasSuffix(name, ".txt") || !strings.Contains(string(text), "algorithm raymond\n") {
		t.Errorf("%s: %s", name, text)
	}
	b.Click("#link", 1)
	b.Eval(fmt.Sprintf(until, `location.hash.includes("play=")`))
	link := b.Eval(`location.hash.slice(1)`)
	again := opened(t, "", link)
	again.Eval(drawn)
	if got := again.Eval(`document.body.dataset.hash`); got != other {
		t.Errorf("the link leads to %s; it was %s", got, other)
	}
	// A branch whose beginning was left for another one leads where it did.
	if same := again.Eval(`(() => {
		open("# A play\nalgorithm lamport\nnodes 3\n");
		const ask = (...nodes) => { for (const node of nodes) play.do({ kind: "request", node }); };
		ask(1, 2, 3);
		const hash = play.state.hash;
		play.goTo(1);
		ask(3);
		play.goTo(0);
		ask(2);
		play.take(play.branches[0]);
		play.goTo(3);
		return play.state.hash === hash;
	})()`); same != "true" {
		t.Error("a branch of a branch leads elsewhere")
	}
}

// The picture shows a step in the next frame, and the diagram soon, also while steps go on.
func TestPictureComesFirst(t *testing.T) {
	testkit.TakesLong(t)
	b := opened(t, "", "open=scenario:maekawa/section-5")
	late := b.Eval(`(async () => {
		const late = [];
		for (let k = 0; k < 12; k++) {
			play.next();
			await new Promise(requestAnimationFrame);
			if ($("position").textContent !== "step " + play.at || play.at - diagram.now > 3) late.push(play.at);
		}
		return late.join();
	})()`)
	if late != "" {
		t.Errorf("steps %s are drawn late", late)
	}
}

// The picture is that of the state, whatever was drawn before.
func TestPicture(t *testing.T) {
	testkit.TakesLong(t)
	b := opened(t, "", "")
	for _, algorithm := range []string{"lamport", "maekawa", "ricart-agrawala-token", "majority-lease"} {
		differs := b.Eval(fmt.Sprintf(`(() => {
			$("algorithm").value = %q;
			$("count").value = 5;
			$("options").value = "";
			document.querySelector("#new button").click();
			for (let k = 0, drawn = 7; k < 400; k++) {
				drawn = (drawn * 1103515245 + 12345) & 0x7fffffff;
				switch ((drawn >> 16) %% 12) {
				case 0: setRules({ anyOrder: !options.anyOrder, waits: k %% 3 > 0 }); break;
				case 1: hand.cut(1 + (drawn >> 8) %% 5); break;
				case 2: play.goTo(play.at - (drawn >> 8) %% 3); break;
				case 3: picture.selected = (drawn >> 8) %% 6; break;
				default:
					const all = play.state.flights.filter(f => mayDeliver(f, options)).concat(play.state.enabled.filter(x => x.kind !== "crash"));
					if (all.length) play.do(all[(drawn >> 8) %% all.length]);
				}
				drawPicture();
				const anew = new Picture(document.createElement("div"), hand);
				anew.selected = picture.selected;
				anew.show(play, options);
				if (picture.canvas.innerHTML !== anew.canvas.innerHTML) return "after " + k;
			}
			return "";
		})()`, algorithm))
		if differs != "" {
			t.Errorf("%s is drawn differently from the start %s", algorithm, differs)
		}
	}
}

// Whatever the page offers is possible, in any order.
func TestRandomHand(t *testing.T) {
	testkit.TakesLong(t)
	b := opened(t, "", "")
	for _, algorithm := range []string{"token-ring", "ricart-agrawala-implicit", "raymond-robust", "maekawa", "composed", "majority-lease"} {
		refused := b.Eval(fmt.Sprintf(randomHand, algorithm))
		if refused != "" {
			t.Errorf("%s: %s", algorithm, refused)
		}
	}
}

const randomHand = `await (async () => {
	$("algorithm").value = %q;
	$("count").value = 4;
	$("options").value = "";
	document.querySelector("#new button").click();
	setRules({ anyOrder: true, unreliable: true, faults: true });
	let drawn = 7;
	for (let k = 0; k < 80; k++) {
		for (const draw of [drawPicture, drawDiagram, drawPanels]) draw();
		const offered = [...document.querySelectorAll("[data-node], #flights button, #variables button, #next, #back, #random, #branches button")]
			.filter(e => !e.disabled && e.getAttribute("aria-disabled") !== "true");
		drawn = (drawn * 1103515245 + 12345) & 0x7fffffff;
		const back = offered.filter(e => e.id === "back" || e.closest("#branches"));
		const which = [back, offered.filter(e => e.closest("#flights")), offered][(drawn >> 20) %% 3];
		const some = which.length ? which : offered;
		const e = some[(drawn >> 8) %% some.length], what = e.textContent, at = play.at;
		const says = e.closest("#flights li")?.querySelector(".way").textContent ?? (e.dataset.act ?? "").replace(/^cut.*/, "");
		e.dispatchEvent(new MouseEvent("click", { bubbles: true }));
		if (!$("alert").hidden) return what + ": " + $("alert").textContent;
		const x = play.taken[play.at - 1];
		if (says && (play.at !== at + 1 || ![x.from + " → " + x.node, "node " + x.node, x.kind + "-" + x.node].includes(says))) {
			return what + " of " + says + " did " + JSON.stringify(plainStep(x));
		}
	}
	return "";
})()`

// A counterexample of each literal text is found, opens and breaks what it says.
func TestErrata(t *testing.T) {
	testkit.TakesLong(t)
	b := opened(t, "", "")
	var names []string
	if err := json.Unmarshal([]byte(b.Eval(`Lessons.errata.map(e => e.algorithm)`)), &names); err != nil {
		t.Fatal(err)
	}
	published := 0
	for _, a := range algorithms.All() {
		if a.AsPublished {
			published++
		}
	}
	if len(names) != published {
		t.Errorf("%d literal texts are in the menu, and there are %d", len(names), published)
	}
	for _, name := range names {
		b.Eval(fmt.Sprintf(`await choose("erratum:%s")`, name))
		got := b.Eval(`(() => { while (play.at < play.script.length && play.next()); return play.state.property ?? ""; })()`)
		if got == "" || got == "null" {
			t.Errorf("%s: nothing is broken in the end: %s", name, b.Eval(`document.querySelector("#found").textContent`))
		}
	}
}

// The first lesson can be gone through by the keyboard alone.
func TestFirstLessonByKeyboard(t *testing.T) {
	testkit.TakesLong(t)
	b := opened(t, "", "open=lesson:first")
	b.Eval(drawn)
	for range 20 {
		b.Press("\u0303") // →
		b.Eval(drawn)
	}
	press := func(selector string) bool {
		b.Eval(drawn)
		if b.Eval(fmt.Sprintf(`(document.querySelector('%[1]s')?.focus(), document.querySelector('%[1]s') !== null)`, selector)) != "true" {
			return false
		}
		b.Press("\r")
		return true
	}
	press(`[data-node="1"]`)
	press(`[data-node="3"]`)
	for i := 0; b.Eval(`document.querySelector(".task.done") !== null`) != "true" && i < 60; i++ {
		if !press(`.flight[tabindex="0"]`) && !press(`.node.inside`) {
			break
		}
	}
	b.Eval(drawn)
	done := b.Eval(`document.querySelector(".task.done button")?.textContent ?? document.querySelector("#story").textContent`)
	if !strings.Contains(done, "Next lesson") {
		t.Log(b.Eval(`play.taken.slice(7).map(e => e.command).join("; ")`))
		t.Errorf("after the first lesson the page says %q", done)
	}
}

// What lies between a node that is cut off and the others waits, and goes on after.
func TestCutOff(t *testing.T) {
	testkit.TakesLong(t)
	b := opened(t, "", "")
	b.Choose("#algorithm", "centralized")
	b.Click("#new button", 1)
	b.Eval(drawn)
	b.Click("#faults", 1)
	b.Click(`[data-node="2"]`, 1)
	b.Eval(drawn)
	b.Click(`[data-act="cut-2"]`, 1)
	b.Eval(drawn)
	if next := b.Eval(`document.querySelector("#next").disabled`); next != "true" {
		t.Error("a message over a link that is cut is proposed")
	}
	b.Click(`[data-act="cut-2"]`, 1)
	b.Eval(drawn)
	for range 2 {
		b.Click("#next", 1)
		b.Eval(drawn)
	}
	if inside := b.Eval(`[...document.querySelectorAll(".node.inside")].map(n => n.dataset.node).join()`); inside != "2" {
		t.Errorf("after the cut has healed, %q are inside", inside)
	}
}

// Every worked example can be played in the page, and has something to look at.
func TestScenarios(t *testing.T) {
	testkit.TakesLong(t)
	b := opened(t, "", "")
	got := b.Eval(`await (async () => {
		const wrong = [];
		for (const name of Object.keys(catalog.scenarios)) {
			await choose("scenario:" + name);
			while (play.at < play.script.length && attempt(() => play.next()));
			const said = document.querySelector("#alert").textContent;
			if (play.at !== play.script.length) wrong.push(name + " ends at step " + play.at + ": " + said);
			if (!name.endsWith("/example") && !Lessons.notes[name]) wrong.push("nothing is said of " + name);
		}
		return wrong.join("\n");
	})()`)
	if got != "" {
		t.Error(got)
	}
}

// At the sizes of a desk, a tablet and a phone nothing is wider than the window.
func TestWidths(t *testing.T) {
	testkit.TakesLong(t)
	b := opened(t, "", "open=lesson:quorums")
	for _, width := range []int64{1400, 800, 400} {
		b.Size(width, 800, width == 800)
		b.Eval(drawn)
		if wide := b.Eval(`document.documentElement.scrollWidth - document.documentElement.clientWidth`); wide != "0" {
			t.Errorf("at %d pixels the page is %s too wide", width, wide)
		}
	}
}

// A recorded run opens with its times, and finds events.
func TestRecordedRun(t *testing.T) {
	testkit.TakesLong(t)
	b := testkit.NewBrowser(t)
	text, err := os.ReadFile("testdata/run.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	html, err := RenderRecording(text)
	if err != nil {
		t.Fatal(err)
	}
	b.Open(html, "")
	b.Eval(ready)
	b.Choose("#query", "crashes")
	b.Click("#again", 1)
	if found := b.Eval(`document.querySelector("#hits").textContent`); found != "1 found" {
		t.Errorf("of one crash: %q", found)
	}
	b.Eval(drawn)
	if gaps := b.Eval(`document.querySelectorAll(".gap").length + document.querySelectorAll(".point.crash").length`); gaps == "0" {
		t.Error("the crash is not drawn")
	}
}
