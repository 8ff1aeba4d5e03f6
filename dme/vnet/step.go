package vnet

import (
	"strconv"

	"dmebench/dme"
	"dmebench/internal/noderun"
)

// StepKind says what happens in a step.
type StepKind uint8

// The steps of a network.
const (
	Ask       StepKind = iota + 1 // the local process asks for the critical section
	AskShared                     // the same, as a reader
	Leave                         // the local process leaves the critical section
	Deliver                       // a message arrives
	Copy                          // a message arrives, and will arrive again
	Lose                          // a message is lost
	Fire                          // a timer fires
	Stop                          // the node is told that no more requests will come
	Crash                         // the node is gone, and has forgotten everything
	Restart                       // a node that crashed comes back
	Join                          // a node that was absent comes in
	Depart                        // the node is told to leave the system
	Down                          // the node hears that another is down
	Up                            // the node hears that another is up
)

var stepNames = [...]string{
	"start", "ask", "ask-shared", "leave", "deliver", "copy", "lose", "fire", "stop", "crash", "restart", "join", "depart", "down", "up",
}

func (k StepKind) String() string { return stepNames[k] }

// Step is one thing that can happen to a network. The zero Kind is the start of
// a node, or a message from outside; neither is ever enabled.
type Step struct {
	Kind  StepKind
	Timer dme.TimerID // which timer
	Node  dme.NodeID  // where it happens: the receiver of a message
	From  dme.NodeID  // its sender
	Index int         // which message between the two, in the order in which they were sent, from 0
}

// ofMessage reports whether the step is the fate of a message.
func (x Step) ofMessage() bool { return x.Kind == Deliver || x.Kind == Copy || x.Kind == Lose }

// ofLink reports whether something that a link holds arrives, or is lost.
func (x Step) ofLink() bool { return x.ofMessage() || x.Kind == Down || x.Kind == Up }

// String returns the step as a replay could be written: "ask 2", "deliver 2->1".
func (x Step) String() string {
	b := append([]byte(x.Kind.String()), ' ')
	if x.ofLink() {
		b = append(b, x.From.String()+"->"...)
	}
	b = append(b, x.Node.String()...)
	switch {
	case x.ofMessage() && x.Index > 0:
		b = strconv.AppendInt(append(b, " #"...), int64(x.Index), 10)
	case x.Kind == Fire:
		b = strconv.AppendInt(append(b, " timer "...), int64(x.Timer), 10)
	}
	return string(b)
}

// perform runs the handler that the step calls for; m is the message that
// arrives.
func (x Step) perform(h *noderun.Runner, m *dme.Message) {
	switch x.Kind {
	case Ask:
		h.Request()
	case AskShared:
		h.RequestShared()
	case Leave:
		h.Release()
	case Stop:
		h.Stop()
	case Crash:
		h.Crash()
	case Restart:
		h.Restart()
	case Join:
		h.Join()
	case Depart:
		h.Leave()
	case Down:
		h.PeerDown(x.From)
	case Up:
		h.PeerUp(x.From)
	case Fire:
		h.Timeout(x.Timer)
	case Deliver, Copy:
		if x.From == x.Node {
			h.Transmitted(m)
		} else {
			h.Receive(x.From, m)
		}
	default:
		h.Start()
	}
}
