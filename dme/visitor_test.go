package dme

import (
	"bytes"
	"reflect"
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
	set    NodeSet
	vec    []uint64
	nodes  []NodeID
	queue  NodeQueue
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
	v.Set("set", &e.set)
	v.Uints("vec", &e.vec)
	v.Nodes("nodes", &e.nodes)
	v.Queue("queue", &e.queue)
	v.Stamps("stamps", &e.stamps)
	if n := v.Len(len(e.pairs)); n != len(e.pairs) {
		e.pairs = make([]pair, n)
	}
	for i := range e.pairs {
		v.Uint("a", &e.pairs[i].a)
		v.Stamp("b", &e.pairs[i].b)
	}
}

const setSize = 100

func empty() *everything { return &everything{set: MakeNodeSet(setSize)} }

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
	for _, id := range rapid.SliceOf(rapid.IntRange(1, setSize)).Draw(t, "set") {
		e.set.Add(NodeID(id))
	}
	e.vec = rapid.SliceOf(rapid.Uint64()).Draw(t, "vec")
	e.nodes = rapid.SliceOf(node).Draw(t, "nodes")
	for _, id := range rapid.SliceOf(node).Draw(t, "queue") {
		e.queue.Push(id)
	}
	for range rapid.IntRange(0, 3).Draw(t, "popped") {
		e.queue.Pop()
	}
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

// Equal states give equal bytes, however they came about.
func TestStateIsCanonical(t *testing.T) {
	a, b := empty(), empty()
	b.vec, b.nodes, b.stamps = []uint64{}, []NodeID{}, []Stamp{}
	for id := NodeID(1); id < 50; id++ {
		b.set.Add(id)
		b.set.Remove(id)
		b.queue.Push(id)
	}
	for !b.queue.Empty() {
		b.queue.Pop()
	}
	if !bytes.Equal(SaveState(nil, a), SaveState(nil, b)) {
		t.Error("two empty states are saved differently")
	}
}

// A state is loaded from bytes that may come from anywhere.
func TestForeignState(t *testing.T) {
	long := SaveState(nil, empty())
	long[6+2] = 0xff // somewhere in the middle: still no panic
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

func TestDescribeState(t *testing.T) {
	e := empty()
	e.number, e.peer, e.stamp = 7, 3, Stamp{5, 2}
	e.set.Add(2)
	e.set.Add(70)
	e.queue.Push(9)
	e.vec = []uint64{1, 2}
	const want = "number=7 index=0 yes=false peer=3 stamp=(5,2) set={2,70} vec=[1 2] nodes=[] queue=[9] stamps=[]"
	if got := DescribeState(e); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	const zero = "number=0 index=0 yes=false peer=- stamp=- set={} vec=[] nodes=[] queue=[] stamps=[]"
	if got := DescribeState(empty()); got != zero {
		t.Errorf("got  %s\nwant %s", got, zero)
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

// owing is a node with requests that it has deferred, and some in a queue.
type owing struct {
	Node
	times    uint64
	deferred Deferred
	queue    RequestQueue
}

func (o *owing) State(v *Visitor) {
	v.Uint("times", &o.times)
	v.Deferred("deferred", &o.deferred)
	v.Requests("queue", &o.queue)
}

func TestRequestsAreState(t *testing.T) {
	o, other := &owing{times: 3}, &owing{}
	for _, r := range []Stamp{{5, 2}, {3, 4}} {
		o.deferred.Add(r)
		o.queue.Insert(r)
	}
	if _, err := LoadState(SaveState(nil, o), other); err != nil || !reflect.DeepEqual(o, other) {
		t.Errorf("%+v became %+v, %v", o, other, err)
	}
	want := []Var{{"times", "3", true}, {"deferred", "[(5,2) (3,4)]", false}, {"queue", "[(3,4) (5,2)]", false}}
	if got := Variables(o); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestStampsInWords(t *testing.T) {
	if got := (Stamp{19, 28}).String(); got != "(19,28)" {
		t.Error(got)
	}
}

// Describing and saving change nothing.
func TestStateIsReadOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := anything(t)
		before := SaveState(nil, e)
		DescribeState(e)
		if !reflect.DeepEqual(SaveState(nil, e), before) {
			t.Fatal("the state has changed")
		}
	})
}
