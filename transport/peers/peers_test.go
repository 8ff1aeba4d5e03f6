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
	for says, send := range map[string]func() error{
		"node 2 does not live": func() error { return top.Sendable(2, 1, 9) },
		"10 bytes from node 1": func() error { return top.Sendable(1, 10, 9) },
		"no node 6":            func() error { _, err := top.Route(1, 6, 1, 9); return err },
	} {
		if err := send(); err == nil || !strings.HasPrefix(err.Error(), "net: ") || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
}

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
