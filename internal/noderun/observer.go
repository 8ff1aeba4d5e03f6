package noderun

import (
	"time"

	"dmebench/dme"
)

// Observer is told what happens at a node, in order: first what calls a handler,
// such as a message that arrives, then what the handler did. It is called within
// the event, so it must not block; what Msg points to is valid during the call.
type Observer interface {
	Observe(id dme.NodeID, h Happening)
}

// What says what happens.
type What uint8

// What calls a handler comes first, then what handlers do.
const (
	Starts     What = iota + 1 // the node begins
	Asks                       // the local process asks for the critical section
	AsksShared                 // the same, as a reader
	Exits                      // the local process leaves the critical section
	Receives                   // a message arrives
	Hears                      // its own broadcast takes its place among all
	Fires                      // a timer fires
	Stops                      // the node is told that no more requests will come
	Crashes                    // the node is gone, or not there yet
	Restarts                   // it is back
	Joins                      // it comes in
	Departs                    // it is told to leave the system
	PeerDown                   // it hears that another is down
	PeerUp                     // it hears that another is up

	Sends     // a message to one node; a broadcast is one to each
	Enters    // the node enters the critical section
	SetsTimer // a timer is set
	Refuses   // a message is refused
	Gone      // the node has left the system
)

// Happening is something that happens at a node. The fields are set that What
// needs.
type Happening struct {
	What   What
	Peer   dme.NodeID // the sender or the receiver of a message; who is down or up
	Msg    *dme.Message
	Stamp  dme.Stamp // of the request that is granted
	Timer  dme.TimerID
	Delay  time.Duration
	Reason string // of a refusal
}

// Tell has o told what happens at the node from now on.
func (h *Runner) Tell(o Observer) { h.observer = o }

func (h *Runner) observe(x Happening) {
	if h.observer != nil {
		h.observer.Observe(h.id, x)
	}
}

func (h *Runner) observeBroadcast(m *dme.Message) {
	for to := dme.NodeID(1); int(to) <= h.nodes; to++ {
		if to != h.id {
			h.observer.Observe(h.id, Happening{What: Sends, Peer: to, Msg: m})
		}
	}
}
