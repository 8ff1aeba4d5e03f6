package dme

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// everything is a node with a variable of each type.
type everything struct {
	number uint64
	index  int
	yes    bool
	peer   NodeID
	stamp  Stamp
	vec    []uint64
	nodes  []NodeID
	stamps []Stamp
	pairs  []pair
}

type pair struct {
	a uint64
	b Stamp
}

func (*everything) Request(*Outbox)                  {}
func (*everything) Release(*Outbox)                  {}
func (*everything) Receive(NodeID, Message, *Outbox) {}

func (e *everything) State(v *Visitor) {
	v.Uint("number", &e.number)
	v.Int("index", &e.index)
	v.Bool("yes", &e.yes)
	v.Node("peer", &e.peer)
	v.Stamp("stamp", &e.stamp)
	v.Uints("vec", &e.vec)
	v.Nodes("nodes", &e.nodes)
	v.Stamps("stamps", &e.stamps)
	if n := v.Len(len(e.pairs)); n != len(e.pairs) {
		e.pairs = make([]pair, n)
	}
	for i := range e.pairs {
		v.Uint("a", &e.pairs[i].a)
		v.Stamp("b", &e.pairs[i].b)
	}
}

func empty() *everything { return new(everything) }

func anything(t *rapid.T) *everything {
	node := rapid.Map(rapid.Uint32(), func(x uint32) NodeID { return NodeID(x) })
	stamp := rapid.Custom(func(t *rapid.T) Stamp {
		return Stamp{Clock: rapid.Uint64().Draw(t, "clock"), Node: node.Draw(t, "node")}
	})
	e := empty()
	e.number = rapid.Uint64().Draw(t, "number")
	e.index = rapid.IntRange(0, 1<<40).Draw(t, "index")
	e.yes = rapid.Bool().Draw(t, "yes")
	e.peer = node.Draw(t, "peer")
	e.stamp = stamp.Draw(t, "stamp")
	e.vec = rapid.SliceOf(rapid.Uint64()).Draw(t, "vec")
	e.nodes = rapid.SliceOf(node).Draw(t, "nodes")
	e.stamps = rapid.SliceOf(stamp).Draw(t, "stamps")
	for range rapid.IntRange(0, 3).Draw(t, "pairs") {
		e.pairs = append(e.pairs, pair{rapid.Uint64().Draw(t, "a"), stamp.Draw(t, "b")})
	}
	return e
}

func TestStateRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Loaded over another state, so that nothing of it may remain.
		e, other := anything(t), anything(t)
		saved := SaveState([]byte("front"), e)
		if !bytes.HasPrefix(saved, []byte("front")) {
			t.Fatal("SaveState does not append")
		}
		saved = saved[len("front"):]
		rest, err := LoadState(append(slices.Clone(saved), "rest"...), other)
		if err != nil || string(rest) != "rest" {
			t.Fatalf("rest %q, %v", rest, err)
		}
		if got := SaveState(nil, other); !bytes.Equal(got, saved) {
			t.Fatalf("saved %x, loaded and saved again %x", saved, got)
		}
		if got, want := DescribeState(other), DescribeState(e); got != want {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
		cut := rapid.IntRange(0, len(saved)-1).Draw(t, "cut")
		if _, err := LoadState(saved[:cut], empty()); err == nil {
			t.Fatalf("%d of %d bytes load", cut, len(saved))
		}
	})
}

// A state is loaded from bytes that may come from anywhere.
func TestForeignState(t *testing.T) {
	long := SaveState(nil, empty())
	long[6] = 0xff // somewhere in the middle: still no panic
	for _, b := range [][]byte{nil, {1}, bytes.Repeat([]byte{0xff}, 300), long} {
		if _, err := LoadState(b, empty()); err == nil && !bytes.Equal(b, long) {
			t.Errorf("%x loads", b)
		}
	}
	// A node number of more than 32 bits.
	b := []byte{0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x7f}
	b = append(b, make([]byte, 50)...)
	if _, err := LoadState(b, empty()); err == nil {
		t.Error("a node number of 35 bits loads")
	}
}

// vector is a node that is a vector.
type vector struct {
	Node
	all []uint64
}

func (x *vector) State(v *Visitor) { v.Uints("all", &x.all) }

// A collection that fills what was saved is loaded; of one that is said to be longer
// nothing is, and no memory is taken for it.
func TestLengthOfACollection(t *testing.T) {
	for _, x := range []struct {
		b    []byte
		want []uint64 // nil: refused
	}{
		{[]byte{0}, []uint64{}}, {[]byte{3, 7, 8, 9}, []uint64{7, 8, 9}}, {[]byte{4, 7, 8, 9}, nil},
		{[]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 1, 1}, nil},
	} {
		var got vector
		if _, err := LoadState(x.b, &got); (err == nil) != (x.want != nil) || !slices.Equal(got.all, x.want) {
			t.Errorf("%x: %v, %v; want %v", x.b, got.all, err, x.want)
		}
	}
}
