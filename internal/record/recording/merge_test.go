package recording

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/internal/runtime/noderun"
)

// testing messages have two kinds.
var chatter = &dme.Algorithm{Name: "chatter", Title: "Chatter", Kinds: []string{"PING", "PONG"}}

// conversation is nodes that send one another messages at random, each with a clock
// that is wrong by up to half of the slack.
type conversation struct {
	rng    *rand.Rand
	nodes  int
	now    int64
	wrong  []int64
	logs   []*Log
	flight []flying
	loses  bool // and repeats, and lets overtake
	sent   int
	heard  int
}

type flying struct {
	from, to dme.NodeID
	msg      dme.Message
}

const testSlack = 500

func converse(seed uint64, nodes, steps, limit int, loses bool) *conversation {
	c := &conversation{rng: rand.New(rand.NewPCG(seed, 1)), nodes: nodes, loses: loses}
	for id := range nodes {
		c.wrong = append(c.wrong, c.rng.Int64N(testSlack)-testSlack/2)
		c.logs = append(c.logs, NewLog(func() int64 { return c.now + c.wrong[id] }, limit))
	}
	for range steps {
		c.now += c.rng.Int64N(20)
		if len(c.flight) > 0 && c.rng.IntN(2) == 0 {
			c.deliver()
		} else {
			c.see(c.any(), noderun.Event{Kind: dme.Request})
		}
	}
	for len(c.flight) > 0 {
		c.now += c.rng.Int64N(20)
		c.deliver()
	}
	return c
}

func (c *conversation) any() dme.NodeID { return dme.NodeID(c.rng.IntN(c.nodes) + 1) }

// see has a node note what happens, and send something.
func (c *conversation) see(id dme.NodeID, h noderun.Event) {
	c.logs[id-1].Observe(id, h)
	for range c.rng.IntN(2) {
		to := c.any()
		if to == id {
			continue
		}
		m := dme.Message{Kind: dme.Kind(1 + c.rng.IntN(2)), Clock: uint64(c.rng.IntN(3))} // few: many are equal
		c.now += c.rng.Int64N(3)
		c.logs[id-1].Observe(id, noderun.Event{Kind: dme.Send, Peer: to, Msg: &m})
		c.flight = append(c.flight, flying{id, to, m})
		c.sent++
	}
}

// deliver delivers the first message of some link, or any of it, which may be lost
// or stay there.
func (c *conversation) deliver() {
	i := c.rng.IntN(len(c.flight))
	x := c.flight[i]
	if !c.loses {
		i = slices.IndexFunc(c.flight, func(y flying) bool { return y.from == x.from && y.to == x.to })
		x = c.flight[i]
	}
	if !c.loses || c.rng.IntN(8) > 0 {
		c.flight = slices.Delete(c.flight, i, i+1)
	}
	if c.loses && c.rng.IntN(8) == 0 {
		return
	}
	c.heard++
	c.see(x.to, noderun.Event{Kind: dme.Receive, Peer: x.from, Msg: &x.msg})
}

