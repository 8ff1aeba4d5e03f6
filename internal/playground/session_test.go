package playground

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"dmebench/algorithms"
	"dmebench/dme"
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

// offers are the steps that the page offers in a state; random those that it draws from.
func offers(v *stateView, random bool) (steps []vnet.Step) {
	for _, x := range v.Enabled {
		if !random || x.Kind == dme.Request || x.Kind == dme.RequestShared || x.Kind == dme.Exit {
			steps = append(steps, x)
		}
	}
	var others []offerView
	for _, f := range v.Flights {
		others = append(others, f.offerView)
	}
	for _, t := range v.Timers {
		others = append(others, t.offerView)
	}
	for _, x := range others {
		if x.May && !(random && (x.Beyond || x.Index > 0)) {
			steps = append(steps, x.Step)
		}
	}
	return steps
}

// draw takes count steps at random; fewer if nothing is possible any more.
func draw(t *testing.T, s *Session, rng *rand.Rand, count int) {
	t.Helper()
	for range count {
		steps := offers(s.state(), true)
		if len(steps) == 0 {
			return
		}
		if a := ask(t, s, request{Do: "do", Steps: steps[rng.IntN(len(steps)):][:1]}); a.Error != "" {
			t.Fatal(a.Error)
		}
	}
}

// Of every algorithm: going back restores each state of a random play, and the commands of its steps
// lead to its last one.
func TestPlaysCanBeRepeated(t *testing.T) {
	s := newSession(t)
	for _, a := range algorithms.All() {
		text := "# A play\nalgorithm " + a.Name + "\nnodes 4\n"
		if opened := ask(t, s, request{Do: "open", Text: text}); opened.Error != "" {
			t.Errorf("%s: %s", a.Name, opened.Error)
			continue
		}
		hashes, rng := []string{s.hash()}, rand.New(rand.NewPCG(7, 1))
		for range 60 {
			draw(t, s, rng, 1)
			hashes = append(hashes, s.hash())
		}
		last := len(s.steps)
		for _, x := range s.taken {
			text += x.Command + "\n"
		}
		for k := last; k >= 0; k -= 7 {
			if state := ask(t, s, request{Do: "go", Count: k}).State; state == nil || state.Hash != hashes[k] || state.Steps != k {
				t.Errorf("%s: after going back to step %d the state is another", a.Name, k)
			}
		}
		opened := ask(t, s, request{Do: "open", Text: text})
		if opened.Error != "" {
			t.Errorf("%s: %s\n%s", a.Name, opened.Error, text)
			continue
		}
		for _, line := range opened.Lines {
			ask(t, s, request{Do: "do", Steps: line.Steps})
		}
		if s.hash() != hashes[last] {
			t.Errorf("%s: the play that was written down leads elsewhere:\n%s", a.Name, text)
		}
	}
}

// What the page tells of a state is what can be done in it: each step that it offers can be
// taken.
func TestOffersArePossible(t *testing.T) {
	s := newSession(t)
	for _, a := range algorithms.All() {
		ask(t, s, request{Do: "open", Text: "# A play\nalgorithm " + a.Name + "\nnodes 3\n"})
		draw(t, s, rand.New(rand.NewPCG(7, 2)), 25)
		steps := len(s.steps)
		for _, x := range offers(s.state(), false) {
			if got := ask(t, s, request{Do: "do", Steps: []vnet.Step{x}}); got.Error != "" {
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
			ask(t, s, request{Do: "do", Steps: line.Steps})
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
		for _, line := range ask(t, s, request{Do: "open", Text: "# x\nalgorithm centralized\nnodes 3\n" + commands}).Lines {
			ask(t, s, request{Do: "do", Steps: line.Steps})
		}
		hash, before := s.hash(), len(s.steps)
		a := ask(t, s, request{Do: "shorter"})
		if a.Found != want || (a.Steps != nil) != strings.HasPrefix(want, "Yes") {
			t.Errorf("%q: %q %v %s", commands, a.Found, a.Steps, a.Error)
		}
		if a.Steps == nil {
			continue
		}
		ask(t, s, request{Do: "go"})
		ask(t, s, request{Do: "do", Steps: a.Steps})
		if s.hash() != hash || len(s.steps) >= before {
			t.Errorf("%q: %v leads elsewhere", commands, a.Steps)
		}
	}
}

func TestWrongRequests(t *testing.T) {
	s := newSession(t)
	for text, want := range map[string]string{
		`{"do":"go"}`: "nothing is open",
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
