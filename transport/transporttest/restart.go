package transporttest

import (
	"slices"
	"strconv"
	"strings"
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
	all   []*cast // to be checked for how they ended
	begun bool
}

func newStage(t *testing.T, s Subject, processes int) *stage {
	return &stage{
		t: t, s: s, key: NewKey(), nodes: 2*processes - 1, book: make(transport.AddressBook, 2*processes-1),
		alive: make(map[dme.NodeID]*cast), last: make(map[dme.NodeID]uint32),
	}
}

func home(id dme.NodeID) dme.NodeID {
	if id <= 1 {
		return 1
	}
	return id - id%2
}

func lodgers(first dme.NodeID) []dme.NodeID {
	if first <= 1 {
		return []dme.NodeID{1}
	}
	return []dme.NodeID{first, first + 1}
}

// enter opens the next incarnation of a process, which knows those that are there.
func (g *stage) enter(first dme.NodeID) *cast {
	g.t.Helper()
	if g.last[first]++; g.begun {
		g.last[first] = max(g.last[first], 2)
	}
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

// start starts a process; those that are absent to it have no address of theirs in its book.
func (g *stage) start(x *cast) {
	book := append(transport.AddressBook(nil), g.book...)
	for _, id := range x.order.Config.Absent {
		book[id-1] = "later, with " + home(id).String()
	}
	x.do(command{Op: opStart, Book: book})
}

func (g *stage) open(firsts ...dme.NodeID) {
	for _, first := range firsts {
		g.last[first] = 1
		g.alive[first] = &cast{} // so that no process is absent
	}
	for _, first := range firsts {
		g.last[first] = 0
		g.enter(first)
	}
	for _, first := range firsts {
		g.start(g.alive[first])
	}
	g.begun = true
}

func (g *stage) process(id dme.NodeID) *cast { return g.alive[home(id)] }

func (g *stage) life(first dme.NodeID) life { return life{first, g.last[first]} }

// scripts are what happens in runs whose processes come and go, step by step. A process
// goes by its first node.
var scripts = []struct {
	name, steps string
	times       int // the last line of the steps is done
}{
	// A process is killed in the middle of its talk, and the next one talks before it has
	// been announced: nothing of that may be lost.
	{"at once", `open 1 2; converse 1 2
		exit 2; enter 2; talk 2 1; talk 3 1; pause; admit 1 2; hear 1 2`, 4},
	// A repeated announcement of a process changes nothing.
	{"after Down", `open 1 2; converse 1 2; exit 2; expel 1 3; down 1; expel 1 2; shout 1 2; enter 2
		shout 1 2; admit 1 2; admit 1 2; talk 2 1; hear 1 2`, 1},
	{"the old one goes on", `open 1 2; converse 1 2; enter 2; admit 1 2; talk 2 1; hear 1 2; refuse 1`, 1},
	{"both at once", `open 1 2 4; converse 1 2; converse 4 1; converse 2 4; exit 2; exit 4; together 2 4
		admit 1 4; admit 1 2; converse 1 2; converse 4 1; talk 4 2; hear 2 4`, 1},
	{"each readmits the other", `open 1 2 4; converse 2 4; exit 2; exit 4; apart 2 4; admit 2 4; talk 2 4
		admit 4 2; talk 4 2; hear 2 4; admit 1 2; admit 1 4; converse 1 4`, 1},
	{"a newcomer", `open 1 2; converse 1 2; shout 2 4; expel 1 4; enter 4
		admit 1 4; admit 2 4; converse 1 4; converse 2 4`, 1},
	{"broadcasts", `open 1 2 4; broadcast 1; broadcast 2; broadcast 4; listen 2 1
		exit 2; enter 2; broadcast 2; admit 1 2; admit 4 2; listen 1 2; listen 4 2; listen 2 1; listen 2 4`, 3},
}

// testRestart kills processes, which come back.
func testRestart(t *testing.T, s Subject) {
	for _, c := range scripts {
		t.Run(c.name, func(t *testing.T) {
			if strings.Contains(c.steps, "broadcast") && !s.Guarantees.Broadcast {
				t.Skip("the transport is not able to broadcast")
			}
			lines := strings.Split(c.steps, "\n")
			last := len(lines) - 1
			play(t, s, Knobs{}, strings.Join(lines[:last], ";")+strings.Repeat(";"+lines[last], c.times))
		})
	}
}

// testDeath kills a process with connections from, to, and both, which must be noticed: once
// for each node.
func testDeath(t *testing.T, s Subject) {
	for name, talk := range map[string]string{
		"we send": "talk 1 2; heard 2 1", "it sends": "talk 2 1; heard 1 2", "both send": "converse 1 2",
	} {
		t.Run(name, func(t *testing.T) {
			play(t, s, Knobs{Silence: time.Second}, "open 1 2;"+talk+"; exit 2; down 1; shout 1 2")
		})
	}
}

func play(t *testing.T, s Subject, knobs Knobs, script string) {
	processes := 2
	if strings.Contains(script, " 4") {
		processes = 3
	}
	g := newStage(t, s, processes)
	g.knobs = knobs
	for step := range strings.SplitSeq(script, ";") {
		words := strings.Fields(step)
		if len(words) == 0 {
			continue
		}
		var ids []dme.NodeID
		for _, w := range words[1:] {
			id, err := strconv.ParseUint(w, 10, 32)
			if err != nil {
				t.Fatalf("%q: %v", step, err)
			}
			ids = append(ids, dme.NodeID(id))
		}
		if words[0] == "open" {
			g.open(ids...)
			continue
		}
		ids = append(ids, 0, 0)
		g.step(words[0], ids[0], ids[1])
	}
	// Node 1 first, so that it says farewell to processes that are there.
	g.alive[1].kill()
	for _, x := range g.all {
		x.check()
	}
}

func (g *stage) step(word string, a, b dme.NodeID) {
	g.t.Helper()
	switch word {
	case "enter": // the next incarnation comes; one that is still there may see its end in any way
		g.all = slices.DeleteFunc(g.all, func(x *cast) bool { return x == g.alive[a] })
		g.start(g.enter(a))
	case "together": // both come back, and each has the other's new address and incarnation
		g.alive[a], g.alive[b] = &cast{}, &cast{}
		g.last[b]++
		g.enter(a)
		g.last[b]--
		g.enter(b)
		g.start(g.alive[a])
		g.step(opTalk, a, b)
		g.start(g.alive[b])
	case "apart": // both come back, and each is absent to the other
		one := g.enter(a)
		delete(g.alive, a) // as far as the other knows
		g.last[a]--
		two := g.enter(b)
		g.last[a]++
		g.alive[a] = one
		g.start(one)
		g.start(two)
	case "exit": // killed
		g.alive[a].kill()
		delete(g.alive, a)
	case opTalk, opShout, opBroadcast:
		g.process(a).do(command{Op: word, From: a, To: b})
	case opExpel: // a hears that b has ended, and then answers
		g.process(a).do(command{Op: word, To: b})
		of := func(e event) bool { return e.Kind == "down" && e.From.Node == b }
		if g.last[home(b)] > 0 && g.alive[a].count(of) == 0 {
			g.t.Error("Expel has returned before Down")
		}
	case "admit": // a hears that b is there
		g.process(a).do(command{Op: opReadmit, To: b, Addr: g.book[b-1], Incarnation: g.last[b]})
	case "converse": // both talk, and hear each other
		g.step(opTalk, a, b)
		g.step(opTalk, b, a)
		g.step("hear", a, b)
	case "hear":
		g.step("heard", a, b)
		g.step("heard", b, a)
	case "heard": // a hears b
		g.alive[a].hears(g.life(b), false)
	case "listen": // to broadcasts
		g.alive[a].hears(g.life(b), true)
	case "down": // a hears that two nodes are down
		eventually(g.t, g.s, "Down", func() bool { return g.alive[a].count(func(e event) bool { return e.Kind == "down" }) == 2 })
	case "refuse": // a refuses what the one that is over sends
		if g.s.Connectionless {
			eventually(g.t, g.s, "frames of the old one to be refused", func() bool { return refusals(g.alive[a].actor.tr) > 0 })
		}
	case "pause": // some of what follows is early
		time.Sleep(20 * time.Millisecond)
	default:
		g.t.Fatalf("no step %q", word)
	}
}
