package conformance

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"dmebench/algorithms/centralized"
	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/dme/vnet"
)

// faulty is a node of the centralized algorithm with a fault. The suite must
// find each; a suite that cannot fail shows nothing.
type faulty struct {
	dme.Node
	fault string
	id    dme.NodeID
	n     int
	held  []uint64
	seen  [3]int
}

const (
	request dme.Kind = iota + 1
	grant
	release
)

func (f *faulty) Request(out *dme.Outbox) {
	switch f.fault {
	case "enters at once":
		out.Enter(dme.Stamp{})
		return
	case "never asks":
		return
	case "keeps what it has sent":
		if f.id != 1 {
			f.held = []uint64{7}
			defer func() {
				for i := range out.Effects() {
					out.Effects()[i].Msg.Vec = f.held
				}
			}()
		}
	}
	f.Node.Request(out)
}

func (f *faulty) Release(out *dme.Outbox) {
	switch f.fault {
	case "never releases":
		return
	case "keeps what it has sent":
		if f.id != 1 && f.held[0] != 7 {
			return
		}
	case "talks to strangers":
		if f.id == 2 && f.n > 2 {
			out.Send(3, dme.Message{Kind: release})
		}
	}
	f.Node.Release(out)
}

func (f *faulty) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	switch f.fault {
	case "believes what it reads":
		f.seen[m.Num]++
	case "enters unasked":
		out.Enter(dme.Stamp{})
	case "never rests":
		out.Send(from, m)
		return
	case "refuses":
		out.Refuse("for no reason")
	}
	f.Node.Receive(from, m, out)
}

func (f *faulty) State(v *dme.Visitor) {
	if f.fault != "forgets its state" {
		f.Node.State(v)
	}
	v.Uints("held", &f.held)
}

type faultySystem struct {
	dme.System
	fault string
	n     int
}

func (s faultySystem) Node(id dme.NodeID) dme.Node {
	return &faulty{Node: s.System.Node(id), fault: s.fault, id: id, n: s.n}
}

func withFault(fault string) *dme.Algorithm {
	a := centralized.Algorithm()
	a.Invariants = nil // they read the nodes themselves
	prepare, peers := a.Prepare, a.Peers
	a.Peers = func(s dme.System, id dme.NodeID) []dme.NodeID {
		if f, ok := s.(faultySystem); ok {
			return peers(f.System, id)
		}
		return nil
	}
	a.Prepare = func(c dme.Config) (dme.System, error) {
		sys, err := prepare(c)
		return faultySystem{System: sys, fault: fault, n: c.Nodes}, err
	}
	return a
}

func TestFaultsAreFound(t *testing.T) {
	for fault, want := range map[string]string{
		"enters at once":         "are in the critical section",
		"never asks":             "nothing moves",
		"never releases":         "nothing moves",
		"keeps what it has sent": "nothing moves",
		"talks to strangers":     "not among its peers",
		"believes what it reads": "panics: runtime error: index out of range",
		"enters unasked":         "without a request",
		"never rests":            "no end after",
		"refuses":                "refused",
		"forgets its state":      "",
	} {
		err := search(withFault(fault))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: found %v, want %q", fault, err, want)
		}
	}
	if err := search(withFault("none")); err != nil {
		t.Errorf("without a fault: %v", err)
	}
}

func search(a *dme.Algorithm) error {
	for _, n := range []int{2, 3, 5} {
		if err := series(a, n, nil, 40); err != nil {
			return err
		}
	}
	return nil
}

// An algorithm that needs order passes only where it says so.
func TestOrderIsWithheld(t *testing.T) {
	needsOrder := func(says bool) *dme.Algorithm {
		a := withFault("none")
		prepare := a.Prepare
		a.Needs = dme.Always(dme.Needs{Reliable: true, FIFO: says})
		a.Prepare = func(c dme.Config) (dme.System, error) {
			sys, err := prepare(c)
			return orderedSystem{sys.(faultySystem)}, err
		}
		return a
	}
	if err := search(needsOrder(true)); err != nil {
		t.Errorf("with order: %v", err)
	}
	if search(needsOrder(false)) == nil {
		t.Error("messages always arrive in order")
	}
}

