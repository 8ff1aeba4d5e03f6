package page

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"dmebench/algorithms"
	"dmebench/dme"
	"dmebench/dme/vnet"
	"dmebench/internal/playground"
	"dmebench/internal/search/trace"
	"dmebench/internal/testkit"
)

// The WebAssembly of the page does what the program does: it gives the same answers to random plays
// of every algorithm, and to all worked examples.
func TestTwin(t *testing.T) {
	if !testkit.Long() {
		t.Skip("takes minutes: set " + testkit.Effort + "=long")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("needs node")
	}
	dir := t.TempDir()
	for name, text := range map[string][]byte{"page.html": compiledPage(t), "twin.js": []byte(twin)} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c, err := playground.NewCatalog(algorithms.All(), algorithms.Scenarios)
	if err != nil {
		t.Fatal(err)
	}
	s := playground.Session{Catalog: c}
	var requests, want []string
	ask := func(request map[string]any) (answer []byte) {
		text, err := json.Marshal(request)
		if err != nil {
			t.Fatal(err)
		}
		answer = s.Call(text, nil)
		requests, want = append(requests, string(text)), append(want, fmt.Sprintf("%x", sha256.Sum256(answer)))
		return answer
	}
	for i, a := range algorithms.All() {
		nodes := 3 + i%3
		ask(map[string]any{"do": "open", "text": fmt.Sprintf("# A play\nalgorithm %s\nnodes %d\n", a.Name, nodes)})
		for _, steps := range randomPlays(t, a, nodes) {
			ask(map[string]any{"do": "go"})
			ask(map[string]any{"do": "do", "steps": steps})
		}
	}
	for _, x := range c.Scenarios {
		var opened struct{ Lines []trace.Line }
		if err := json.Unmarshal(ask(map[string]any{"do": "open", "text": string(x.Text())}), &opened); err != nil {
			t.Fatal(err)
		}
		for _, line := range opened.Lines {
			ask(map[string]any{"do": "do", "steps": line.Steps})
		}
	}
	command := exec.Command(node, "twin.js")
	command.Dir, command.Stdin = dir, strings.NewReader(strings.Join(requests, "\n"))
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Fields(string(out))
	if len(got) != len(want) {
		t.Fatalf("%d answers to %d requests", len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("the page answers %s otherwise than the program", requests[i])
		}
	}
}

// randomPlays are steps that are possible one after the other.
func randomPlays(t *testing.T, a *dme.Algorithm, nodes int) (plays [][]vnet.Step) {
	t.Helper()
	options, err := a.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	model, err := vnet.NewModel(vnet.Config{Algorithm: a, Nodes: nodes, Options: options, Seed: 1, Faults: true})
	if err != nil {
		t.Fatal(err)
	}
	many := uint64(100)
	if testkit.Full() {
		many = 1000
	}
	for seed := range many {
		n, rng := vnet.New(model), rand.New(rand.NewPCG(seed, 1))
		var steps []vnet.Step
		for enabled := n.Enabled(nil); len(enabled) > 0 && len(steps) < 40 && n.Violation == nil; enabled = n.Enabled(nil) {
			x := enabled[rng.IntN(len(enabled))]
			n.Take(x)
			steps = append(steps, x)
		}
		plays = append(plays, steps)
	}
	return plays
}

const twin = `
const fs = require("fs"), zlib = require("zlib"), crypto = require("crypto");
const html = fs.readFileSync("page.html", "utf8");
const script = id => html.split(new RegExp("<script[^>]* id=\"" + id + "\">"))[1].split("</script>")[0];
(0, eval)(script("go-runtime"));
const go = new Go();
globalThis.dmebenchReady = () => {
	const sum = text => crypto.createHash("sha256").update(text).digest("hex");
	for (const line of fs.readFileSync(0, "utf8").split("\n")) console.log(sum(dmebench(line)));
	process.exit(0);
};
WebAssembly.instantiate(zlib.gunzipSync(Buffer.from(script("wasm"), "base64")), go.importObject).then(r => go.run(r.instance));
`
