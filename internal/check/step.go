package check

import (
	"strconv"

	"dmebench/dme"
)

// StepKind says what happens in a step.
type StepKind uint8

// The steps of a schedule.
const (
	Ask       StepKind = iota + 1 // the local process asks for the critical section
	AskShared                     // the same, as a reader
	Leave                         // the local process leaves the critical section
	Deliver                       // a message arrives
	Copy                          // a message arrives, and will arrive again
	Lose                          // a message is lost
	Fire                          // a timer fires
	Stop                          // the node is told that no more requests will come
)

var stepNames = [...]string{"", "ask", "ask-shared", "leave", "deliver", "copy", "lose", "fire", "stop"}

func (k StepKind) String() string { return stepNames[k] }

// Step is one step of a schedule.
type Step struct {
	Kind  StepKind
	Node  dme.NodeID  // where it happens: the receiver of a message
	From  dme.NodeID  // its sender
	Index int         // which message between the two, in the order in which they were sent, from 0
	Timer dme.TimerID // which timer
}

// String returns the step as a replay could be written: "ask 2", "deliver 2->1".
func (s Step) String() string {
	b := append([]byte(s.Kind.String()), ' ')
	switch s.Kind {
	case Deliver, Copy, Lose:
		b = append(b, s.From.String()...)
		b = append(b, "->"...)
		b = append(b, s.Node.String()...)
		if s.Index > 0 {
			b = append(b, " #"...)
			b = strconv.AppendInt(b, int64(s.Index), 10)
		}
	case Fire:
		b = append(b, s.Node.String()...)
		b = append(b, " timer "...)
		b = strconv.AppendInt(b, int64(s.Timer), 10)
	default:
		b = append(b, s.Node.String()...)
	}
	return string(b)
}
