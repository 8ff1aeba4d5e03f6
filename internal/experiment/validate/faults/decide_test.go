package faults

import (
	"testing"

	"dmebench/report/survival"
)

const yes, no, unknown = survival.Yes, survival.No, survival.Unknown

func TestAnswers(t *testing.T) {
	for _, x := range []struct{ a, b, and survival.Answer }{
		{yes, yes, yes}, {yes, no, no}, {yes, unknown, unknown}, {no, yes, no},
		{no, unknown, no}, {unknown, yes, unknown}, {unknown, no, no},
	} {
		if and := and(x.a, x.b); and != x.and {
			t.Errorf("%s, %s: %s; want %s", x.a, x.b, and, x.and)
		}
	}
}

// Runs that show nothing are weak evidence, and none where the fault did not strike; a
// search is as good as what it has visited. One counterexample is enough.
func TestEvidence(t *testing.T) {
	all, part := &survival.Search{Complete: true}, &survival.Search{States: 1000, Random: 300}
	none := &survival.Search{Safe: unknown, Live: unknown}
	for _, x := range []struct {
		s            *survival.Search
		runs, search survival.Answer
		want         survival.Answer
		by           survival.Evidence
		mark         string
	}{
		{all, yes, yes, yes, survival.ByStates, "goes on"}, {part, yes, yes, yes, survival.BySchedules, "goes on¹"},
		{none, yes, unknown, yes, survival.ByRuns, "goes on²"},
		{part, yes, unknown, yes, survival.ByRuns, "goes on²"}, {all, unknown, yes, unknown, "", "unknown"},
		{none, unknown, unknown, unknown, "", "unknown"},
		{all, yes, no, no, survival.BySearch, "unsafe 0/6"}, {none, no, unknown, no, survival.ByRuns, "unsafe 0/6"},
		{all, unknown, no, no, survival.BySearch, "unsafe 0/6"},
	} {
		got, by := decide(x.s, x.runs, x.search)
		if got != x.want || by != x.by {
			t.Errorf("runs %s, search %s %+v: %s by %s; want %s by %s", x.runs, x.search, x.s, got, by, x.want, x.by)
		}
		if word := (survival.Cell{Safe: got, SafeBy: by, Live: yes, LiveBy: survival.ByStates, Runs: 6}).Marked(); word != x.mark {
			t.Errorf("%s by %s: %q; want %q", got, by, word, x.mark)
		}
	}
	stops := survival.Cell{
		Safe: yes, SafeBy: survival.ByStates, Live: no, LiveBy: survival.ByRuns, Runs: 6, Stopped: 6, Only: []string{"a condition"},
	}
	if word := stops.Marked(); word != "stops³" {
		t.Errorf("%q: a run that stops needs no search", word)
	}
	if found := absence(&survival.Search{Safe: no, Live: yes}); found != nil {
		t.Errorf("what a wider search finds speaks of other moments: %+v", found)
	}
	stands := &survival.Search{Safe: yes, Live: no, Verdict: "stalled", Complete: true}
	if s := absence(stands); s.Safe != yes || s.Live != unknown || s.Verdict != "" {
		t.Errorf("%+v", s)
	}
}