func (c *conversation) merged(t *testing.T) []Event {
	t.Helper()
	logs := Logs{Algorithm: chatter, Slack: testSlack, Repeats: c.loses}
	for _, l := range c.logs {
		k := l.Kept()
		logs.Add(k.Streams[0], k.Dropped, k.Until)
	}
	var all []Event
	for e, err := range Merge(logs) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// causal fails the test where an order does not agree with causality, or a message
// arrives as another than it was sent as.
func causal(t *testing.T, events []Event) (sends, receives int) {
	t.Helper()
	sent := make(map[uint64]*Event)
	arrived := make(map[uint64]bool)
	for i := range events {
		e := &events[i]
		if i > 0 && e.At < events[i-1].At {
			t.Fatalf("event %d, %+v, is earlier than the one before", i, e)
		}
		switch e.What {
		case dme.Send:
			if sends++; sent[e.ID] != nil {
				t.Fatalf("two messages have number %d", e.ID)
			}
			sent[e.ID] = e
		case dme.Receive:
			receives++
			s := sent[e.ID]
			if s == nil {
				t.Fatalf("event %d, %+v, is a message that has not been sent before", i, e)
			}
			if s.Node != e.Peer || s.Peer != e.Node || s.Kind != e.Kind || s.Message != e.Message {
				t.Fatalf("%+v arrives as %+v", s, e)
			}
			if arrived[e.ID] != e.Copy {
				t.Fatalf("%+v: it has arrived before: %v", e, arrived[e.ID])
			}
			arrived[e.ID] = true
		}
	}
	return sends, receives
}

// The order of events agrees with causality although clocks do not agree, on links
// that keep order and on such as lose, repeat and reorder messages.
func TestMerge(t *testing.T) {
	for seed := range uint64(200) {
		c := converse(seed, 2+int(seed%6), 300, 1<<20, seed%2 == 1)
		events := c.merged(t)
		sends, receives := causal(t, events)
		if sends != c.sent || receives != c.heard {
			t.Fatalf("seed %d: %d sent and %d received, want %d and %d", seed, sends, receives, c.sent, c.heard)
		}
		for id := range c.nodes { // each node's own order is kept
			var want, got []dme.EventKind
			for _, chunk := range c.logs[id].Chunks() {
				for r := range Decode(chunk) {
					want = append(want, r.Kind)
				}
			}
			for _, e := range events {
				if int(e.Node) == id+1 {
					got = append(got, e.What)
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d: node %d does %v, want %v", seed, id+1, got, want)
			}
		}
	}
}

// Links that keep order deliver the messages of a link as they were sent.
func TestMergeKeepsOrder(t *testing.T) {
	for seed := range uint64(50) {
		last := make(map[string]uint64)
		for _, e := range converse(2*seed, 4, 300, 1<<20, false).merged(t) {
			if e.What != dme.Receive {
				continue
			}
			link := fmt.Sprint(e.Peer, "->", e.Node)
			if e.ID <= last[link] {
				t.Fatalf("seed %d: on link %s message %d arrives behind %d", seed, link, e.ID, last[link])
			}
			last[link] = e.ID
		}
	}
}

// Where a log was full the recording ends: what is left is complete.
func TestMergeEndsWhereALogWasFull(t *testing.T) {
	c := converse(3, 4, 500, 60, false)
	events := c.merged(t)
	if len(events) == 0 || len(events) >= 4*60 {
		t.Fatalf("%d events", len(events))
	}
	end := int64(1 << 62)
	for _, l := range c.logs {
		_, until := l.Dropped()
		end = min(end, until)
	}
	for _, e := range events {
		if e.At >= end { // also those that others wait for
			t.Fatalf("%+v comes after %d, from when on events are missing", e, end)
		}
	}
	causal(t, events)
}

func TestMergeTimes(t *testing.T) {
	now := int64(7000)
	l := NewLog(func() int64 { return now }, 10)
	l.Observe(1, noderun.Event{Kind: dme.Start})
	now += 500
	l.Observe(1, noderun.Event{Kind: dme.SetTimer, Timer: 3, Delay: time.Second})
	for _, first := range []bool{true, false} {
		var at []int64
		for e, err := range Merge(Logs{Algorithm: chatter, Kept: l.Kept(), FromFirst: first}) {
			if at = append(at, e.At); err != nil || e.What == dme.SetTimer && (*e.Timer != 3 || e.Delay != int64(time.Second)) {
				t.Errorf("%+v, %v", e, err)
			}
		}
		want := []int64{7000, 7500}
		if first {
			want = []int64{0, 500}
		}
		if !slices.Equal(at, want) {
			t.Errorf("times %v, want %v", at, want)
		}
	}
}

func TestMergeOfRubbish(t *testing.T) {
	failed := false
	for _, err := range Merge(Logs{Algorithm: chatter, Kept: Kept{Streams: []Stream{{{0, 0}}}, Until: 1}}) {
		failed = failed || err != nil
	}
	if failed {
		return
	}
	t.Error("what no log has written is merged without an error")
}
