package coordinator

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/internal/record/eventlog"
	"dmebench/internal/record/recording"
	"dmebench/runs"
)

// since returns a progress that has seen nothing move for that long.
func since(r sums, ago time.Duration) *progress {
	p := newProgress(time.Second, 5*time.Second)
	p.last = r
	p.moved, p.entered = p.moved.Add(-ago), p.entered.Add(-ago)
	return p
}

func TestProgress(t *testing.T) {
	waiting := sums{sent: 7, handled: 7, requests: 3, entries: 1, requesting: 2}
	inside := waiting
	inside.inside, inside.requesting = 1, 1
	over := sums{sent: 7, handled: 6, requests: 3, entries: 3}
	thinking := sums{sent: 7, handled: 7, requests: 3, entries: 3, toCome: 1}
	for _, c := range []struct {
		name string
		at   sums
		ago  time.Duration
		want string // "" for no complaint
	}{
		{"waiting for less than the limit", waiting, 900 * time.Millisecond, ""},
		{"waiting for longer", waiting, 1100 * time.Millisecond, "the critical section is free"},
		{"a long critical section", inside, 5 * time.Second, ""},
		{"a critical section that does not end", inside, 7 * time.Second, "longer than the workload says"},
		{"a message is on its way after all was served", over, 900 * time.Millisecond, ""},
		{"it never arrives", over, 2 * time.Second, "messages were lost"},
		{"one arrived twice", sums{sent: 6, handled: 7, requests: 3, entries: 3}, 2 * time.Second, "messages were duplicated"},
		{"everybody thinks", thinking, time.Hour, ""},
	} {
		err := since(c.at, c.ago).observe(c.at)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	// Something moves, but nobody ever enters.
	p := since(waiting, 11*time.Second)
	p.moved = time.Now()
	moving := waiting
	moving.sent++
	var s *stall
	if err := p.observe(moving); !errors.As(err, &s) || !strings.Contains(err.Error(), "though messages flow") {
		t.Errorf("messages flow without an entry: %v", err)
	}
}

// What processes record of a run is all that they have counted, and goes into one
// order in which nothing arrives before it was sent and nobody enters while another
// is inside, also over links that lose, repeat and reorder frames.
func TestEventsAreRecorded(t *testing.T) {
	for _, spec := range []runs.Spec{
		{Algorithm: "lamport", Nodes: 4, Transport: "tcp", Requests: 60},
		{Algorithm: "ricart-agrawala", Nodes: 4, NodesPerWorker: 2, Transport: "nats", Requests: 60},
		{Algorithm: "ricart-agrawala", Nodes: 3, Transport: "udp", Requests: 40, Set: map[string]string{
			"loss": "0.05", "reorder": "0.2", "dup": "0.1"}},
	} {
		t.Run(spec.Transport, func(t *testing.T) {
			var kept *eventlog.Kept
			r, err := execute(t, t.Context(), spec, Options{Record: 10_000, Recorded: func(k eventlog.Kept) { kept = &k }})
			if err != nil || r.Status != runs.OK || kept == nil {
				t.Fatalf("%v %+v", err, r)
			}
			if !strings.Contains(strings.Join(r.Warnings, "\n"), "the run was recorded") {
				t.Errorf("it is not said that the run was recorded: %v", r.Warnings)
			}
			job := resolve(t, spec)
			count := make(map[recording.What]uint64)
			sent := make(map[uint64]recording.Event)
			inside := 0
			logs := recording.Logs{Algorithm: job.Algorithm, Kept: *kept, Slack: 100 * time.Microsecond, FromFirst: true,
				Repeats: !job.Guarantees().Reliable}
			for e, err := range recording.Merge(logs) {
				if err != nil {
					t.Fatal(err)
				}
				if count[e.What]++; e.Copy {
					count[e.What]--
				}
				switch e.What {
				case recording.Send:
					sent[e.ID] = e
				case recording.Receive:
					if s := sent[e.ID]; s.Node != e.Peer || s.Peer != e.Node || s.Kind != e.Kind || s.Message != e.Message {
						t.Fatalf("%+v arrives as %+v", s, e)
					}
				case recording.Enter:
					if inside++; inside > 1 {
						t.Fatalf("%+v while another is inside", e)
					}
				case recording.Exit:
					inside--
				}
			}
			for what, want := range map[recording.What]uint64{
				recording.Request: r.Requests, recording.Enter: r.Entries, recording.Exit: r.Entries,
				recording.Send: r.Messages.Total, recording.Receive: r.Messages.Total,
			} {
				if count[what] != want {
					t.Errorf("%d times %s, want %d", count[what], what, want)
				}
			}
		})
	}
}

// A full log drops what comes later, and says so.
func TestEventsAreBounded(t *testing.T) {
	var kept eventlog.Kept
	spec := runs.Spec{Algorithm: "lamport", Nodes: 3, Transport: "tcp", Requests: 60}
	if _, err := execute(t, t.Context(), spec, Options{Record: 50, Recorded: func(k eventlog.Kept) { kept = k }}); err != nil {
		t.Fatal(err)
	}
	events := 0
	for _, err := range recording.Merge(recording.Logs{Algorithm: resolve(t, spec).Algorithm, Kept: kept}) {
		if events++; err != nil {
			t.Fatal(err)
		}
	}
	if kept.Dropped == 0 || events == 0 || events > 150 {
		t.Errorf("%d events kept, %d dropped", events, kept.Dropped)
	}
}

// desk is an algorithm for these tests: node 1 lets one node after the other in,
// and goes on when one of them is down. With deaf set it does not listen to that.
func desk(name string, deaf bool) *dme.Algorithm {
	return &dme.Algorithm{
		Name: name, Title: "a desk", Citation: "none: it is for tests", Class: dme.Permission, AsPublished: true,
		Needs:   dme.Always(dme.Needs{Reliable: true}),
		Kinds:   []string{"ASK", "GRANT", "DONE"},
		Prepare: func(dme.Config) (dme.System, error) { return deskSystem{deaf}, nil },
		Root:    1, HasToken: dme.OfNode((*deskNode).HasToken),
	}
}

const (
	ask dme.Kind = 1 + iota
	grant
	done
)

type deskSystem struct{ deaf bool }

func (s deskSystem) Node(id dme.NodeID) dme.Node { return &deskNode{id: id, deaf: s.deaf} }

type deskNode struct {
	id      dme.NodeID
	deaf    bool
	inside  dme.NodeID // at the desk: who is; elsewhere: this node, if it is
	waiting []dme.NodeID
	heard   []dme.NodeID // who was down and is up again
}

func (n *deskNode) Request(out *dme.Outbox) {
	if n.id == 1 {
		n.take(1, out)
		return
	}
	out.Send(1, dme.Message{Kind: ask})
}

func (n *deskNode) Release(out *dme.Outbox) {
	n.inside = 0
	if n.id == 1 {
		n.next(out)
		return
	}
	out.Send(1, dme.Message{Kind: done})
}

func (n *deskNode) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	switch m.Kind {
	case ask:
		n.take(from, out)
	case grant:
		n.inside = n.id
		out.Enter(dme.Stamp{})
	case done:
		n.inside = 0
		n.next(out)
	}
}

