package lodhakshemkalyani

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
	edits  [][2]string // of lodhakshemkalyani.go: what stands there, and what instead
	caught string      // the fault that the search is to find
}

var mutants = []mutant{
	{"L1", [][2]string{{"if p.done.Precedes(r) { // L1", "if true {"}}, stall},
	{"L2: done is not sent", [][2]string{{"Clock: p.mySequenceNumber, Done: p.done}", "Clock: p.mySequenceNumber}"}}, stall},
	{"L2: done is not heard", [][2]string{{"\tp.hear(satisfied)                                                       // L2\n", ""}}, stall},
	{"L3: a FLUSH sets RV", [][2]string{
		{"p.receiveFlush(m.Done, out)", "p.rv.Add(from)\np.receiveFlush(m.Done, out)"},
	}, unsafe},
	{"L4", [][2]string{{"\tp.highestSequenceNumberSeen = p.mySequenceNumber ", "\t_ = p.mySequenceNumber "}}, stall},
	{"(4b)", [][2]string{{"\tp.hear(satisfied)     // (4b)\n", ""}}, stall},
	{"(5a): a FLUSH to the last candidate", [][2]string{{"p.lrq[1].Node", "p.lrq[len(p.lrq)-1].Node"}}, stall},
	{"(3bii): a second REQUEST is answered at once", [][2]string{{"p.deferred = insert(p.deferred, r)", "p.reply(r, out)"}}, unsafe},
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
				if strings.Contains(line, "lodhakshemkalyani_test.go") {
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
	const file = "lodhakshemkalyani.go"
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
