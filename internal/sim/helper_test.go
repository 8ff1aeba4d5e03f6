package sim

import (
	"context"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/internal/runtime/run"
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

// script is a node whose every handler a test writes; a nil handler does
// nothing.
type script struct {
	id, nodes dme.NodeID
	n         uint64 // a variable of the test's own

	request, release, start, stop func(s *script, out *dme.Outbox)
	shared                        func(s *script, out *dme.Outbox)
	receive                       func(s *script, from dme.NodeID, m dme.Message, out *dme.Outbox)
	timeout                       func(s *script, id dme.TimerID, out *dme.Outbox)
}

func call(f func(*script, *dme.Outbox), s *script, out *dme.Outbox) {
	if f != nil {
		f(s, out)
	}
}

func (s *script) Request(out *dme.Outbox)       { call(s.request, s, out) }
func (s *script) RequestShared(out *dme.Outbox) { call(s.shared, s, out) }
func (s *script) Release(out *dme.Outbox)       { call(s.release, s, out) }
func (s *script) Start(out *dme.Outbox)         { call(s.start, s, out) }
func (s *script) State(v *dme.Visitor)          { v.Uint("n", &s.n) }

func (s *script) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	if s.receive != nil {
		s.receive(s, from, m, out)
	}
}

func (s *script) Timeout(id dme.TimerID, out *dme.Outbox) { s.timeout(s, id, out) }

// stopper is a script that wants to be told that no request will come.
type stopper struct{ *script }

func (s stopper) Stop(out *dme.Outbox) { call(s.stop, s.script, out) }

type scripts struct {
	nodes int
	node  script
}

func (s scripts) Node(id dme.NodeID) dme.Node {
	n := s.node
	n.id, n.nodes = id, dme.NodeID(s.nodes)
	if n.stop != nil {
		return stopper{&n}
	}
	return &n
}

// scripted describes an algorithm whose nodes all follow a script.
func scripted(node script) *dme.Algorithm {
	return &dme.Algorithm{
		Name: "scripted", Class: dme.Token, Kinds: []string{"A", "B"},
		Needs: dme.Always(dme.Needs{Reliable: true}),
		Prepare: func(c dme.Config) (dme.System, error) {
			return scripts{c.Nodes, node}, nil
		},
	}
}

// enter lets the node in at once.
func enter(_ *script, out *dme.Outbox) { out.Enter(dme.Stamp{}) }

const ms = int64(time.Millisecond)
