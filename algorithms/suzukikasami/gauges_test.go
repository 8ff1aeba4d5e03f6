package suzukikasami

import (
	"testing"

	"dmebench/dme"
)

// Entries of others count from when a request is in the token's queue, or the token is
// sent for it, until its own entry.
func TestAheadInQueue(t *testing.T) {
	const n = 3
	m := newAhead(dme.Setting{Nodes: n})
	wants := func(value float64, ok bool) {
		t.Helper()
		if got, told := m.Value(); told != ok || ok && got != value {
			t.Errorf("%v, %v; want %v, %v", got, told, value, ok)
		}
	}
	enter := func(id dme.NodeID) { m.Note(dme.Moment{What: dme.HasEntered, ID: id}) }
	send := func(to dme.NodeID, ln [n]uint64, queue ...uint64) {
		m.Note(dme.Moment{What: dme.HasSent, Peer: to, Msg: dme.Message{Kind: kindToken, Vec: append(ln[:], queue...)}})
	}
	enter(1) // it has had the token from the start
	wants(0, false)
	send(2, [n]uint64{1, 0, 1}) // site 1 has been served, and is in no queue
	enter(2)
	wants(0, true)
	send(1, [n]uint64{1, 1, 1})
	enter(1)
	wants(0, true)
	send(2, [n]uint64{2, 1, 1}, 3, 1)
	enter(2)
	send(3, [n]uint64{2, 2, 1}, 1)
	enter(3)
	wants(1, true)
	send(1, [n]uint64{2, 2, 2})
	enter(1)
	wants(2, true)
	m.Note(dme.Moment{What: dme.HasSent, Peer: 3, Msg: dme.Message{Kind: kindRequest}})
	enter(2)
	enter(2)
	enter(2)
	enter(3) // of no token is known
	wants(2, true)
}
