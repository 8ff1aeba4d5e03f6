package sim

import (
	"context"
	"testing"
	"time"

	"dmebench/algorithms"
	"dmebench/internal/run"
)

// resolve makes the simulated job of a spec for one algorithm.
func resolve(t testing.TB, s run.Spec, a *algorithms.Algorithm) *run.Job {
	t.Helper()
	s.Algorithm, s.Transport = a.Name, run.Sim
	job, err := s.Resolve(run.Catalog{a}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// simulate runs a spec and wants a result.
func simulate(t testing.TB, s run.Spec, a *algorithms.Algorithm) *run.Result {
	t.Helper()
	r, err := Run(context.Background(), resolve(t, s, a))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// simulateTrace runs the requests of a trace's text.
func simulateTrace(t testing.TB, nodes int, text string, a *algorithms.Algorithm) *run.Result {
	t.Helper()
	s := run.Spec{
		Algorithm: a.Name, Nodes: nodes, Transport: run.Sim, Workload: "trace", Set: map[string]string{"file": "trace.csv"},
	}
	job, err := s.Resolve(run.Catalog{a}, func(string) ([]byte, error) { return []byte(text), nil })
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
	id, nodes algorithms.NodeID
	n         uint64 // a variable of the test's own

	request, release, start, stop func(s *script, out *algorithms.Outbox)
	shared                        func(s *script, out *algorithms.Outbox)
	receive                       func(s *script, from algorithms.NodeID, m algorithms.Message, out *algorithms.Outbox)
	timeout                       func(s *script, id algorithms.TimerID, out *algorithms.Outbox)
}

func call(f func(*script, *algorithms.Outbox), s *script, out *algorithms.Outbox) {
	if f != nil {
		f(s, out)
	}
}

func (s *script) Request(out *algorithms.Outbox)       { call(s.request, s, out) }
func (s *script) RequestShared(out *algorithms.Outbox) { call(s.shared, s, out) }
func (s *script) Release(out *algorithms.Outbox)       { call(s.release, s, out) }
func (s *script) Start(out *algorithms.Outbox)         { call(s.start, s, out) }
func (s *script) State(v *algorithms.Visitor)          { v.Uint("n", &s.n) }

func (s *script) Receive(from algorithms.NodeID, m algorithms.Message, out *algorithms.Outbox) {
	if s.receive != nil {
		s.receive(s, from, m, out)
	}
}

func (s *script) Timeout(id algorithms.TimerID, out *algorithms.Outbox) { s.timeout(s, id, out) }

// stopper is a script that wants to be told that no request will come.
type stopper struct{ *script }

func (s stopper) Stop(out *algorithms.Outbox) { call(s.stop, s.script, out) }

type scripts struct {
	nodes int
	node  script
}

func (s scripts) Node(id algorithms.NodeID) algorithms.Node {
	n := s.node
	n.id, n.nodes = id, algorithms.NodeID(s.nodes)
	if n.stop != nil {
		return stopper{&n}
	}
	return &n
}

// scripted describes an algorithm whose nodes all follow a script.
func scripted(node script) *algorithms.Algorithm {
	return &algorithms.Algorithm{
		Name: "scripted", Class: algorithms.Token, Kinds: []string{"A", "B"},
		Needs: algorithms.Always(algorithms.Needs{Reliable: true}),
		Prepare: func(c algorithms.Config) (algorithms.System, error) {
			return scripts{c.Nodes, node}, nil
		},
	}
}

// enter lets the node in at once.
func enter(_ *script, out *algorithms.Outbox) { out.Enter(algorithms.Stamp{}) }

const ms = int64(time.Millisecond)
