package vnet

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/internal/runtime/noderun"
)

// rulebook knows from the events of a network alone which steps are possible.
type rulebook struct {
	net   *Network
	order []uint64                 // broadcasts, as the node heard them that heard most
	heard map[dme.NodeID]int       // how many of them
	waits map[Timer]map[uint64]int // the messages that must arrive before, and their places in their chains
	sent  map[uint64]sentMessage   // what is on the way
}

type sentMessage struct {
	from, to  dme.NodeID
	num       uint64
	broadcast bool
	copied    bool
}

func newRulebook(n *Network) *rulebook {
	return &rulebook{net: n, heard: map[dme.NodeID]int{}, waits: map[Timer]map[uint64]int{}, sent: map[uint64]sentMessage{}}
}

// note notes what came of a step.
func (r *rulebook) note(t *testing.T, e *Event) {
	var set []Timer
	var sent []uint64
	was := r.sent[e.Number]
	switch e.Kind {
	case dme.Receive, dme.Lose:
		delete(r.sent, e.Number)
	case dme.Copy:
		x := was
		x.copied = true
		r.sent[e.Number] = x
	}
	if was.broadcast && e.Kind != dme.Lose && !was.copied && r.net.Sequenced {
		if at := r.heard[e.Node]; at == len(r.order) {
			r.order = append(r.order, was.num)
		} else if r.order[at] != was.num {
			t.Fatalf("node %d hears %d, where another heard %d", e.Node, was.num, r.order[at])
		}
		r.heard[e.Node]++
	}
	for _, x := range e.Effects {
		switch x.Kind {
		case dme.Send:
			sent = append(sent, x.Number)
			r.sent[x.Number] = sentMessage{from: e.Node, to: x.To, num: x.Msg.Num, broadcast: r.net.Sequenced && x.Msg.Flags == 1}
		case dme.SetTimer:
			set = append(set, Timer{Node: e.Node, ID: x.Timer, Delay: x.Delay})
		}
	}
	for timer, waits := range r.waits {
		hops, waited := waits[e.Number]
		for _, number := range sent {
			if waited && e.Kind != dme.Lose && hops < int(timer.Delay/time.Second) {
				waits[number] = hops + 1
			}
		}
	}
	for _, x := range set {
		maps.DeleteFunc(r.waits, func(y Timer, _ map[uint64]int) bool { return x.Node == y.Node && x.ID == y.ID })
		r.waits[x] = map[uint64]int{}
		for number := range r.sent {
			if r.net.Bounded && x.Delay >= time.Second {
				r.waits[x][number] = 1
			}
		}
	}
}

func (r *rulebook) mayFire(timers []Timer, i int) bool {
	for number := range r.waits[plainTimer(timers[i])] {
		if _, ok := r.sent[number]; ok {
			return false
		}
	}
	return !r.net.Bounded || !slices.ContainsFunc(timers[:i], func(x Timer) bool { return x.Delay <= timers[i].Delay })
}

func plainTimer(x Timer) Timer { return Timer{Node: x.Node, ID: x.ID, Delay: x.Delay} }

// mayArrive reports whether a message may arrive, of those to its receiver.
func (r *rulebook) mayArrive(number uint64) bool {
	x := r.sent[number]
	for other, y := range r.sent {
		if y.from != x.from || y.to != x.to || other >= number {
			continue
		}
		if !r.net.Unordered || x.broadcast && y.broadcast {
			return false
		}
	}
	return !x.broadcast || r.heard[x.to] == len(r.order) || r.order[r.heard[x.to]] == x.num
}

// marks returns which timers wait for a message, and its places in their chains.
func (r *rulebook) marks(number uint64) (marks []mark) {
	for _, x := range r.net.Timers() {
		if hops, ok := r.waits[plainTimer(x)][number]; ok {
			marks = append(marks, mark{x.Node, x.ID, hops})
		}
	}
	return marks
}

