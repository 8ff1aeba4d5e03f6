package trace

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dmebench/algorithms"
	"dmebench/dme"
	"dmebench/internal/runtime/run"
)

// mutants is how many faulty scenarios are tried.
const mutants = 2000

// TestMutants drops, repeats, swaps and adds lines of the worked examples, and
// has commands mean other nodes. Whatever comes of it is played, or refused with
// the line at fault: nothing that a file says is a reason to panic.
func TestMutants(t *testing.T) {
	originals := scenarioFiles(t)
	rng := rand.New(rand.NewPCG(9, 1985))
	refused := 0
	for k := range mutants {
		file := originals[rng.IntN(len(originals))]
		lines := mutate(rng, file.lines)
		if err := playMutant(file, lines); err != nil {
			refused++
			var number int
			at, _ := strings.CutPrefix(err.Error(), "trace: "+file.path+":")
			if n, _ := fmt.Sscanf(at, "%d:", &number); n != 1 || number < 1 || number > len(lines) {
				t.Errorf("mutant %d of %s is refused without its line: %v\n%s", k, file.path, err, strings.Join(lines, "\n"))
			}
		}
	}
	if refused == 0 || refused == mutants {
		t.Errorf("%d of %d mutants were refused; the mutations do not do what they are for", refused, mutants)
	}
}

type scenarioFile struct {
	path  string
	lines []string // without outcomes
}

func scenarioFiles(t *testing.T) (all []scenarioFile) {
	files, _ := filepath.Glob("../../../algorithms/*/testdata/*.txt")
	more, _ := filepath.Glob("../../../algorithms/*/testdata/*/*.txt")
	for _, path := range slices.Concat(files, more) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !IsScenario(text) {
			continue
		}
		f := scenarioFile{path: path}
		for l := range strings.Lines(string(text)) {
			if !strings.HasPrefix(l, " ") {
				f.lines = append(f.lines, strings.TrimRight(l, "\n"))
			}
		}
		all = append(all, f)
	}
	if len(all) == 0 {
		t.Fatal("no scenarios")
	}
	return all
}

// mutate makes one to three changes to a scenario's lines.
func mutate(rng *rand.Rand, original []string) []string {
	lines := slices.Clone(original)
	for range 1 + rng.IntN(3) {
		if len(lines) < 2 {
			break
		}
		i, j := rng.IntN(len(lines)), rng.IntN(len(lines))
		switch rng.IntN(5) {
		case 0:
			lines = slices.Delete(lines, i, i+1)
		case 1:
			lines = slices.Insert(lines, j, lines[i])
		case 2:
			lines[i], lines[j] = lines[j], lines[i]
		case 3: // the same at another node or link
			words, others := strings.Fields(lines[i]), strings.Fields(lines[j])
			if len(words) > 1 && len(others) > 1 {
				lines[i] = words[0] + " " + strings.Join(others[1:], " ")
			}
		case 4: // what is done at the end, and to nobody in particular
			lines = slices.Insert(lines, j, []string{"settle", "stop", "state"}[rng.IntN(3)])
		}
	}
	return lines
}

func playMutant(file scenarioFile, lines []string) error {
	s, err := Parse(file.path, []byte(strings.Join(lines, "\n")+"\n"))
	if err != nil {
		return err
	}
	var a *dme.Algorithm
	if a, err = run.Catalog(algorithms.All()).Lookup(s.Algorithm); err != nil {
		return s.Refused(err)
	}
	_, err = s.Play(a, func(name string) ([]byte, error) {
		return os.ReadFile(filepath.Join(filepath.Dir(file.path), name))
	})
	return err
}
