package vnet

import (
	"testing"
	"time"

	"dmebench/dme"
)

// Of two timers that were set one after the other the first fires first, unless
// it was set to more.
func TestTimersKeepTheirOrder(t *testing.T) {
	m := &Model{Config: Config{Bounded: true}}
	for _, c := range []struct {
		delays []time.Duration
		first  []bool
	}{
		{[]time.Duration{1, 2}, []bool{true, false}},
		{[]time.Duration{2, 2}, []bool{true, false}},
		{[]time.Duration{2, 1}, []bool{true, true}},
		{[]time.Duration{3, 1, 2}, []bool{true, true, false}},
	} {
		var timers []Timer
		for i, d := range c.delays {
			timers = append(timers, Timer{Node: 1, ID: dme.TimerID(i), Delay: d})
		}
		for i, want := range c.first {
			if got := m.first(timers, i); got != want {
				t.Errorf("%v: timer %d may be first: %v", c.delays, i, got)
			}
		}
		m := &Model{}
		for i := range timers {
			if !m.first(timers, i) {
				t.Errorf("without bounded delay timer %d must wait", i)
			}
		}
	}
}

// An algorithm that asks for a bound is told the one by which its timers are
// judged.
func TestBound(t *testing.T) {
	model := func(opt dme.Options, bounded bool) (m *Model, told time.Duration) {
		a := &dme.Algorithm{Kinds: []string{"A"}, Prepare: func(c dme.Config) (dme.System, error) {
			told = c.Bound
			return noSystem{}, nil
		}}
		m, err := NewModel(Config{Algorithm: a, Nodes: 2, Options: opt, Bounded: bounded})
		if err != nil {
			t.Fatal(err)
		}
		return m, told
	}
	for value, want := range map[string]time.Duration{"": unknownBound, "30ms": 30 * time.Millisecond} {
		if m, told := model(dme.Options{"bound": value}, true); told != want || m.reach(5*want/2) != 2 {
			t.Errorf("bound=%q: told %v, want %v", value, told, want)
		}
	}
	if m, told := model(nil, true); told != 0 || m.reach(time.Hour) != 1 {
		t.Errorf("without the option: told %v", told)
	}
	if m, _ := model(nil, false); m.reach(time.Hour) != 0 {
		t.Error("a timer waits for messages though no bound is relied on")
	}
}

// noSystem is a system without nodes.
type noSystem struct{}

func (noSystem) Node(dme.NodeID) dme.Node { return nil }
