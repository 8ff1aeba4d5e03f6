package fault

import (
	"slices"
	"strings"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/internal/testkit"
)

// What is read is written as it was, and what cannot be says why.
func TestGrammar(t *testing.T) {
	testkit.Cases(t, "testdata/grammar.txt", func(t *testing.T, input []string) string {
		var out []string
		for _, line := range input {
			if f, err := Parse(line); err != nil {
				out = append(out, err.Error())
			} else {
				out = append(out, f.String())
			}
		}
		return strings.Join(out, "\n")
	})
}

func FuzzParse(f *testing.F) {
	f.Add("partition 1,2|3-8 @1s-3s")
	f.Add("pause 5 @entry:20+1ms")
	f.Fuzz(func(t *testing.T, s string) {
		x, err := Parse(s)
		if err != nil {
			return
		}
		again, err := Parse(x.String())
		if err != nil || again.String() != x.String() {
			t.Errorf("%q reads as %q, which reads as %q (%v)", s, x, again, err)
		}
	})
}

func TestRestartsFollowTheirKills(t *testing.T) {
	s, err := ParseAll([]string{
		"kill random @1s", "kill 3 @1s", "kill random @2s", "restart random @+1s", "restart 3 @+1s", "restart random @+2s", "restart random @+3s",
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range map[int]int{3: 0, 4: 1, 5: 2, 6: -1} {
		if got := s.Kills()[i]; got != want {
			t.Errorf("%s counts from fault %d; want %d", s[i], got, want)
		}
	}
}

// However many pairs there are of one node, each restart counts from the kill before it.
func TestManyKillsAndRestarts(t *testing.T) {
	var s Schedule
	for range 20_000 {
		s = append(s, Fault{Kind: Kill, Nodes: []dme.NodeID{3}}, Fault{Kind: Restart, Nodes: []dme.NodeID{3}, AfterKill: true})
	}
	for i, kill := range s.Kills() {
		if want := i - 1; i%2 == 1 && kill != want || i%2 == 0 && kill != -1 {
			t.Fatalf("fault %d counts from %d", i, kill)
		}
	}
}

// Instants are drawn from the seed alone, each for itself, all over their window;
// what is to come at a time comes at that.
func TestInstantsAreDrawnFromTheSeed(t *testing.T) {
	s, err := ParseAll([]string{"kill 1 @1s~3s", "kill 2 @2s", "restart 1 @+1s~3s"})
	if err != nil {
		t.Fatal(err)
	}
	early, late, equal := 0, 0, 0
	for seed := range uint64(1000) {
		drawn := s.Draw(seed)
		for i, f := range drawn {
			if f.String() != s[i].String() {
				t.Fatalf("%s becomes %s", s[i], f)
			}
		}
		at := drawn[0].At
		switch {
		case at < time.Second || at >= 3*time.Second || drawn[1].At != 2*time.Second || !slices.EqualFunc(drawn, s.Draw(seed),
			func(a, b Fault) bool { return a.At == b.At }):
			t.Fatalf("seed %d: %+v", seed, drawn)
		case at < 1500*time.Millisecond:
			early++
		case at >= 2500*time.Millisecond:
			late++
		}
		if drawn[2].At == at {
			equal++
		}
	}
	if early < 200 || early > 300 || late < 200 || late > 300 || equal > 1 {
		t.Errorf("%d of 1000 in the first quarter, %d in the last; %d times two are equal", early, late, equal)
	}
	if s[0].At != time.Second {
		t.Error("drawing has changed the schedule")
	}
}

// stub is an algorithm whose nodes can do nothing but restart.
type stub struct{ dme.Node }

func (stub) Restart(*dme.Outbox) {}

func TestChecksAgainstTheAlgorithm(t *testing.T) {
	a := &dme.Algorithm{Name: "stub"}
	sys, _ := dme.Unshared(func(int, dme.NodeID) dme.Node { return stub{} })(dme.Config{Nodes: 4})
	for s, want := range map[string]string{
		"kill 3 @1s":     "",
		"restart 3 @2s":  "",
		"kill 5 @1s":     "there are only 4 nodes",
		"join 4 @1s":     "cannot join",
		"leave 4 @1s":    "cannot leave",
		"kill root @1s":  "has no root",
		"kill token @1s": "has no token",
		"restart 3 @+1s": "no kill of 3 comes before it",
	} {
		all, err := ParseAll([]string{s})
		if err != nil {
			t.Fatal(err)
		}
		switch err := all.Check(a, sys, 4); {
		case want == "" && err != nil:
			t.Errorf("%s: %v", s, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v; want an error with %q", s, err, want)
		}
	}
	all, _ := ParseAll([]string{"join 2,4 @1s", "leave 1 @1s", "join 3 @2s", "join 1 @2s"}) // node 1 comes back
	if got := all.Absent(); !slices.Equal(got, []dme.NodeID{2, 3, 4}) {
		t.Errorf("absent: %v", got)
	}
}
