package dme

import (
	"strings"
	"time"
)

// Quantity is what a claim speaks of. Quantities can be compared.
type Quantity struct {
	ID   string // as part of a claim's: "messages-per-cs"
	Name string // for a reader: "messages per CS"

	// Kind and Per are kinds of messages: where only those of one kind are
	// counted, and where they are counted per message of another kind and not per
	// entry.
	Kind, Per string
}

// The quantities that the papers make claims about. Times are in seconds,
// a synchronization delay is in units of T, throughput in entries per second.
var (
	MessagesPerCS      = Quantity{ID: "messages-per-cs", Name: "messages per CS"}
	TransmissionsPerCS = Quantity{ID: "transmissions-per-cs", Name: "transmissions per CS"}
	SyncDelay          = Quantity{ID: "sync-delay", Name: "synchronization delay / T"}
	ResponseTime       = Quantity{ID: "response-time", Name: "response time"}
	WaitingTime        = Quantity{ID: "waiting-time", Name: "waiting time"} // from when a request is due until the entry
	Throughput         = Quantity{ID: "throughput", Name: "throughput"}
	QuorumSize         = Quantity{ID: "quorum-size", Name: "quorum size"}
	QueueLength        = Quantity{ID: "queue-length", Name: "queue length"}
	MessageLength      = Quantity{ID: "message-length", Name: "message length"}

	// Bypass counts the entries by others between a request and its entry, and
	// BypassByOne those by one other node.
	Bypass      = Quantity{ID: "bypass", Name: "bypass"}
	BypassByOne = Quantity{ID: "bypass-by-one", Name: "bypass by one node"}

	EntryOrder = Quantity{ID: "entry-order", Name: "entries out of timestamp order"}
	LongestRun = Quantity{ID: "longest-run", Name: "entries in a row by one node"}

	// NumberRange is the largest number less the smallest.
	NumberRange = Quantity{ID: "number-range", Name: "range of the numbers of pending requests"}

	// ReadersInside counts the readers that are in the critical section together,
	// and ReadersBeforeWriter those that enter between a writer's request and its
	// entry.
	ReadersInside       = Quantity{ID: "readers-inside", Name: "readers inside together"}
	ReadersBeforeWriter = Quantity{ID: "readers-before-writer", Name: "readers that enter while a writer waits"}

	// WorkSpread is of the messages sent and received: the busiest node over the
	// mean.
	WorkSpread = Quantity{ID: "work-spread", Name: "work max/mean"}

	Violations = Quantity{ID: "violations", Name: "violations of mutual exclusion"}
	Unserved   = Quantity{ID: "unserved", Name: "requests that are not served"}
)

// KindPerCS is the number of messages of one kind per CS.
func KindPerCS(kind string) Quantity {
	return Quantity{ID: hyphenated(kind) + "-per-cs", Name: kind + " messages per CS", Kind: kind}
}

// KindPerKind is the number of messages of one kind per message of another.
func KindPerKind(kind, per string) Quantity {
	return Quantity{
		ID:   hyphenated(kind) + "-per-" + hyphenated(per),
		Name: kind + " messages per " + per + " message", Kind: kind, Per: per,
	}
}

// Timed reports whether the quantity is a time, or made of times.
func (q Quantity) Timed() bool {
	return q == SyncDelay || q == ResponseTime || q == WaitingTime || q == Throughput
}

// OfEntries reports whether the record of all entries tells the quantity, and no
// other key of a result does.
func (q Quantity) OfEntries() bool {
	return q == NumberRange || q == ReadersInside || q == ReadersBeforeWriter
}

func (q Quantity) String() string { return q.Name }

// MarshalText writes the quantity's name.
func (q Quantity) MarshalText() ([]byte, error) { return []byte(q.Name), nil }

// hyphenated writes words as part of an ID.
func hyphenated(words string) string { return strings.ReplaceAll(strings.ToLower(words), " ", "-") }

// Gauge measures a quantity that no message count and no time tells, from what
// happens at the nodes of a run in which all of them can be seen: a simulation,
// a schedule of the conformance suite. It is how an algorithm supplies the figure
// of which a [Claim] of its own speaks.
type Gauge struct {
	Quantity Quantity

	// Begin returns what follows a run of a system from its start; nil where that
	// cannot be done, or would take too much memory for so many nodes.
	Begin func(Setting) Meter
}

// Meter follows one run. It may read the nodes, and changes nothing in them.
type Meter interface {
	// Note is told of everything that happens at a node, in the order in which it
	// happens in the system: first what called a handler, then what the handler did.
	// The state of the node is the one in which the handler has left it.
	Note(Moment)
	// Value returns the quantity for the run until now; ok is false where there
	// was nothing to measure.
	Value() (value float64, ok bool)
}

// Occasion is what a [Moment] is about.
type Occasion uint8

// The occasions. OtherEvent is what has no name of its own: a start, a timer, news
// of other nodes.
const (
	OtherEvent     Occasion = iota
	HasAsked                // the local process has asked for the critical section
	HasAskedShared          // the same, as a reader
	HasEntered              // it has entered
	HasLeft                 // it has left
	HasReceived             // a message has been handled
	HasSent                 // a message has been sent, to one node; a broadcast is one to each
	HasCrashed              // the node is down from now on
	HasReturned             // the node is back, or has joined
)

// Moment is one thing that has happened at a node.
type Moment struct {
	What Occasion
	ID   NodeID
	At   time.Duration // since the nodes were started; 0 where there is no time
	Node Node          // in the state in which it left the node

	Peer NodeID // who has sent the message, or is to receive it
	Msg  Message

	// OnTheWay counts the messages that were sent and not handled once the handler was
	// through, whatever became of them on links that lose some.
	OnTheWay int
}

// Largest is a [Meter] of the largest of what of says of each moment, where it
// says something. No value is negative.
func Largest(of func(Moment) (value float64, ok bool)) Meter { return &largest{of: of} }

type largest struct {
	of    func(Moment) (float64, bool)
	value float64
	any   bool
}

func (l *largest) Note(x Moment) {
	if value, ok := l.of(x); ok {
		l.value, l.any = max(l.value, value), true
	}
}

func (l *largest) Value() (float64, bool) { return l.value, l.any }
