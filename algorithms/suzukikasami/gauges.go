package suzukikasami

import "dmebench/dme"

// AheadInQueue counts the entries of others from when a request is in the token's
// queue until its own.
var AheadInQueue = dme.Quantity{ID: "ahead-in-queue", Name: "entries by others while a request is in the token's queue"}

// ahead follows the requests in the token's queue.
type ahead struct {
	since   []int // by site, from 1: entries of all when its request came into the queue; −1: it is not there
	entries int
	most    int
	any     bool
}

func newAhead(s dme.Setting) dme.Meter {
	m := &ahead{since: make([]int, s.Nodes+1)}
	for i := range m.since {
		m.since[i] = -1
	}
	return m
}

func (m *ahead) Note(x dme.Moment) {
	switch {
	case x.What == dme.HasEntered:
		if before := m.since[x.ID]; before >= 0 {
			m.most, m.any = max(m.most, m.entries-before), true
			m.since[x.ID] = -1
		}
		m.entries++
	case x.What == dme.HasSent && x.Msg.Kind == kindToken && len(x.Msg.Vec) >= len(m.since)-1:
		// The queue as it leaves a site, and before it the site that gets the token.
		m.found(uint64(x.Peer))
		for _, j := range token(x.Msg.Vec).queue(len(m.since) - 1) {
			m.found(j)
		}
	}
}

func (m *ahead) found(j uint64) {
	if m.since[j] < 0 {
		m.since[j] = m.entries
	}
}

func (m *ahead) Value() (float64, bool) { return float64(m.most), m.any }
