package faults

import (
	"testing"

	"dmebench/report/survival"
)

func TestAnswers(t *testing.T) {
	for _, x := range []struct{ a, b, and survival.Answer }{
		{survival.Yes, survival.Yes, survival.Yes}, {survival.Yes, survival.No, survival.No}, {survival.Yes, survival.Unknown, survival.Unknown}, {survival.No, survival.Yes, survival.No}, {survival.No, survival.Unknown, survival.No}, {survival.Unknown, survival.Yes, survival.Unknown}, {survival.Unknown, survival.No, survival.No},
	} {
		if and := and(x.a, x.b); and != x.and {
			t.Errorf("%s, %s: %s; want %s", x.a, x.b, and, x.and)
		}
	}
}

// Runs that show nothing are weak evidence, and none where the fault did not strike; a
// search is as good as what it has visited. One counterexample is enough.
func TestEvidence(t *testing.T) {
	all, part, none := &survival.Search{Complete: true}, &survival.Search{States: 1000, Random: 300}, &survival.Search{Safe: survival.Unknown, Live: survival.Unknown}
	for _, x := range []struct {
		s            *survival.Search
		runs, search survival.Answer
		want         survival.Answer
		by           survival.Evidence
		mark         string
	}{
		{all, survival.Yes, survival.Yes, survival.Yes, survival.ByStates, "goes on"}, {part, survival.Yes, survival.Yes, survival.Yes, survival.BySchedules, "goes on¹"},
		{none, survival.Yes, survival.Unknown, survival.Yes, survival.ByRuns, "goes on²"},
		{part, survival.Yes, survival.Unknown, survival.Yes, survival.ByRuns, "goes on²"}, {all, survival.Unknown, survival.Yes, survival.Unknown, "", "unknown"},
		{none, survival.Unknown, survival.Unknown, survival.Unknown, "", "unknown"},
		{all, survival.Yes, survival.No, survival.No, survival.BySearch, "unsafe 0/6"}, {none, survival.No, survival.Unknown, survival.No, survival.ByRuns, "unsafe 0/6"},
		{all, survival.Unknown, survival.No, survival.No, survival.BySearch, "unsafe 0/6"},
	} {
		got, by := decide(x.s, x.runs, x.search)
		if got != x.want || by != x.by {
			t.Errorf("runs %s, search %s %+v: %s by %s; want %s by %s", x.runs, x.search, x.s, got, by, x.want, x.by)
		}
		if word := (survival.Cell{Safe: got, SafeBy: by, Live: survival.Yes, LiveBy: survival.ByStates, Runs: 6}).Marked(); word != x.mark {
			t.Errorf("%s by %s: %q; want %q", got, by, word, x.mark)
		}
	}
	stops := survival.Cell{Safe: survival.Yes, SafeBy: survival.ByStates, Live: survival.No, LiveBy: survival.ByRuns, Runs: 6, Stopped: 6, Only: []string{"a condition"}}
	if word := stops.Marked(); word != "stops³" {
		t.Errorf("%q: a run that stops needs no search", word)
	}
	if found := absence(&survival.Search{Safe: survival.No, Live: survival.Yes}); found != nil {
		t.Errorf("what a wider search finds speaks of other moments: %+v", found)
	}
	stands := &survival.Search{Safe: survival.Yes, Live: survival.No, Verdict: "stalled", Complete: true}
	if s := absence(stands); s.Safe != survival.Yes || s.Live != survival.Unknown || s.Verdict != "" {
		t.Errorf("%+v", s)
	}
}
