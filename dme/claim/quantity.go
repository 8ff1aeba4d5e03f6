package claim

import "strings"

// Quantity is what a claim speaks of. Quantities can be compared.
type Quantity struct {
	ID   string // as part of a claim's: "messages-per-cs"
	Name string // for a reader: "messages per CS"

	// Kind and Per are kinds of messages: if only those of one kind are counted, and if they are
	// counted per message of another kind and not per entry.
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
