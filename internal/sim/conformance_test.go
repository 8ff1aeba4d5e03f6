package sim

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"dmebench/dme"
	"dmebench/runs"
)

// What the conformance suite of package transporttest asks of transports is
// asked of the simulated network here, where nodes and messages stand for
// transports and frames.

// ledger notes which messages arrived, by pair of nodes, in order.
type ledger struct {
	t     *testing.T
	heard map[[2]dme.NodeID][]uint64
}

func newLedger(t *testing.T) *ledger {
	return &ledger{t, make(map[[2]dme.NodeID][]uint64)}
}

// content is the vector of message number n of a pair: of up to 64 elements,
// and every thousandth message as long as a message may be.
func content(from, to dme.NodeID, n uint64) []uint64 {
	length := n * 7 % 65
	if n%1000 == 999 {
		length = dme.MaxVec
	}
	v := make([]uint64, length)
	for i := range v {
		v[i] = n<<32 ^ uint64(from)<<16 ^ uint64(to)<<8 ^ uint64(i)
	}
	return v
}

// receive checks what a message holds, and notes it.
func (l *ledger) receive(from, to, copyFor dme.NodeID, m *dme.Message) {
	if from == to {
		l.t.Errorf("node %d hears itself", to)
	}
	if !slices.Equal(m.Vec, content(from, copyFor, m.Num)) {
		l.t.Errorf("message %d from node %d to node %d is not what was sent", m.Num, from, to)
	}
	clear(m.Vec) // the receiver's own
	l.note(from, to, m.Num)
}

func (l *ledger) note(from, to dme.NodeID, n uint64) {
	pair := [2]dme.NodeID{from, to}
	l.heard[pair] = append(l.heard[pair], n)
}

// check wants messages 0…each−1 between every two nodes, each once and in order
// where that is promised.
func (l *ledger) check(nodes dme.NodeID, each int, inOrder bool) {
	l.t.Helper()
	overtaken := false
	for from := dme.NodeID(1); from <= nodes; from++ {
		for to := dme.NodeID(1); to <= nodes; to++ {
			if from == to {
				continue
			}
			got := l.heard[[2]dme.NodeID{from, to}]
			overtaken = overtaken || !slices.IsSorted(got)
			if inOrder && !slices.IsSorted(got) {
				l.t.Errorf("from node %d to node %d: out of order", from, to)
			}
			slices.Sort(got)
			for n, k := range got {
				if uint64(n) != k {
					l.t.Errorf("from node %d to node %d: message %d is lost or repeated", from, to, n)
					break
				}
			}
			if len(got) != each {
				l.t.Errorf("from node %d to node %d: %d messages, want %d", from, to, len(got), each)
			}
		}
	}
	if !inOrder && !overtaken {
		l.t.Error("no message has ever overtaken another, though nothing forbids it")
	}
}

// networks are the settings of the network under test, of which all are
// reliable.
func networks() (all []map[string]string) {
	for _, delay := range []string{"constant", "uniform", "exponential", "pareto:1.5"} {
		for _, fifo := range []string{"true", "false"} {
			for _, links := range []string{"none", "*-2:delay=exp:3ms,jitter=1ms", "1-*:bandwidth=1000000000"} {
				all = append(all, map[string]string{"delay": delay, "fifo": fifo, "links": links})
			}
		}
	}
	return all
}

func inOrder(set map[string]string) bool { return set["fifo"] == "true" || set["delay"] == "constant" }

// Every node floods every other one, with long messages among short ones.
func TestEveryMessageArrivesOnce(t *testing.T) {
	const nodes, each = 4, 1001
	for _, set := range networks() {
		t.Run(fmt.Sprint(set), func(t *testing.T) {
			l := newLedger(t)
			simulate(t, runs.Spec{Nodes: nodes, Requests: nodes, Set: set, AllowMismatch: true}, scripted(script{
				request: func(s *script, out *dme.Outbox) {
					out.Enter(dme.Stamp{})
					for n := range uint64(each) {
						for to := dme.NodeID(1); to <= nodes; to++ {
							switch long := n%1000 == 999; {
							case to == s.id:
							case long && (s.id != 1 || to != 2): // one of those is enough
								out.Send(to, dme.Message{Kind: 2, Num: n})
							default:
								out.Send(to, dme.Message{Kind: 1, Num: n, Vec: content(s.id, to, n)})
							}
						}
					}
				},
				receive: func(s *script, from dme.NodeID, m dme.Message, _ *dme.Outbox) {
					if m.Kind == 1 {
						l.receive(from, s.id, s.id, &m)
					} else {
						l.note(from, s.id, m.Num)
					}
				},
			}))
			l.check(nodes, each, inOrder(set))
		})
	}
}

func TestEveryBroadcastReachesAllOthersOnce(t *testing.T) {
	const nodes, each = 4, 300
	for _, set := range networks() {
		t.Run(fmt.Sprint(set), func(t *testing.T) {
			l := newLedger(t)
			r := simulate(t, runs.Spec{Nodes: nodes, Requests: nodes, Set: set, AllowMismatch: true}, scripted(script{
				request: func(s *script, out *dme.Outbox) {
					out.Enter(dme.Stamp{})
					for n := range uint64(each) {
						out.Broadcast(dme.Message{Kind: 1, Num: n, Vec: content(s.id, 0, n)})
					}
				},
				receive: func(s *script, from dme.NodeID, m dme.Message, _ *dme.Outbox) {
					l.receive(from, s.id, 0, &m)
				},
			}))
			l.check(nodes, each, inOrder(set))
			want := uint64(nodes * each)
			if set["links"] != "none" {
				want *= nodes - 1
			}
			if r.Messages.Total != nodes*each*(nodes-1) || r.Messages.Transmissions != want {
				t.Errorf("%d messages by %d transmissions, want %d", r.Messages.Total, r.Messages.Transmissions, want)
			}
		})
	}
}

// A node answers from its handler, as often as it is asked.
func TestRepliesFromHandlers(t *testing.T) {
	const trips = 500
	for _, set := range networks() {
		r := simulate(t, runs.Spec{Nodes: 2, Requests: 1, Set: set, AllowMismatch: true}, scripted(script{
			request: func(_ *script, out *dme.Outbox) { out.Send(2, dme.Message{Kind: 1}) },
			receive: func(s *script, from dme.NodeID, m dme.Message, out *dme.Outbox) {
				if s.n++; s.id == 1 && s.n == trips {
					out.Enter(dme.Stamp{})
					return
				}
				out.Send(from, m)
			},
		}))
		if r.Status != runs.OK || r.Messages.Total != 2*trips {
			t.Errorf("%v: status %s (%s), %d messages, want %d", set, r.Status, r.Error, r.Messages.Total, 2*trips)
		}
	}
}

func TestMisuse(t *testing.T) {
	for _, to := range []dme.NodeID{0, 1, 4} { // nobody, itself, and one node too many
		r := simulate(t, runs.Spec{Nodes: 3, Requests: 1}, scripted(script{
			request: func(_ *script, out *dme.Outbox) { out.Send(to, dme.Message{Kind: 1}) },
		}))
		if want := fmt.Sprintf("node 1 sends to node %d", to); r.Status != runs.Failed || !strings.Contains(r.Error, want) {
			t.Errorf("status %s (%s), want failed: %s", r.Status, r.Error, want)
		}
	}
}
