package transporttest

import (
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/transport"
)

// stage is a run whose processes come and go: node 1 in this process, and the others
// by two in processes of their own.
type stage struct {
	t     *testing.T
	s     Subject
	key   transport.Key
	nodes int
	knobs Knobs
	book  transport.AddressBook
	alive map[dme.NodeID]*cast // by first node
	last  map[dme.NodeID]uint32
	all   []*cast
}

func newStage(t *testing.T, s Subject, processes int) *stage {
	return &stage{
		t: t, s: s, key: NewKey(), nodes: 2*processes - 1, book: make(transport.AddressBook, 2*processes-1),
		alive: make(map[dme.NodeID]*cast), last: make(map[dme.NodeID]uint32),
	}
}

// lodgers returns the nodes of the process of that first node.
func lodgers(first dme.NodeID) []dme.NodeID {
	if first <= 1 {
		return []dme.NodeID{1}
	}
	return []dme.NodeID{first, first + 1}
}

// enter opens the next incarnation of a process, which knows those that are there.
func (g *stage) enter(first dme.NodeID) *cast {
	g.t.Helper()
	g.last[first]++
	c := transport.Config{
		Listen: "127.0.0.1:0", Local: lodgers(first), Nodes: g.nodes, Key: g.key,
		Incarnation: g.last[first], Incarnations: make(map[dme.NodeID]uint32),
	}
	for other := dme.NodeID(1); int(other) <= g.nodes; other += dme.NodeID(len(lodgers(other))) {
		if other == first {
			continue
		}
		for _, id := range lodgers(other) {
			c.Incarnations[id] = g.last[other]
			if g.alive[other] == nil {
				c.Absent = append(c.Absent, id)
			}
		}
	}
	x := perform(g.t, g.s, peerOrder{Config: c, Knobs: g.knobs}, first != 1)
	g.alive[first] = x
	g.all = append(g.all, x)
	for _, id := range lodgers(first) {
		g.book[id-1] = x.addr
	}
	return x
}

// start starts a process with an address book in which those that are absent to it
// have no address of theirs.
func (g *stage) start(x *cast) {
	book := append(transport.AddressBook(nil), g.book...)
	for _, id := range x.order.Config.Absent {
		book[id-1] = "later, with " + lodgers(id - id%2)[0].String()
	}
	x.do(command{Op: opStart, Book: book})
}

// open opens and starts all processes but those that are to come later.
func (g *stage) open(firsts ...dme.NodeID) {
	for _, first := range firsts {
		g.last[first] = 1
		g.alive[first] = &cast{} // so that nobody is absent
	}
	for _, first := range firsts {
		g.last[first] = 0
		g.enter(first)
	}
	for _, first := range firsts {
		g.start(g.alive[first])
	}
}

// exit kills a process.
func (g *stage) exit(first dme.NodeID) {
	g.alive[first].kill()
	delete(g.alive, first)
}

// admit tells a process that another is there.
func (g *stage) admit(to, first dme.NodeID) {
	g.t.Helper()
	g.alive[to].do(command{Op: opReadmit, To: first, Addr: g.book[first-1], Incarnation: g.last[first]})
}

func (g *stage) life(first dme.NodeID) life { return life{first, g.last[first]} }

// converse lets two processes talk, both ways, and waits until they hear each other.
func (g *stage) converse(a, b dme.NodeID) {
	g.t.Helper()
	g.alive[a].do(command{Op: opTalk, From: a, To: b})
	g.alive[b].do(command{Op: opTalk, From: b, To: a})
	g.hear(a, b)
}

func (g *stage) hear(a, b dme.NodeID) {
	g.t.Helper()
	g.alive[a].hears(g.life(b), false)
	g.alive[b].hears(g.life(a), false)
}

// check ends the run, node 1 first, so that it says farewell to processes that are
// there, and checks what all were told.
func (g *stage) check() {
	g.t.Helper()
	g.alive[1].kill()
	for _, x := range g.all {
		x.check()
	}
}

// testRestart kills processes, which come back.
func testRestart(t *testing.T, s Subject) {
	for _, c := range []struct {
		name string
		test func(*testing.T, Subject)
	}{
		{"at once", restartAtOnce},
		{"after Down", restartAfterDown},
		{"the old one goes on", restartBesideTheOld},
		{"both at once", restartBoth},
		{"each readmits the other", readmitEachOther},
		{"a newcomer", comeLater},
		{"broadcasts", restartAmongBroadcasts},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, s) })
	}
}

// restartAtOnce kills a process in the middle of its talk, several times, and lets
// the next one talk before it has been announced: nothing of that may be lost.
func restartAtOnce(t *testing.T, s Subject) {
	g := newStage(t, s, 2)
	g.open(1, 2)
	g.converse(1, 2)
	for range 4 {
		g.exit(2)
		x := g.enter(2)
		g.start(x)
		x.do(command{Op: opTalk, From: 2, To: 1})
		x.do(command{Op: opTalk, From: 3, To: 1})
		if g.last[2]%2 == 0 {
			time.Sleep(50 * time.Millisecond) // some of it is early
		}
		g.admit(1, 2)
		g.hear(1, 2)
	}
	g.check()
}

// restartAfterDown waits until the death is noticed, or tells it, and sends to the
// dead before the next one is there.
func restartAfterDown(t *testing.T, s Subject) {
	g := newStage(t, s, 2)
	g.open(1, 2)
	g.converse(1, 2)
	one := g.alive[1]
	down := func() bool { return one.count(func(e event) bool { return e.What == "down" }) == 2 }
	g.exit(2)
	one.do(command{Op: opExpel, To: 3})
	if !down() {
		t.Error("Expel has returned before Down")
	}
	one.do(command{Op: opExpel, To: 2}) // says nothing new
	one.do(command{Op: opShout, From: 1, To: 2})
	g.start(g.enter(2))
	one.do(command{Op: opShout, From: 1, To: 2})
	g.admit(1, 2)
	g.admit(1, 2) // nor does this
	g.alive[2].do(command{Op: opTalk, From: 2, To: 1})
	g.hear(1, 2)
	g.check()
}

