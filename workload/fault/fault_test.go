package fault

import (
	"slices"
	"strings"
	"testing"
	"time"

	"dmebench/dme"
)

func TestReadsWhatItWrites(t *testing.T) {
	for _, s := range []string{
		"kill 3 @2s", "kill 3,5-7 @0s", "kill holder @entry:100", "kill root @request:1", "restart 3 @+500ms", "restart 3 @4s",
		"pause token @1s-1.5s", "pause 5 @1s", "pause waiting @entry:3+250ms", "partition 1-2|3-8 @1s-3s", "partition 1 @2s",
		"leave 4 @3s", "kill root @1s~2.5s", "restart root @+1ms~1s", "join 6 @request:20", "kill random @1m0s",
	} {
		f, err := Parse(s)
		if err != nil {
			t.Errorf("%s: %v", s, err)
		} else if f.String() != s {
			t.Errorf("%s reads as %s", s, f)
		}
	}
	if f, err := Parse("kill root @request"); err != nil || f.Count != 1 {
		t.Errorf("an event without a count is %+v (%v); want its first", f, err)
	}
}

func TestRefusesWhatCannotBe(t *testing.T) {
	for s, want := range map[string]string{
		"":                        "want WHAT WHOM @WHEN",
		"kill 3":                  "want WHAT WHOM @WHEN",
		"kill 3 2s":               "want WHAT WHOM @WHEN",
		"burn 3 @2s":              "want kill, restart, pause, partition, leave or join",
		"kill king @2s":           "nor one of holder, root, token, waiting, idle or random",
		"kill 0 @2s":              "neither a node number",
		"kill 3 @two":             "is no time",
		"kill 3 @-2s":             "is no time",
		"kill 3 @1s-2s":           "kill has no end",
		"kill 3 @+1s":             "only a restart can follow a kill",
		"kill 3 @entry:0":         "is no count",
		"kill 3 @entry:-1":        "is no count",
		"pause 3 @2s-1s":          "before it began",
		"kill 3 @2s~2s":           "no instant from 2s to before 2s",
		"kill 3 @2s~":             "is no time",
		"kill 3 @1s~2s~3s":        "is no time",
		"pause 3 @entry:1+0s":     "last no time",
		"partition 1,2|2,3 @1s":   "node 2 is on two sides",
		"join holder @1s":         "told by number",
		"partition holder|2 @1s":  "neither a node number",
		"pause 3 @9999999999h-1s": "is no time",
	} {
		if _, err := Parse(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want an error with %q", s, err, want)
		}
	}
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
		"restart 3 @+1s": "no kill of 3 stands before it",
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
