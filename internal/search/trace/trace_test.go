package trace

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dmebench/algorithms"
	"dmebench/internal/runtime/run"
	"dmebench/internal/testkit"
)

// TestScenarios plays every worked example of every algorithm.
func TestScenarios(t *testing.T) {
	files, _ := filepath.Glob("../../../algorithms/*/testdata/*.txt")
	more, _ := filepath.Glob("../../../algorithms/*/testdata/*/*.txt")
	if files = append(files, more...); len(files) == 0 {
		t.Fatal("no scenarios")
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !IsScenario(text) {
			continue
		}
		t.Run(NameOf(path), func(t *testing.T) {
			s, err := Parse(path, text)
			if err != nil {
				t.Fatal(err)
			}
			a, err := run.Catalog(algorithms.All()).Lookup(s.Algorithm)
			if err != nil {
				t.Fatal(err)
			}
			played, err := s.Play(a, func(name string) ([]byte, error) {
				return os.ReadFile(filepath.Join(filepath.Dir(path), name))
			})
			if err != nil {
				t.Fatal(err)
			}
			if len(played.Messages) == 0 || len(played.Sections) == 0 && s.Violates == "" {
				t.Error("nothing to draw")
			}
			testkit.FileMustBe(t, path, played.Text)
		})
	}
}

// Of two equal messages, each can be copied once.
func TestEqualMessages(t *testing.T) {
	s, err := Parse("equal", []byte("# Copies\nalgorithm ricart-agrawala\nnodes 3\nrequest 3\nrequest 2\ncopy 2->1 REQUEST\n"+
		"deliver 2->1 REQUEST\ncopy 1->2 REPLY\ncopy 1->2 REPLY\n"))
	if err != nil {
		t.Fatal(err)
	}
	a, err := run.Catalog(algorithms.All()).Lookup(s.Algorithm)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Play(a, nil); err != nil {
		t.Error(err)
	}
}

func TestParseFaults(t *testing.T) {
	const head = "# Figure 1\nalgorithm ricart-agrawala\nnodes 3\n"
	for text, want := range map[string]string{
		"":                                           "must begin with",
		"algorithm x\nnodes 2\n":                     "must begin with",
		"# F\nalgorithm x\nnodes none\n":             `nodes "none": want a number from 1 to 1000`,
		head + "request 4\n":                         `:4: "4" is not one of the nodes 1 to 3`,
		head + "request\n":                           "request takes 1 to 1 words",
		head + "deliver 1-2\n":                       "want a link",
		head + "dance 1\n":                           `unknown command "dance"`,
		head + "set colour\n":                        "want set KEY=VALUE",
		head + "seed 1 2\n":                          "seed takes 1 word, not 2",
		head + "nodes 4\n":                           ":4: nodes is given in line 3 already",
		head + "algorithm x\n":                       ":4: algorithm is given in line 2 already",
		head + "settle\nset colour=red\n":            ":5: it comes after the first command, in line 4",
		head + "nodes 1000000000\n":                  "is given in line 3",
		"# F\nalgorithm x\nnodes 1000000000\n":       `nodes "1000000000": want a number from 1 to 1000`,
		head + strings.Repeat("state\n", MaxBytes/6): ":1: the file has more than 1048576 bytes",
	} {
		if _, err := Parse("f.txt", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}

func TestPlayFaults(t *testing.T) {
	a, err := run.Catalog(algorithms.All()).Lookup("ricart-agrawala")
	if err != nil {
		t.Fatal(err)
	}
	const head = "# Figure 1\nalgorithm ricart-agrawala\nnodes 3\n"
	for text, want := range map[string]string{
		head + "request 1\nrequest 1\n":          "f.txt:5: request 1: node 1 is requesting",
		"# F\nalgorithm x\nnodes 3\nset a=b\n":   "f.txt:4: ",
		head + "deliver 1->2\n":                  "f.txt:4: deliver 1->2: no such message is on its way; there are: none",
		head + "request 1\ndeliver 1->2 REPLY\n": "there are: 1->2 REQUEST, 1->3 REQUEST",
		head + "exit 2\n":                        "node 2 is idle",
		head + "timeout 2\n":                     "no timer 0 set",
		head + "request-shared 2\n":              "has no readers",
	} {
		s, err := Parse("f.txt", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Play(a, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}

// TestEndlessScenario plays what would never end: a token that goes round for
// ever, told to settle.
func TestEndlessScenario(t *testing.T) {
	a, err := run.Catalog(algorithms.All()).Lookup("token-ring")
	if err != nil {
		t.Fatal(err)
	}
	s, err := Parse("f.txt", []byte("# A token that never rests\nalgorithm token-ring\nnodes 2\nset mode=perpetual\nsettle\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Play(a, nil); err == nil || !strings.Contains(err.Error(), "f.txt:5: settle: messages go on and on") {
		t.Errorf("error %v", err)
	}
}

// Nodes that need a sequenced medium hear their own broadcasts in their place among all,
// without a word of the scenario: else none would ever enter. A counterexample, which
// names its links, is played on those that it names.
func TestSequencedMedium(t *testing.T) {
	const text = "# TR-869, section 6.2.1\nalgorithm ricart-agrawala-broadcast\nnodes 2\nset form=sequenced\n%s" +
		"request 2\nrequest 1\ndeliver 2->2\n"
	play := func(more string) string {
		s, err := Parse("example", fmt.Appendf(nil, text, more))
		if err != nil {
			t.Fatal(err)
		}
		a, err := run.Catalog(algorithms.All()).Lookup(s.Algorithm)
		if err != nil {
			t.Fatal(err)
		}
		played, err := s.Play(a, nil)
		if err != nil {
			t.Fatal(err)
		}
		return string(played.Text)
	}
	for _, more := range []string{"", "sequenced\n"} {
		if got := play(more); !strings.HasSuffix(got, "deliver 2->2\n  enter 2 (1,2)\n") {
			t.Errorf("%q:\n%s", more, got)
		}
	}
	if got := play("violates progress\n"); !strings.Contains(got, "deliver 2->2\n  not possible") {
		t.Errorf("a counterexample on other links:\n%s", got)
	}
}