func (n *deskNode) take(id dme.NodeID, out *dme.Outbox) {
	n.waiting = append(n.waiting, id)
	if n.inside == 0 {
		n.next(out)
	}
}

func (n *deskNode) next(out *dme.Outbox) {
	if len(n.waiting) == 0 {
		return
	}
	n.inside, n.waiting = n.waiting[0], n.waiting[1:]
	if n.inside == 1 {
		out.Enter(dme.Stamp{})
		return
	}
	out.Send(n.inside, dme.Message{Kind: grant})
}

func (n *deskNode) Down(peer dme.NodeID, out *dme.Outbox) {
	if n.id != 1 || n.deaf {
		return
	}
	n.waiting = slices.DeleteFunc(n.waiting, func(id dme.NodeID) bool { return id == peer })
	if n.inside == peer {
		n.inside = 0
		n.next(out)
	}
}

func (n *deskNode) Up(peer dme.NodeID, _ *dme.Outbox) { n.heard = append(n.heard, peer) }
func (n *deskNode) Restart(*dme.Outbox)               {}
func (n *deskNode) Join(*dme.Outbox)                  {}
func (n *deskNode) Depart(out *dme.Outbox)            { out.Left() }
func (n *deskNode) HasToken() bool                    { return n.id != 1 && n.inside == n.id }

func (n *deskNode) State(v *dme.Visitor) {
	v.Node("inside", &n.inside)
	v.Nodes("waiting", &n.waiting)
	v.Nodes("heard", &n.heard)
}
