package sim

import (
	"context"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/internal/runtime/run"
	"dmebench/internal/testkit/toys"
	"dmebench/runs"
)

// resolve makes the simulated job of a spec for one algorithm.
func resolve(t testing.TB, s runs.Spec, a *dme.Algorithm) *run.Job {
	t.Helper()
	s.Algorithm, s.Transport = a.Name, runs.Sim
	job, err := run.Resolve(s, run.Catalog{a}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// simulate runs a spec and wants a result.
func simulate(t testing.TB, s runs.Spec, a *dme.Algorithm) *runs.Result {
	t.Helper()
	r, err := Run(context.Background(), resolve(t, s, a))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// simulateTrace runs the requests of a trace's text.
func simulateTrace(t testing.TB, nodes int, text string, a *dme.Algorithm) *runs.Result {
	t.Helper()
	s := runs.Spec{
		Algorithm: a.Name, Nodes: nodes, Transport: runs.Sim, Workload: "trace", Set: map[string]string{"file": "trace.csv"},
	}
	job, err := run.Resolve(s, run.Catalog{a}, func(string) ([]byte, error) { return []byte(text), nil })
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(context.Background(), job)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// scripted describes an algorithm whose nodes all follow a script.
func scripted(s toys.Script) *dme.Algorithm { return toys.Scripted("scripted", s, "A", "B") }

const ms = int64(time.Millisecond)
