package playground

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"dmebench/algorithms"
	"dmebench/dme/vnet"
)

func newSession(t *testing.T) *Session {
	t.Helper()
	c, err := NewCatalog(algorithms.All(), algorithms.Scenarios)
	if err != nil {
		t.Fatal(err)
	}
	return &Session{Catalog: c}
}

func ask(t *testing.T, s *Session, q request) answer {
	t.Helper()
	text, err := json.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	var a answer
	if err := json.Unmarshal(s.Call(text, nil), &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// Of every algorithm: going back restores each state of a random play, and the scenario
// that the play is written as leads to its last one.
func TestPlaysCanBeRepeated(t *testing.T) {
	s := newSession(t)
	for _, a := range algorithms.All() {
		text := "# A play\nalgorithm " + a.Name + "\nnodes 4\n"
		if opened := ask(t, s, request{Do: "open", Text: text}); opened.Error != "" {
			t.Errorf("%s: %s", a.Name, opened.Error)
			continue
		}
		hashes := []string{s.hash()}
		for seed := range uint64(60) {
			if len(ask(t, s, request{Do: "random", Seed: seed, Count: 1}).Taken) == 0 {
				break
			}
			hashes = append(hashes, s.hash())
		}
		last := len(hashes) - 1
		written := ask(t, s, request{Do: "scenario"}).Text
		for k := last; k >= 0; k -= 7 {
			if state := ask(t, s, request{Do: "go", Count: k}).State; state == nil || state.Hash != hashes[k] || state.Steps != k {
				t.Errorf("%s: after going back to step %d the state is another", a.Name, k)
			}
		}
		opened := ask(t, s, request{Do: "open", Text: written})
		if opened.Error != "" {
			t.Errorf("%s: %s\n%s", a.Name, opened.Error, written)
			continue
		}
		for _, line := range opened.Lines {
			ask(t, s, request{Do: "steps", Steps: line.Steps})
		}
		if s.hash() != hashes[last] {
			t.Errorf("%s: the play that was written down leads elsewhere:\n%s", a.Name, written)
		}
	}
}

// What the page tells of a state is what can be done in it: each step that it offers can be
// taken, and no other message may arrive.
func TestOffersArePossible(t *testing.T) {
	s := newSession(t)
	for _, a := range algorithms.All() {
		ask(t, s, request{Do: "open", Text: "# A play\nalgorithm " + a.Name + "\nnodes 3\n"})
		ask(t, s, request{Do: "random", Seed: 7, Count: 25})
		steps := len(s.steps)
		state := s.state()
		offers := append([]stepView{}, state.Enabled...)
		for _, f := range state.Flights {
			if f.May {
				offers = append(offers, stepView{Kind: f.Kind, Node: f.To, From: f.From, Index: f.Index})
			}
		}
		for _, x := range offers {
			if got := ask(t, s, request{Do: "step", Step: &x}); got.Error != "" {
				t.Errorf("%s: %v is offered, and refused: %s", a.Name, x, got.Error)
			}
			ask(t, s, request{Do: "go", Count: steps})
		}
	}
}

// Every part of every lesson can be played to its end.
func TestLessonsCanBePlayed(t *testing.T) {
	text, err := os.ReadFile("page/lessons.txt")
	if err != nil {
		t.Fatal(err)
	}
	lessons, _, _ := strings.Cut(string(text), "\n*** ")
	s := newSession(t)
	parts := 0
	for lesson := range strings.SplitSeq(lessons, "\n=== ") {
		for part := range strings.SplitSeq(lesson, "\n---\n") {
			part = part[strings.Index(part, "# "):]
			if task := strings.Index(part, "\n!!!"); task >= 0 {
				part = part[:task+1]
			}
			parts++
			if a := ask(t, s, request{Do: "open", Text: part}); a.Error != "" {
				t.Errorf("%s\n%s", a.Error, part)
			}
		}
	}
	if parts < 7 {
		t.Errorf("%d parts of lessons", parts)
	}
}

func TestQuestions(t *testing.T) {
	s := newSession(t)
	for _, c := range []struct {
		algorithm, looksFor string
		nodes               int
		says                string // what is found
		property            string // that the scenario breaks; "" for no scenario
	}{
		{"maekawa-as-published", "deadlock", 7, "stalled", "progress"},
		{"singhal-as-published", "overlap", 3, "two nodes", string(vnet.Exclusion)},
		{"maekawa", "proof", 3, "Proven for 3 nodes", ""},
		{"ricart-agrawala", "deadlock", 3, "proves nothing", ""},
	} {
		found := ask(t, s, request{Do: "search", For: c.looksFor, Algorithm: c.algorithm, Nodes: c.nodes})
		if found.Error != "" || !strings.Contains(found.Found, c.says) || (found.Text != "") != (c.property != "") {
			t.Errorf("%s for %s: %q %s", c.looksFor, c.algorithm, found.Found, found.Error)
			continue
		}
		if c.property == "" {
			continue
		}
		for _, line := range ask(t, s, request{Do: "open", Text: found.Text}).Lines {
			ask(t, s, request{Do: "steps", Steps: line.Steps})
		}
		if got := s.state(); got.Property != c.property {
			t.Errorf("%s for %s: its scenario ends with %q %s", c.looksFor, c.algorithm, got.Property, got.Verdict)
		}
	}
}

// A detour is noticed, and the fewest steps are found; if they lead through other requests
// of the same nodes, that is a shorter way, too.
func TestShorterWay(t *testing.T) {
	s := newSession(t)
	for commands, want := range map[string]string{
		"request 2\nsettle\nexit 2\nsettle\nrequest 3\n": "Yes: it takes 1 step, not 6.",
		"request 2\ndeliver 2->1\nrequest 3\n":           "No: it takes at least 3 steps.",
	} {
		ask(t, s, request{Do: "open", Text: "# x\nalgorithm centralized\nnodes 3\n" + commands})
		for _, line := range s.lines {
			ask(t, s, request{Do: "steps", Steps: line.Steps})
		}
		hash := s.hash()
		if a := ask(t, s, request{Do: "shorter"}); a.Found != want || s.hash() != hash {
			t.Errorf("%q: %q %s", commands, a.Found, a.Error)
		}
	}
}

func TestWrongRequests(t *testing.T) {
	s := newSession(t)
	for text, want := range map[string]string{
		`{"do":"state"}`: "nothing is open",
		`{"do":"open","text":"algorithm nobody"}`: "play:",
		`{"do":`:                               "JSON",
		`{"do":"search","algorithm":"nobody"}`: "nobody",
		`{"do":"open","text":"# x\nalgorithm maekawa\nnodes 7\nset quorum=file:nowhere.txt"}`: "nowhere.txt",
	} {
		var a answer
		if err := json.Unmarshal(s.Call([]byte(text), nil), &a); err != nil || !strings.Contains(a.Error, want) {
			t.Errorf("%s: %q %v", text, a.Error, err)
		}
	}
}
