package singhal

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// mutant is the algorithm with one repair, or one rule of the text, taken out.
type mutant struct {
	name   string
	edits  [][2]string // of singhal.go: what stands there, and what instead
	caught string      // the fault that the search is to find
}

// later makes a step of what follows the timer.
func later(body string) [2]string {
	const state = "func (s *site) State(v *algorithms.Visitor) {"
	return [2]string{state, "func (s *site) Timeout(_ algorithms.TimerID, out *algorithms.Outbox) {\n" + body + "\n}\n\n" + state}
}

const (
	enter    = "\t\ts.requesting, s.executing = false, true // S2: together\n\t\tout.Enter(s.request)\n"
	priority = "return s.request.Precedes(r)"
	stamp    = "Clock: s.request.Clock}) // S4: not C_i"
)

var mutants = []mutant{
	{"S1", [][2]string{
		{"j < id; j++ { // S1", "j <= id; j++ { // S1"},
		{"func (s *site) ask(j algorithms.NodeID, out *algorithms.Outbox) {\n", "func (s *site) ask(j algorithms.NodeID, out *algorithms.Outbox) {\n\tif j == s.i {\n\t\treturn\n\t}\n"},
	}, stall},
	{"S2", [][2]string{
		{enter, "\t\ts.requesting = false\n\t\tout.SetTimer(0, 0)\n"},
		later("s.executing = true\nout.Enter(s.request)"),
	}, unsafe},
	{"S3", [][2]string{
		{enter, "\t\tout.SetTimer(0, 0)\n"},
		later("if s.requesting {\ns.requesting, s.executing = false, true\nout.Enter(s.request)\n}"),
	}, unsafe},
	{"S4 in My_priority", [][2]string{
		{priority, "return algorithms.Stamp{Clock: s.c, Node: s.i}.Precedes(r)"},
	}, unsafe},
	{"S4 in the second REQUEST", [][2]string{{stamp, "Clock: s.c})"}}, refusal},
	{"the second REQUEST", [][2]string{{"\t\t\ts.r.Add(r.Node)\n\t\t\ts.ask(r.Node, out)\n", ""}}, unsafe},
	{"who leaves must ask next time", [][2]string{{"\t\ts.reply(k, out)\n\t\ts.r.Add(k.Node)\n", "\t\ts.reply(k, out)\n"}}, unsafe},
}

// TestMutantsAreCaught shows that TestRandomSchedules can fail: it must, for
// every mutant.
func TestMutantsAreCaught(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the package once for each mutant")
	}
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command to build mutants with")
	}
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			output, err := exec.Command(tool, "test", "-vet=off", "-count=1", "-run=^TestRandomSchedules$",
				"-overlay="+m.write(t), ".", "-fault="+m.caught).CombinedOutput()
			if err == nil {
				t.Fatal("not caught")
			}
			report := ""
			for line := range strings.Lines(string(output)) {
				if strings.Contains(line, "singhal_test.go") {
					report = strings.TrimSpace(line)
					break
				}
			}
			if !strings.Contains(report, m.caught) {
				t.Fatalf("want a report that says %q, got\n%s", m.caught, output)
			}
			t.Log(report)
		})
	}
}

// write writes the mutated file and the overlay that puts it in its place, and
// returns the overlay's name.
func (m mutant) write(t *testing.T) string {
	t.Helper()
	const file = "singhal.go"
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := string(source)
	for _, e := range m.edits {
		if n := strings.Count(text, e[0]); n != 1 {
			t.Fatalf("the patch does not apply: %s has %d places like\n%s", file, n, e[0])
		}
		text = strings.Replace(text, e[0], e[1], 1)
	}
	original, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	mutated, name := filepath.Join(folder, file), filepath.Join(folder, "overlay.json")
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {original: mutated}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(mutated, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}
