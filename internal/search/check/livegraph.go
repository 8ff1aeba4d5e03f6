package check

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"dmebench/dme"
	"dmebench/dme/vnet"
)

// graph is all states that can be reached, up to the values of clocks, and the steps between them.
type graph struct {
	*Search
	space   *vnet.Space
	walker  *vnet.Walker
	classes *vnet.Classes
	width   int

	vectors    long[uint32] // of all states, one after the other
	states     long[state]
	index      []uint64 // open addressing: a state's number plus one above its hash's low half; 0 is free
	edges      long[edge]
	timed      bool // some step fires a timer
	depth      int
	components uint64

	memory account
	held   int // bytes that are on the account
}

type state struct {
	first           uint64 // of its steps
	parent          uint32 // the state from which it was reached first
	waiting, inside uint32 // nodes
}

type edge struct {
	to    uint32
	label label
}

// label says what a step does for fairness.
type label uint16

// Labels: none for the node that asks; else the node that leaves, the link that delivers, or some
// timer.
const (
	asking label = iota
	firing
	leaving                              // + the node
	arrival = leaving + LivenessMost + 1 // + the link, see vnet.Space.Occupied
)

func (g *graph) labelOf(x vnet.Step) label {
	switch x.Kind {
	case dme.Exit:
		return leaving + label(x.Node)
	case dme.Receive:
		return arrival + label(int(x.From-1)*g.Nodes+int(x.Node-1))
	case dme.Timeout:
		return firing
	}
	return asking
}

// long is a slice that grows without being copied.
type long[T any] struct {
	blocks [][]T
	count  int
}

const longBlock = 1 << 16

func (l *long[T]) len() int    { return l.count }
func (l *long[T]) at(i int) *T { return &l.blocks[i/longBlock][i%longBlock] }
func (l *long[T]) add(x T) {
	if l.count%longBlock == 0 {
		l.blocks = append(l.blocks, make([]T, longBlock))
	}
	l.blocks[l.count/longBlock][l.count%longBlock] = x
	l.count++
}

func newGraph(s *Search) *graph {
	space := vnet.NewSpace(s.model)
	g := &graph{
		Search: s, space: space, walker: space.NewWalker(), classes: space.NewClasses(), width: space.Width(),
		index: make([]uint64, 1<<12),
	}
	g.memory.limit = s.Memory
	return g
}

// vector returns the vector of a state, valid for ever. Those of a block end with it.
func (g *graph) vector(id int) []uint32 {
	each := longBlock / g.width
	at := id % each * g.width
	return g.vectors.blocks[id/each][at : at+g.width]
}

func (g *graph) addVector(v []uint32) {
	each := longBlock / g.width
	if g.states.len()%each == 0 {
		g.vectors.blocks = append(g.vectors.blocks, make([]uint32, longBlock))
	}
	block := g.vectors.blocks[len(g.vectors.blocks)-1]
	copy(block[g.states.len()%each*g.width:], v)
}

func hashVector(v []uint32) uint32 {
	h := uint64(0x9e3779b97f4a7c15)
	for _, x := range v {
		h = (h ^ uint64(x)) * 0xff51afd7ed558ccd
		h ^= h >> 32
	}
	return uint32(h)
}

// idOf returns the number of a representative, and adds it if it is new.
func (g *graph) idOf(v []uint32, parent int) (id int) {
	if 4*(g.states.len()+1) > 3*len(g.index) {
		old := g.index
		g.reserve(uint64(len(old)))
		g.index = make([]uint64, 2*len(old))
		for _, e := range old {
			if e != 0 {
				g.place(e)
			}
		}
	}
	h := hashVector(v)
	mask := len(g.index) - 1
	at := int(h) & mask
	for ; g.index[at] != 0; at = (at + 1) & mask {
		if e := g.index[at]; uint32(e) == h && slices.Equal(g.vector(int(e>>32)-1), v) {
			return int(e>>32) - 1
		}
	}
	id = g.states.len()
	g.index[at] = uint64(id+1)<<32 | uint64(h)
	g.addVector(v)
	waiting, inside := g.space.Is(v)
	g.states.add(state{parent: uint32(parent), waiting: waiting, inside: inside, first: math.MaxUint64})
	return id
}

func (g *graph) place(e uint64) {
	mask := len(g.index) - 1
	at := int(uint32(e)) & mask
	for g.index[at] != 0 {
		at = (at + 1) & mask
	}
	g.index[at] = e
}

func (g *graph) out(id int) (first, end int) {
	first = int(g.states.at(id).first)
	if id+1 < g.states.len() && g.states.at(id+1).first != math.MaxUint64 {
		return first, int(g.states.at(id + 1).first)
	}
	return first, g.edges.len()
}

// dead is where a search ends: a state from which no step would serve a node, or which breaks an
// invariant, or a step that breaks a property.
type dead struct {
	state     int
	step      vnet.Step       // of the violation; the zero Step is none
	violation *vnet.Violation // nil if nothing is possible
}

