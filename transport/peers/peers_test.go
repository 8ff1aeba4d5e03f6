package peers

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"dmebench/dme"
	"dmebench/transport"
)

func TestTopology(t *testing.T) {
	c := transport.Config{Key: transport.Key{1}, Nodes: 5, Local: []dme.NodeID{4, 1}}
	if err := Check("net", &c); err != nil {
		t.Fatal(err)
	}
	top, err := NewTopology[int]("net", transport.AddressBook{"a", "b", "b", "a", "c"}, &c)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for i := range top.Len() {
		p := top.At(i)
		if p.Index != i || top.Of(p.Node()) != p {
			t.Errorf("process %d is %+v", i, p)
		}
		names = append(names, p.String())
	}
	if want := []string{"2 nodes from 1 to 4 (a)", "nodes 2-3 (b)", "node 5 (c)"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	if top.Of(0) != nil || top.Of(6) != nil || !top.Hosts(top.At(1), 3, 1) || top.Hosts(top.At(1), 1, 3) {
		t.Error("nodes live elsewhere than the book says")
	}
	life := Life[int]{Name: "net"}
	if _, err := life.Route(1, 2, 9, 9); err == nil || err.Error() != "net: not started" {
		t.Error(err)
	}
	life.top.Store(top)
	if p, err := life.Route(1, 3, 9, 9); p != top.At(1) || err != nil {
		t.Errorf("to %v, error %v", p, err)
	}
	for says, send := range map[string]func() error{
		"node 2 does not live": func() error { _, err := life.Route(2, 1, 1, 9); return err },
		"10 bytes from node 1": func() error { _, err := life.Route(1, 2, 10, 9); return err },
		"no node 6":            func() error { _, err := life.Route(1, 6, 1, 9); return err },
	} {
		if err := send(); err == nil || !strings.HasPrefix(err.Error(), "net: ") || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
}

// A process takes the place of its incarnation before, whose frames nobody delivers any
// more; those that share an absent process say so in the book.
func TestIncarnations(t *testing.T) {
	c := transport.Config{
		Key: transport.Key{1}, Nodes: 6, Local: []dme.NodeID{1}, Incarnation: 3,
		Absent: []dme.NodeID{4, 5, 6}, Incarnations: map[dme.NodeID]uint32{3: 7, 4: 1},
	}
	if err := Check("net", &c); err != nil {
		t.Fatal(err)
	}
	// The address of one that is gone may be another's by now.
	top, err := NewTopology[int]("net", transport.AddressBook{"a", "b", "b", "b", "b", ""}, &c)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for p := range top.All() {
		names = append(names, p.String())
	}
	want := []string{"node 1 (a, incarnation 3)", "nodes 2-3 (b, incarnation 7)", "nodes 4-5 (absent)", "node 6 (absent)"}
	if !slices.Equal(names, want) || top.Len() != len(want) {
		t.Errorf("%q, want %q", names, want)
	}
	if n := []uint32{top.At(2).Incarnation, top.At(3).Incarnation}; !slices.Equal(n, []uint32{1, 0}) {
		t.Errorf("incarnations of those that are absent: %d", n)
	}
	old := top.Of(3)
	expelled := 0
	replace := func(p *Process[int], addr string, incarnation uint32) error {
		return top.Replace(p, addr, incarnation, true, func(error) { expelled++ }, func(next *Process[int]) error {
			top.Install(next)
			return nil
		})
	}
	if err := replace(old, "c", 9); err != nil {
		t.Fatal(err)
	}
	next := top.Of(3)
	if next == old || top.Of(2) != next || top.At(1) != next || top.Hosts(old, 3, 1) || !top.Hosts(next, 3, 1) {
		t.Error("the next incarnation has not taken its place")
	}
	for says, err := range map[string]error{
		"is over": replace(next, "d", 9), "without an address": replace(next, "", 10),
		"no node 7": second(top.Other(7)), "this very process": second(top.Other(1)),
	} {
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
	if err := replace(next, "c", 9); err != nil || expelled != 1 {
		t.Errorf("announced again: %v, %d expelled", err, expelled)
	}
	for _, c := range []transport.Config{
		{Key: c.Key, Nodes: 2, Local: []dme.NodeID{1}, Absent: []dme.NodeID{1}},
		{Key: c.Key, Nodes: 2, Local: []dme.NodeID{1}, Absent: []dme.NodeID{3}},
		{Key: c.Key, Nodes: 2, Local: []dme.NodeID{1}, Incarnations: map[dme.NodeID]uint32{3: 1}},
	} {
		if Check("net", &c) == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
}

func second[T any](_ T, err error) error { return err }

type item struct {
	listed Entry[item]
}

// Each push is seen by one drain, in the order of the pushes of one goroutine.
func TestDirty(t *testing.T) {
	var d Dirty[item]
	items := make([]item, 10)
	for i := range items {
		items[i].listed.Link = &items[i]
		d.Push(&items[i].listed)
	}
	next := 0
	d.Drain(func(x *item) {
		if x != &items[next] {
			t.Errorf("another than item %d", next)
		}
		next++
	})
	if next != len(items) {
		t.Errorf("%d of %d items", next, len(items))
	}
	var mu sync.Mutex
	drained := 0
	drain := func() {
		d.Drain(func(x *item) {
			mu.Lock()
			drained++
			mu.Unlock()
		})
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 1000 {
				x := new(item)
				x.listed.Link = x
				d.Push(&x.listed)
				drain()
			}
		})
	}
	all.Wait()
	drain()
	if drained != 4000 {
		t.Errorf("%d of 4000 pushes were drained", drained)
	}
}
