package link

import (
	"strings"
	"testing"
	"time"

	"dmebench/dme"
)

func TestCut(t *testing.T) {
	c := Config{Cut: new(Cut)}
	if c.Idle() {
		t.Error("a network that may be cut is taken for one that leaves frames alone")
	}
	within, across := c.Conditioner(Link{1, 2}), c.Conditioner(Link{2, 3})
	passes := func(want bool) {
		t.Helper()
		if f := across.Next(0, 1); f.Partitioned == want || f.Lost == want {
			t.Errorf("across: %+v", f)
		}
		if f := within.Next(0, 1); f.Lost {
			t.Errorf("within: %+v", f)
		}
	}
	passes(true)
	if err := c.Cut.Partition(7, [][]dme.NodeID{{1, 2}}); err != nil { // 3 is of those in no group
		t.Fatal(err)
	}
	passes(false)
	if x := c.impairment(Link{2, 3}, 0); x.Loss != 1 || x.What != "the partition 1-2" {
		t.Errorf("%+v", x)
	}
	if err := c.Cut.Partition(8, [][]dme.NodeID{{3}, {1, 2}}); err != nil {
		t.Fatal(err)
	}
	c.Cut.Heal(7)
	passes(false) // for the other one
	c.Cut.Heal(8)
	passes(true)
	if x := c.impairment(Link{2, 3}, 0); x.Loss != 0 || x.What != "" {
		t.Errorf("%+v", x)
	}
	for _, groups := range [][][]dme.NodeID{nil, {{1}, {1, 2}}} {
		if err := c.Cut.Partition(9, groups); err == nil {
			t.Errorf("%v: no error", groups)
		}
	}
}

func TestImpairment(t *testing.T) {
	c := Config{All: Conditions{Loss: 0.3}, Rules: []Rule{
		{Link: Link{2, 1}, Conditions: Conditions{Loss: 0.5, Delay: Delay{Mean: time.Second}}},
		{Link: Link{3, 1}, From: time.Second, Until: 2 * time.Second, Conditions: Conditions{Loss: 1}},
	}, Partitions: []Partition{{From: 5 * time.Second, Until: 12 * time.Second, Groups: [][]dme.NodeID{{1, 2}, {3, 4, 5}}}}}
	for _, x := range []struct {
		l     Link
		at    time.Duration
		loss  float64
		delay time.Duration
		what  string
	}{
		{Link{1, 2}, 0, 0.65, time.Second, "loss=0.3, loss=0.5, delays of up to 1s"},
		{Link{1, 3}, 0, 0.51, 0, "loss=0.3"},
		{Link{1, 3}, time.Second, 1, 0, "loss=0.3, loss=1"},
		{Link{1, 3}, 6 * time.Second, 1, 0, "loss=0.3, partition=1-2|3-5@5s-12s"},
		{Link{1, 3}, 12 * time.Second, 0.51, 0, "loss=0.3"},
	} {
		got := c.impairment(x.l, x.at)
		if got.Loss < x.loss-1e-9 || got.Loss > x.loss+1e-9 || got.Delay != x.delay || got.What != x.what {
			t.Errorf("%v at %v: %+v, want %v, %v, %q", x.l, x.at, got, x.loss, x.delay, x.what)
		}
	}
	tail := Conditions{Delay: Delay{Shape: Exponential, Mean: time.Millisecond}}
	if s := tail.slowest(); s < 20*time.Millisecond || s > 22*time.Millisecond {
		t.Errorf("of exponential delays with a mean of 1 ms one in a billion is longer than %v", s)
	}
	if !strings.Contains(formatGroups([][]dme.NodeID{{1}, {2, 3}}), "1|2-3") {
		t.Error(formatGroups([][]dme.NodeID{{1}, {2, 3}}))
	}
}