// restartBesideTheOld readmits a process whose incarnation before is not dead: what
// that sends is refused.
func restartBesideTheOld(t *testing.T, s Subject) {
	g := newStage(t, s, 2)
	g.open(1, 2)
	g.converse(1, 2)
	g.start(g.enter(2))
	before := refusals(g.alive[1].actor.tr)
	g.admit(1, 2)
	g.alive[2].do(command{Op: opTalk, From: 2, To: 1})
	g.hear(1, 2)
	if s.Connectionless {
		eventually(t, s, "frames of the old one to be refused", func() bool { return refusals(g.alive[1].actor.tr) > before })
	}
	g.all = []*cast{g.alive[1], g.alive[2]} // the old one may see its end in any way
	g.check()
}

// restartBoth kills two processes, which come back together, each knowing of the
// other.
func restartBoth(t *testing.T, s Subject) {
	g := newStage(t, s, 3)
	g.open(1, 2, 4)
	g.converse(1, 2)
	g.converse(4, 1)
	g.converse(2, 4)
	g.exit(2)
	g.exit(4)
	// Each has the other's new address and incarnation from the beginning.
	g.alive[2], g.alive[4] = &cast{}, &cast{}
	g.last[4]++
	g.enter(2)
	g.last[4]--
	g.enter(4)
	g.start(g.alive[2])
	g.alive[2].do(command{Op: opTalk, From: 2, To: 4})
	g.start(g.alive[4])
	g.admit(1, 4)
	g.admit(1, 2)
	g.converse(1, 2)
	g.converse(4, 1)
	g.alive[4].do(command{Op: opTalk, From: 4, To: 2})
	g.hear(2, 4)
	g.check()
}

// readmitEachOther is restartBoth where each is absent to the other at first.
func readmitEachOther(t *testing.T, s Subject) {
	g := newStage(t, s, 3)
	g.open(1, 2, 4)
	g.converse(2, 4)
	g.exit(2)
	g.exit(4)
	two := g.enter(2)
	delete(g.alive, 2) // as far as the other knows
	g.last[2]--
	four := g.enter(4)
	g.last[2]++
	g.alive[2] = two
	g.start(two)
	g.start(four)
	g.admit(2, 4)
	two.do(command{Op: opTalk, From: 2, To: 4})
	g.admit(4, 2)
	four.do(command{Op: opTalk, From: 4, To: 2})
	g.hear(2, 4)
	g.admit(1, 2)
	g.admit(1, 4)
	g.converse(1, 4)
	g.check()
}

// comeLater lets a process come into a run that has begun without it.
func comeLater(t *testing.T, s Subject) {
	g := newStage(t, s, 3)
	g.open(1, 2)
	g.converse(1, 2)
	g.alive[2].do(command{Op: opShout, From: 2, To: 4})
	g.alive[1].do(command{Op: opExpel, To: 4}) // says nothing
	g.last[4] = 1                              // who comes later has at least 2
	g.start(g.enter(4))
	g.admit(1, 4)
	g.admit(2, 4)
	g.converse(1, 4)
	g.converse(2, 4)
	if n := g.alive[1].count(func(e event) bool { return e.What == "down" }); n > 0 {
		t.Errorf("Down was called %d times for one that was absent", n)
	}
	g.check()
}

// restartAmongBroadcasts kills and restarts a process while all broadcast.
func restartAmongBroadcasts(t *testing.T, s Subject) {
	if !s.Guarantees.Broadcast {
		t.Skip("the transport is not able to broadcast")
	}
	g := newStage(t, s, 3)
	g.open(1, 2, 4)
	for _, first := range []dme.NodeID{1, 2, 4} {
		g.alive[first].do(command{Op: opBroadcast, From: first})
	}
	g.alive[2].hears(g.life(1), true)
	for range 3 {
		g.exit(2)
		g.start(g.enter(2))
		g.alive[2].do(command{Op: opBroadcast, From: 2})
		g.admit(1, 2)
		g.admit(4, 2)
		g.alive[1].hears(g.life(2), true)
		g.alive[4].hears(g.life(2), true)
		g.alive[2].hears(g.life(1), true)
		g.alive[2].hears(g.life(4), true)
	}
	g.check()
}

// testDeath kills a process with connections from, to, and both from and to another,
// which must notice: once for each node.
func testDeath(t *testing.T, s Subject) {
	for _, c := range []struct {
		name         string
		ours, theirs bool // which sends
	}{{"we send", true, false}, {"it sends", false, true}, {"both send", true, true}} {
		t.Run(c.name, func(t *testing.T) {
			g := newStage(t, s, 2)
			g.knobs.Silence = time.Second
			g.open(1, 2)
			one, two := g.alive[1], g.alive[2]
			if c.ours {
				one.do(command{Op: opTalk, From: 1, To: 2})
				two.hears(g.life(1), false)
			}
			if c.theirs {
				two.do(command{Op: opTalk, From: 2, To: 1})
				one.hears(g.life(2), false)
			}
			g.exit(2)
			eventually(t, s, "Down", func() bool { return one.count(func(e event) bool { return e.What == "down" }) == 2 })
			one.do(command{Op: opShout, From: 1, To: 2})
			g.check()
		})
	}
}