// ordered numbers a client's messages and refuses what comes too early.
type orderedSystem struct{ faultySystem }

func (s orderedSystem) Node(id dme.NodeID) dme.Node {
	return &ordered{Node: s.faultySystem.Node(id), got: make([]uint64, s.n+1)}
}

type ordered struct {
	dme.Node
	sent uint64
	got  []uint64
}

func (o *ordered) number(out *dme.Outbox) {
	for i := range out.Effects() {
		if e := &out.Effects()[i]; e.Kind == dme.Send && e.Msg.Kind != grant {
			o.sent++
			e.Msg.Num = o.sent
		}
	}
}

func (o *ordered) Request(out *dme.Outbox) { o.Node.Request(out); o.number(out) }
func (o *ordered) Release(out *dme.Outbox) { o.Node.Release(out); o.number(out) }

func (o *ordered) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	if m.Kind != grant {
		if m.Num != o.got[from]+1 {
			out.Refuse("out of order")
			return
		}
		o.got[from]++
	}
	o.Node.Receive(from, m, out)
}

func (o *ordered) State(v *dme.Visitor) {
	o.Node.State(v)
	v.Uint("sent", &o.sent)
	v.Uints("got", &o.got)
}

func TestClaimsAreJudged(t *testing.T) {
	says := func(q claim.Quantity, k claim.Kind, value float64) error {
		a := centralized.Algorithm()
		a.Claims = claim.List{{
			Quantity: q, Formula: strconv.FormatFloat(value, 'f', -1, 64), Load: claim.AnyLoad, Kind: k, Source: "here",
		}}
		return search(a)
	}
	if err := says(claim.MessagesPerCS, claim.Exact, 3); err == nil {
		t.Error("exactly 3 messages, though node 1 needs none: not found false")
	}
	if err := says(claim.MessagesPerCS, claim.UpperBound, 3); err != nil {
		t.Error(err)
	}
	if err := says(claim.MessagesPerCS, claim.LowerBound, 3); err == nil {
		t.Error("at least 3 messages: not found false")
	}
	if err := says(claim.Bypass, claim.UpperBound, 0); err == nil {
		t.Error("nobody comes first: not found false")
	}
	if err := says(claim.QueueLength, claim.UpperBound, 1); err == nil {
		t.Error("a queue of one: not found false")
	}
}

// A schedule is a function of its seed: a failure can be repeated.
func TestSchedulesRepeat(t *testing.T) {
	run := func(seed uint64) []Entry {
		s, err := newSchedule(centralized.Algorithm(), 5, nil, vnet.Churn, seed)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.run(s.verdict); err != nil {
			t.Fatal(err)
		}
		return s.Entries
	}
	if !slices.Equal(run(7), run(7)) {
		t.Error("the same seed gives different runs")
	}
	if slices.Equal(run(7), run(8)) && slices.Equal(run(8), run(9)) {
		t.Error("different seeds give the same run")
	}
}

func TestSettings(t *testing.T) {
	a := centralized.Algorithm()
	if got := Settings(a); len(got) != 1 || len(got[0]) != 0 {
		t.Errorf("without options: %v", got)
	}
	anything := func(string) error { return nil }
	a.Options = []dme.Option{
		{Name: "tree", Words: []string{"binary"}, Forms: []string{"kary:K", "file:F"}, Samples: []string{"kary:3"}, Valid: anything},
		{Name: "count", Default: "1", Forms: []string{"COUNT"}, Valid: anything, Help: "x"},
		{Name: "mode", Default: "a", Words: []string{"a", "b"}, Help: "x"},
	}
	var names []string
	for _, set := range Settings(a) {
		names = append(names, name(set))
	}
	want := []string{"mode=a,tree=binary", "mode=b,tree=binary", "mode=a,tree=kary:3", "mode=b,tree=kary:3"}
	if !slices.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
}
