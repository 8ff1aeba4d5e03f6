package measure

import (
	"encoding/json"
	"testing"

	"dmebench/dme"
	"dmebench/internal/record/entrylog"
	"dmebench/internal/runtime/noderun"
	"dmebench/internal/runtime/run"
	"dmebench/runs"
)

type system struct{}

func (system) Node(dme.NodeID) dme.Node { return nil }

func algorithm() *dme.Algorithm {
	return &dme.Algorithm{
		Name: "test", Kinds: []string{"ASK", "GRANT"},
		Needs:   dme.Always(dme.Needs{Reliable: true}),
		Prepare: func(dme.Config) (dme.System, error) { return system{}, nil },
	}
}

// jobOf resolves a spec, over the simulated network unless it says otherwise.
func jobOf(t testing.TB, s runs.Spec) *run.Job {
	t.Helper()
	s.Algorithm = "test"
	if s.Transport == "" {
		s.Transport = runs.Sim
	}
	trace := func(string) ([]byte, error) { return []byte("0,1\n1,2\n"), nil }
	job, err := run.Resolve(s, run.Catalog{algorithm()}, trace)
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// entry is an entry without delays of the generator: intended, arrived and
// requested at once.
func entry(node dme.NodeID, requested, entered, exited int64) entrylog.Entry {
	return entrylog.Entry{Node: node, Intended: requested, Arrived: requested, Requested: requested, Entered: entered, Exited: exited}
}

// counted returns counters that fit the entries: as many requests and entries,
// and sent messages of kind 1 for each entry, all of them handled.
func counted(nodes int, entries []entrylog.Entry, messages uint64) []noderun.Counts {
	n := make([]noderun.Counts, nodes)
	for _, e := range entries {
		c := &n[e.Node-1]
		c.Requests++
		c.Entries++
		c.Sent[1] += messages
		c.SentTotal += messages
		c.Handled[1] += messages
		c.HandledTotal += messages
		c.Transmissions += messages
		c.LastMove = max(c.LastMove, e.Exited)
	}
	return n
}

func encode(t testing.TB, r *runs.Result) string {
	t.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatalf("the result cannot be written: %v", err)
	}
	return string(b)
}

// wants compares a value that may be absent; NaN stands for absent.
func wants(t testing.TB, what string, got *float64, want float64) {
	t.Helper()
	switch {
	case want != want:
		if got != nil {
			t.Errorf("%s: %v, want none", what, *got)
		}
	case got == nil:
		t.Errorf("%s: none, want %v", what, want)
	case *got-want > 1e-9*want || want-*got > 1e-9*want:
		t.Errorf("%s: %v, want %v", what, *got, want)
	}
}
