package dme

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
)

// Invariant is a property of a whole system that holds in every state between
// two events: of what the nodes know, and of the messages that are on their way.
// The searches check it in each state that they meet, beside mutual exclusion;
// a state in which it does not hold is a violation of the property Name.
//
// It is often broken long before two nodes are in the critical section, and it
// says which step of an algorithm's proof fails.
type Invariant struct {
	Name     string // in two or three words, as a report has them: "one token"
	Citation string // where it stands or, if it follows, from what: "textbook, section 9.11"

	// Statement says in a sentence what holds.
	Statement string

	// Holds returns nil if the invariant holds and else what is wrong, with the nodes that it
	// concerns: see [Broken]. It only reads, keeps nothing that it has been given, and is a
	// function of the state: several goroutines may call it at once, each with a view of its own.
	Holds func(v GlobalView) error

	// Pair takes the place of Holds if the invariant is about each two nodes: it is asked of every
	// ordered pair of nodes that are up, and of each with itself, and looks at nothing but these
	// two, a and b, and the messages between them; see [EachPair]. That makes it cheap: after a
	// step only the pairs are looked at of which one node took it.
	Pair func(v GlobalView, i, j NodeID, a, b Node) error

	// Faults says that it also holds after nodes have crashed, come back, joined
	// or left. An invariant without it is checked up to the first of these.
	//
	// On links that are worse than the algorithm needs no invariant is checked:
	// what a proof assumes is not given there.
	Faults bool

	// Fencing says that the invariant stands in for mutual exclusion: if it is checked, and the
	// algorithm has fencing tokens, two nodes may be inside, but not with one token.
	Fencing bool

	// If restricts the invariant to some of the algorithm's options; nil: it holds with any.
	If func(Options) bool
}

// GlobalView is one state of a whole system, as an [Invariant] sees it. The values that it
// returns are valid until Holds returns, and are not to be changed. Only this
// module implements it; methods may be added.
type GlobalView interface {
	// Setting returns the number of nodes, the options, and the System that the
	// algorithm has prepared.
	Setting() Setting
	// Node returns a node as the algorithm made it, for an assertion of its type;
	// nil while it is down, see [NodesOf].
	Node(id NodeID) Node
	// Activity says where the local process of a node stands.
	Activity(id NodeID) Activity
	// Reads reports whether what the local process asks for, or is in, is a reader's.
	Reads(id NodeID) bool
	// InFlight returns all messages that are on their way, in no particular order.
	InFlight() []Flight
	// Between returns the messages on their way from one node to another, in the order in which
	// they were sent if links keep order.
	Between(from, to NodeID) []*Message
}

// Flight is a message on its way.
type Flight struct {
	From, To NodeID
	*Message
}

// NodesOf yields the nodes that are up and of a type.
func NodesOf[T Node](v GlobalView) iter.Seq2[NodeID, T] {
	return func(yield func(NodeID, T) bool) {
		nodes := v.Setting().Nodes
		for id := NodeID(1); int(id) <= nodes; id++ {
			if n, ok := v.Node(id).(T); ok && !yield(id, n) {
				return
			}
		}
	}
}

// NodeOf returns a node that is up and of a type, else the zero value.
func NodeOf[T Node](v GlobalView, id NodeID) T {
	n, _ := v.Node(id).(T)
	return n
}

// EachPair is [Invariant.Pair] for nodes of the algorithm's own type. Pairs with a node of another
// type are left out.
func EachPair[T Node](holds func(v GlobalView, i, j NodeID, a, b T) error) func(v GlobalView, i, j NodeID, a, b Node) error {
	return func(v GlobalView, i, j NodeID, a, b Node) error {
		x, isX := a.(T)
		y, isY := b.(T)
		if !isX || !isY {
			return nil
		}
		return holds(v, i, j, x, y)
	}
}

// PairInvariant returns an invariant about each two nodes of a type.
func PairInvariant[T Node](name, citation, statement string, holds func(v GlobalView, i, j NodeID, a, b T) error) Invariant {
	return Invariant{Name: name, Citation: citation, Statement: statement, Pair: EachPair(holds)}
}

// StateInvariant returns an invariant about all nodes together.
func StateInvariant(name, citation, statement string, holds func(GlobalView) error) Invariant {
	return Invariant{Name: name, Citation: citation, Statement: statement, Holds: holds}
}

// Between returns how many messages of a kind are on their way from one node to another.
func Between(v GlobalView, kind Kind, from, to NodeID) (messages int) {
	for _, m := range v.Between(from, to) {
		if m.Kind == kind {
			messages++
		}
	}
	return messages
}

// Count returns how many of these hold.
func Count(conditions ...bool) (holding int) {
	for _, holds := range conditions {
		if holds {
			holding++
		}
	}
	return holding
}

// Broken returns the error of an invariant: what is wrong, and which nodes it concerns.
func Broken(nodes []NodeID, format string, args ...any) error {
	nodes = slices.Clone(nodes)
	slices.Sort(nodes)
	return &broken{slices.Compact(nodes), fmt.Sprintf(format, args...)}
}

type broken struct {
	nodes []NodeID
	text  string
}

func (b *broken) Error() string { return b.text }

// Concerned returns the nodes that an invariant's error names, in ascending order.
func Concerned(err error) []NodeID {
	if b := (*broken)(nil); errors.As(err, &b) {
		return b.nodes
	}
	return nil
}

func (i *Invariant) check() error {
	if i.Name == "" || i.Citation == "" || i.Statement == "" || (i.Holds == nil) == (i.Pair == nil) {
		return fmt.Errorf("invariant %q: wants a name, a citation, a statement, and one function: Holds or Pair", i.Name)
	}
	return nil
}

// OneToken is the invariant that there is exactly one token: at a node for which
// [Algorithm.HasToken] reports true, or in a message for which carries does.
func OneToken(citation string, carries func(*Message) bool) Invariant {
	return Invariant{
		Name: "one token", Citation: citation,
		Statement: "exactly one token exists, at a node or on its way",
		Holds: func(v GlobalView) error {
			// A loop that allocates nothing: this runs in every state of a search.
			setting, tokens := v.Setting(), 0
			for id := NodeID(1); int(id) <= setting.Nodes; id++ {
				if n := v.Node(id); n != nil && setting.Algorithm.HasToken(n) {
					tokens++
				}
			}
			for _, f := range v.InFlight() {
				if carries(f.Message) {
					tokens++
				}
			}
			if tokens == 1 {
				return nil
			}
			return tokensAre(v, carries)
		},
	}
}

// tokensAre says where the tokens are that are too many or too few.
func tokensAre(v GlobalView, carries func(*Message) bool) error {
	var nodes []NodeID
	var where []string
	for id, n := range NodesOf[Node](v) {
		if v.Setting().Algorithm.HasToken(n) {
			nodes, where = append(nodes, id), append(where, fmt.Sprintf("at node %d", id))
		}
	}
	for _, f := range v.InFlight() {
		if carries(f.Message) {
			nodes, where = append(nodes, f.To), append(where, fmt.Sprintf("on its way from node %d to node %d", f.From, f.To))
		}
	}
	if len(where) == 0 {
		return Broken(nil, "no node has the token, and no message carries it")
	}
	return Broken(nodes, "there are %d tokens: %s", len(where), strings.Join(where, ", "))
}

// OfKind returns a function that reports whether a message is of the kind.
func OfKind(kind Kind) func(*Message) bool { return func(m *Message) bool { return m.Kind == kind } }