// build visits all states. stopped says why it could not, "" if it could.
func (g *graph) build(ctx context.Context) (end *dead, stopped string) {
	initial := vnet.New(g.model)
	if initial.Violation != nil {
		return &dead{0, vnet.Step{}, initial.Violation}, ""
	}
	v, _ := g.space.Of(initial)
	g.idOf(g.classes.Of(v), 0)
	layer := 1 // the first state of the next distance
	var steps []vnet.Step
	for id := 0; id < g.states.len(); id++ {
		if id == layer {
			g.depth++
			layer = g.states.len()
		}
		if id%1024 == 0 {
			if stopped := g.limit(ctx); stopped != "" {
				return nil, stopped
			}
			if g.Progress != nil {
				g.Progress(uint64(g.states.len()))
			}
		}
		v := g.vector(id)
		g.states.at(id).first = uint64(g.edges.len())
		var stuck bool
		if steps, stuck = g.walker.Enabled(v, steps[:0]); stuck {
			return &dead{id, vnet.Step{}, nil}, ""
		}
		if bad := g.walker.Broken(v, dme.None); bad != nil {
			return &dead{id, vnet.Step{}, bad}, ""
		}
		for _, x := range steps {
			bad := g.classes.Step(g.walker, v, x, func(rep []uint32) {
				if g.crowded(x, rep) {
					return
				}
				to := g.idOf(rep, id)
				l := g.labelOf(x)
				g.timed = g.timed || l == firing
				g.edges.add(edge{uint32(to), l})
			})
			if bad != nil {
				return &dead{id, x, bad}, ""
			}
		}
	}
	return nil, ""
}

// crowded reports whether a node may not ask yet, since that would put too much on a link.
func (g *graph) crowded(x vnet.Step, after []uint32) bool {
	return g.InFlight > 0 && (x.Kind == dme.Request || x.Kind == dme.RequestShared) && g.space.Longest(after) > g.InFlight
}

// limit says why the search must end now, "" if it need not.
func (g *graph) limit(ctx context.Context) string {
	if ctx.Err() != nil {
		return whyStopped(ctx)
	}
	if uint64(g.states.len()) >= min(g.States, math.MaxUint32-1) {
		return fmt.Sprintf("limit of %d states", g.States)
	}
	const stateBytes, edgeBytes, marks = 24, 8, 16 // marks: what the components of a node take for each state
	bytes := 4*longBlock*len(g.vectors.blocks) + 8*len(g.index) + (stateBytes+marks)*longBlock*len(g.states.blocks) +
		edgeBytes*longBlock*len(g.edges.blocks) + g.space.Footprint() + g.walker.Footprint() + g.classes.Footprint()
	if 4*g.states.len() > 2*len(g.index) {
		bytes += 16 * len(g.index) // about to grow
	}
	if ok := g.memory.hold(bytes - g.held); !ok {
		return fmt.Sprintf("limit of %v of memory", g.Memory)
	}
	g.held = bytes
	return ""
}

type taken struct {
	from int
	step vnet.Step // as in the vector of from
	to   int
}

// through calls found with each step of a label between two states, just taken by the walker.
func (g *graph) through(from, to int, want label, found func(x vnet.Step)) {
	v := g.vector(from)
	steps, _ := g.walker.Enabled(v, nil)
	for _, x := range steps {
		if g.labelOf(x) != want {
			continue
		}
		leads := false
		g.classes.Step(g.walker, v, x, func(rep []uint32) {
			leads = leads || !g.crowded(x, rep) && slices.Equal(rep, g.vector(to))
		})
		if leads {
			found(x)
		}
	}
}

type hop struct {
	from int
	edge *edge
}

func (g *graph) steps(hops []hop) ([]taken, error) {
	var all []taken
	for _, h := range hops {
		t := taken{from: h.from, to: int(h.edge.to)}
		g.through(t.from, t.to, h.edge.label, func(x vnet.Step) {
			if t.step.Kind == 0 {
				t.step = x
			}
		})
		if t.step.Kind == 0 {
			return nil, fault("there is no step from state %d to state %d", t.from, t.to)
		}
		all = append(all, t)
	}
	return all, nil
}

func (g *graph) way(id int) (hops []hop) {
	for id != 0 {
		from := int(g.states.at(id).parent)
		first, end := g.out(from)
		for i := first; i < end; i++ {
			if e := g.edges.at(i); int(e.to) == id {
				hops = append(hops, hop{from, e})
				break
			}
		}
		id = from
	}
	slices.Reverse(hops)
	return hops
}

func bit(id dme.NodeID) uint32 { return 1 << (id - 1) }

// ancestry remembers from which state each state was first reached, and by which of the moves that
// were possible there: 8 bytes for each state. States are numbered in blocks, each filled by one
// goroutine.
type ancestry struct {
	mu     sync.Mutex
	blocks []*[blockSize]origin
}

const blockSize = 512

// origin is the number of the state before, plus one, and the move; zero at the beginning.
type origin uint64

const moveBits = 20

func originOf(state uint64, move int) origin { return origin((state+1)<<moveBits | uint64(move)) }

func (a *ancestry) block() (first uint64, block *[blockSize]origin) {
	block = new([blockSize]origin)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.blocks = append(a.blocks, block)
	return uint64(len(a.blocks)-1) * blockSize, block
}

func (a *ancestry) path(state uint64) []int {
	a.mu.Lock()
	defer a.mu.Unlock()
	var moves []int
	for {
		o := a.blocks[state/blockSize][state%blockSize]
		if o == 0 {
			slices.Reverse(moves)
			return moves
		}
		moves = append(moves, int(o&(1<<moveBits-1)))
		state = uint64(o>>moveBits) - 1
	}
}
