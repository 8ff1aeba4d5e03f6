package raymond

import "dmebench/dme"

// InitializeMessages counts the INITIALIZE messages of a run, which belong to no entry.
var InitializeMessages = dme.Quantity{ID: "initialize-messages", Name: "INITIALIZE messages before all nodes know where the token is"}

// initClaim is about the beginning by messages, with these options.
func initClaim(set map[string]string) dme.Claim {
	return dme.Claim{
		Quantity: InitializeMessages, Formula: "N−1: one over each edge of the tree",
		Load: dme.Static, Kind: dme.Exact, Source: "textbook, section 9.12.6",
		Set:     set,
		Predict: func(s dme.Setting) (float64, bool) { return float64(s.Nodes - 1), toldByMessages(s) },
		Measure: initializeMessages,
	}
}

// toldByMessages reports whether nodes learn HOLDER by INITIALIZE messages.
func toldByMessages(s dme.Setting) bool {
	switch sys := s.System.(type) {
	case *system:
		return sys.told
	case robustSystem:
		return true
	}
	return false
}

// initializeMessages starts all nodes, delivers what they send until nothing is on its
// way, and counts it. It tells nothing of a beginning after which HOLDER is not known
// everywhere.
func initializeMessages(s dme.Setting) (count float64, ok bool) {
	type starter interface {
		dme.Node
		dme.Starter
		knowsHolder() bool
	}
	nodes := make([]starter, s.Nodes+1)
	type letter struct{ from, to dme.NodeID }
	var onTheWay []letter
	var out dme.Outbox
	sent := func(from dme.NodeID) {
		for _, e := range out.Effects() {
			if e.Kind == dme.EffectSend {
				onTheWay = append(onTheWay, letter{from, e.To})
			}
		}
		out.Reset()
	}
	for id := dme.NodeID(1); int(id) <= s.Nodes; id++ {
		if nodes[id], ok = s.System.Node(id).(starter); !ok {
			return 0, false
		}
		nodes[id].Start(&out)
		sent(id)
	}
	for ; len(onTheWay) > 0; count++ {
		l := onTheWay[0]
		onTheWay = onTheWay[1:]
		nodes[l.to].Receive(l.from, dme.Message{Kind: kindInitialize}, &out)
		sent(l.to)
	}
	for _, n := range nodes[1:] {
		if !n.knowsHolder() {
			return 0, false
		}
	}
	return count, true
}

// knowsHolder reports whether the node has been told in which direction the privilege is.
func (n *node) knowsHolder() bool { return n.holder != dme.None }

func (n *robust) knowsHolder() bool { return n.holder != dme.None }

// withoutInitialize restricts what is claimed of all messages to runs that begin without
// INITIALIZE: these belong to no entry, and the texts count none.
func withoutInitialize(claims []dme.Claim) []dme.Claim {
	for i, c := range claims {
		if c.Quantity == dme.MessagesPerCS {
			claims[i] = c.Where(func(s dme.Setting) bool { return !toldByMessages(s) })
		}
	}
	return claims
}
