package sim

import (
	"fmt"
	"slices"
	"testing"

	"dmebench/dme"
	"dmebench/internal/testkit/toys"
	"dmebench/runs"
)

// What the conformance suite of package transporttest asks of transports is
// asked of the simulated network here, where nodes and messages stand for
// transports and frames.

// content is the vector of message number n of a pair: of up to 64 elements, and
// of one pair every thousandth as long as a message may be.
func content(from, to dme.NodeID, n uint64) []uint64 {
	length := n * 7 % 65
	if n%1000 == 999 && from == 1 && to == 2 {
		length = dme.MaxVec
	}
	v := make([]uint64, length)
	for i := range v {
		v[i] = n<<32 ^ uint64(from)<<16 ^ uint64(to)<<8 ^ uint64(i)
	}
	return v
}

// Every node floods all others, with messages to each or with broadcasts, on networks all
// of which are reliable: every message arrives once, as it was sent, and in order where that
// is promised.
func TestEveryMessageArrivesOnce(t *testing.T) {
	for _, delay := range []string{"constant", "uniform", "exponential", "pareto:1.5"} {
		for _, fifo := range []string{"true", "false"} {
			for _, links := range []string{"none", "*-2:delay=exp:3ms,jitter=1ms", "1-*:bandwidth=1000000000"} {
				set := map[string]string{"delay": delay, "fifo": fifo, "links": links}
				for _, broadcast := range []bool{false, true} {
					t.Run(fmt.Sprint(set, broadcast), func(t *testing.T) {
						flood(t, set, broadcast, fifo == "true" || delay == "constant")
					})
				}
			}
		}
	}
}

func flood(t *testing.T, set map[string]string, broadcast, inOrder bool) {
	const nodes, each = 4, 1001
	heard := make(map[[2]dme.NodeID][]uint64) // by pair of nodes
	r := simulate(t, runs.Spec{Nodes: nodes, Requests: nodes, Set: set, AllowMismatch: true}, scripted(toys.Script{
		Ask: func(s *toys.Script, out *dme.Outbox) {
			out.Enter(dme.Stamp{})
			for n := range uint64(each) {
				if broadcast {
					out.Broadcast(dme.Message{Kind: 1, Num: n, Vec: content(s.ID, 0, n)})
					continue
				}
				for to := range dme.Others(nodes, s.ID) {
					out.Send(to, dme.Message{Kind: 1, Num: n, Vec: content(s.ID, to, n)})
				}
			}
		},
		Hear: func(s *toys.Script, from dme.NodeID, m dme.Message, _ *dme.Outbox) {
			to := s.ID
			if broadcast {
				to = 0
			}
			if !slices.Equal(m.Vec, content(from, to, m.Num)) {
				t.Errorf("message %d from node %d to node %d is not what was sent", m.Num, from, s.ID)
			}
			clear(m.Vec) // the receiver's own
			pair := [2]dme.NodeID{from, s.ID}
			heard[pair] = append(heard[pair], m.Num)
		},
	}))
	if len(heard) != nodes*(nodes-1) {
		t.Errorf("%d pairs of nodes hear of each other", len(heard))
	}
	overtaken := false
	for from := dme.NodeID(1); from <= nodes; from++ {
		for to := range dme.Others(nodes, from) {
			got := heard[[2]dme.NodeID{from, to}]
			overtaken = overtaken || !slices.IsSorted(got)
			slices.Sort(got)
			if len(got) != each || len(slices.Compact(got)) != each || got[each-1] != each-1 {
				t.Errorf("from node %d to node %d: messages are lost or repeated: %d of %d", from, to, len(got), each)
			}
		}
	}
	if overtaken == inOrder {
		t.Errorf("a message has overtaken another: %v", overtaken)
	}
	want := uint64(nodes * each)
	if !broadcast || set["links"] != "none" {
		want *= nodes - 1
	}
	if r.Messages.Total != nodes*each*(nodes-1) || r.Messages.Transmissions != want {
		t.Errorf("%d messages by %d transmissions, want %d", r.Messages.Total, r.Messages.Transmissions, want)
	}
}