// possible returns all steps that are possible, in words.
func (r *rulebook) possible() (all []string) {
	n := r.net
	for id := range n.IDs() {
		switch p := n.process(id); {
		case p.activity == noderun.Inside:
			all = append(all, Step{Kind: dme.Exit, Node: id}.String())
		case p.activity == noderun.Idle && p.requests > 0:
			all = append(all, Step{Kind: dme.Request, Node: id}.String())
		}
	}
	for i, x := range n.Timers() {
		if r.mayFire(n.Timers(), i) {
			all = append(all, Step{Kind: dme.Timeout, Node: x.Node, Timer: x.ID}.String())
		}
	}
	for number, x := range r.sent {
		if !r.mayArrive(number) {
			continue
		}
		for kind, may := range map[dme.EventKind]bool{
			dme.Receive: true, dme.Copy: n.Duplicate && !x.copied, dme.Lose: n.common.lose > 0 && !x.copied,
		} {
			if may {
				at := 0
				for other, y := range r.sent {
					if y.from == x.from && y.to == x.to && other < number {
						at++
					}
				}
				all = append(all, Step{Kind: kind, From: x.from, Node: x.to, Index: at}.String())
			}
		}
	}
	slices.Sort(all)
	return all
}

func inWords(steps []Step) (all []string) {
	for _, x := range steps {
		all = append(all, x.String())
	}
	slices.Sort(all)
	return all
}

// everyStep returns steps of all kinds, at all nodes, with one message more than there is
// on each link, and with a timer that is not set.
func everyStep(n *Network) (all []Step) {
	for id := range dme.NodeID(n.Nodes + 2) {
		for _, kind := range []dme.EventKind{dme.Request, dme.RequestShared, dme.Exit, dme.Stop, dme.Crash, dme.Restart, dme.Join, dme.Depart} {
			all = append(all, Step{Kind: kind, Node: id})
		}
		for timer := range dme.TimerID(5) {
			all = append(all, Step{Kind: dme.Timeout, Node: id, Timer: timer})
		}
		for from := dme.NodeID(1); int(from) <= n.Nodes && id >= 1 && int(id) <= n.Nodes; from++ {
			for i := range n.length(n.link(from, id)) + 2 {
				for _, kind := range []dme.EventKind{dme.Receive, dme.Copy, dme.Lose, dme.PeerDown, dme.PeerUp} {
					all = append(all, Step{Kind: kind, Node: id, From: from, Index: i - 1})
				}
			}
		}
	}
	return all
}

// Whatever a medium does, those steps are possible that what has happened allows, and a
// network that is loaded goes the same way.
func TestStepsThatAMediumAllows(t *testing.T) {
	var kinds [dme.PeerUp + 1]int
	for _, c := range append(media, medium{Sequenced: true, Unordered: true}) {
		m := c.withCouriers(t)
		loaded := New(m)
		for seed := range uint64(12) {
			rng := rand.New(rand.NewPCG(seed, 1))
			n := New(m)
			rules := newRulebook(n)
			for {
				steps := n.Enabled(nil)
				if got, want := inWords(steps), rules.possible(); !slices.Equal(got, want) {
					t.Fatalf("%v, seed %d: %q are possible, want %q", c, seed, got, want)
				}
				for _, x := range n.bySending() {
					if want := rules.marks(x.number); !slices.Equal(x.marks, want) {
						t.Fatalf("%v, seed %d: message %d has the marks %v, want %v", c, seed, x.number, x.marks, want)
					}
				}
				for _, x := range everyStep(n) {
					if slices.Contains(steps, x) != n.Possible(x) {
						t.Fatalf("%v, seed %d: %v is possible: %v; in all, %q are", c, seed, x, n.Possible(x), inWords(steps))
					}
				}
				if len(steps) == 0 {
					break
				}
				x := steps[rng.IntN(len(steps))]
				kinds[x.Kind]++
				if err := loaded.Load(n.Save(nil)); err != nil {
					t.Fatal(err)
				}
				loaded.Take(x)
				rules.note(t, n.Do(x))
				if !bytes.Equal(n.Save(nil), loaded.Save(nil)) {
					t.Fatalf("%v, seed %d: after %v the loaded network is in another state", c, seed, x)
				}
			}
		}
	}
	for _, k := range []dme.EventKind{dme.Request, dme.Exit, dme.Receive, dme.Copy, dme.Lose, dme.Timeout} {
		if kinds[k] < 20 {
			t.Errorf("only %d steps %v show little", kinds[k], k)
		}
	}
}
