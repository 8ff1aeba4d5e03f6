package dme

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Class says by what right a node enters its critical section.
type Class string

// The classes of the survey in the textbook's section 9.1: permissions of all nodes, permissions of
// a quorum, possession of a token; and a lock service, whose servers are not nodes (package lock):
// it is measured, and neither searched nor simulated.
const (
	Permission Class = "permission"
	Quorum     Class = "quorum"
	Token      Class = "token"
	Service    Class = "service"
)

// Needs is what an algorithm needs of links; runs check it against what a transport guarantees.
type Needs struct {
	Reliable           bool `json:"reliable"`            // no loss, no duplication
	FIFO               bool `json:"fifo"`                // in order between each pair of nodes
	BoundedDelay       bool `json:"bounded_delay"`       // a message arrives within a known bound
	SequencedBroadcast bool `json:"sequenced_broadcast"` // all nodes receive all broadcasts in one order
}

// An Algorithm describes itself to everything that lists, checks, runs or judges it.
type Algorithm struct {
	Name     string // as on the command line
	Title    string // as in a plot's legend or a heading
	Citation string // author, title, source, section

	// Description is a paragraph: how it works, what it costs, when it is good.
	Description string

	Class   Class
	Dynamic bool // a node's receivers depend on what happened before

	// AsPublished marks the literal text of a paper, known to be wrong: a negative control.
	AsPublished bool

	// Needs depends on the options: numbering messages may replace order.
	Needs func(Options) Needs

	// Kinds names the message kinds 1, 2, … with the paper's words.
	Kinds []string

	Options []Option

	// Perpetual reports whether messages flow for ever with these options, even without requests;
	// nil if they never do.
	Perpetual func(Options) bool

	// Stepped holds the values that take the place of defaults under a workload
	// that proceeds in steps: each begins when the system has fallen silent,
	// which a perpetual one never does.
	Stepped map[string]string

	// Searched holds settings that searches and proofs try beside the defaults, unless
	// one of their options is set otherwise: those under which few nodes do what takes
	// many by default. They change nothing about the needs.
	Searched []map[string]string

	// ValidNodes says why the algorithm cannot run on n nodes; nil if any n ≥ 1 will do.
	ValidNodes func(n int, opt Options) error

	// Survives reports whether requests of the other nodes are served while these are down,
	// whatever they were doing when they crashed; nil if no crash is survived. An algorithm whose
	// nodes are Restarters without it serves all once every node is back.
	Survives func(s Setting, down []NodeID) bool

	// Fencing reports whether the stamps with which nodes enter serve as fencing tokens: the Clock
	// of each is larger than those of all entries that were granted before. A resource can
	// then refuse what comes late from a node that has lost its permission. nil: they are not.
	Fencing func(Options) bool

	// The functions that follow answer questions about a system and its nodes: for reports, for
	// faults that strike the holder of a token, for connections. Each is nil if there is nothing to
	// say; [OfNode] and [OfSystem] make them of methods.

	// HasToken reports whether a node has the token.
	HasToken func(Node) bool
	// Wanted reports of a node in its critical section whether it knows that others wait. An
	// algorithm that has it can be part of a composition, if it needs neither timers nor news of
	// failures.
	Wanted func(Node) bool
	// QueueLength is the length of the queue that a paper makes a claim about. It is read after
	// every event.
	QueueLength func(Node) int
	// Waits says what a node waits for, in the order of the peers: a requester for the
	// answers that it lacks, an arbiter for the release of its lock, a node of a tree for
	// the token that it has asked for.
	Waits func(Node) []Wait
	// RequestSet returns S_id, the nodes that id asks, in ascending order; id may be one of them.
	// nil if a system has no such sets.
	RequestSet func(s System, id NodeID) []NodeID
	// Peers returns the nodes that id may send to while no node has failed, in ascending
	// order, so that connections are made before they are needed. nil: to any.
	Peers func(s System, id NodeID) []NodeID
	// Place returns where a node lies, if the paper draws the nodes on a mesh: row, column
	// and plane, or as many coordinates as the mesh has dimensions, from 0.
	Place func(s System, id NodeID) []int
	// Remarks on what a system was prepared from, such as a file, become warnings of results.
	Remarks func(System) []string
	// Root is the node that all depend on at the start: a root, a coordinator; None without one.
	Root NodeID

	// Clocks shows the visitor the clocks in a message, of a system of n nodes, by
	// [Visitor.ClockOf] and its like; [ClockInMessages] will do for most. Setting
	// it says that the clocks that the nodes show are clocks in the sense of
	// [Visitor.Clock] too. nil: nothing is known about what the algorithm does with
	// its numbers.
	Clocks func(n int, from NodeID, m *Message, v *Visitor)

	// Claims are what its paper says of its cost and its safety: a list of package
	// dme/claim. An algorithm of one's own may have none.
	Claims Claims

	// Invariants hold in every state of a system; searches check them.
	Invariants []Invariant
	// Gauges measure quantities of claims that neither results nor the construction have.
	Gauges []Gauge

	// Prepare computes what all nodes of a system share, once.
	Prepare func(Config) (System, error)
}

// Claims are what papers say of an algorithm, as far as its description needs it.
type Claims interface {
	// Check reports every fault of the claims, and every gauge of a that no claim refers to.
	Check(a *Algorithm) error
}

// Always is Needs for an algorithm whose needs do not depend on its options.
func Always(n Needs) func(Options) Needs { return func(Options) Needs { return n } }

// KindName returns the name of kind k, or "kind k" if the algorithm names none.
func (a *Algorithm) KindName(k Kind) string {
	if k >= 1 && int(k) <= len(a.Kinds) {
		return a.Kinds[k-1]
	}
	return fmt.Sprintf("kind %d", k)
}

// Endless is [Algorithm.Perpetual], false without.
func (a *Algorithm) Endless(o Options) bool { return a.Perpetual != nil && a.Perpetual(o) }

// Fences is [Algorithm.Fencing], false without.
func (a *Algorithm) Fences(o Options) bool { return a.Fencing != nil && a.Fencing(o) }

// Config is what a system is prepared from.
type Config struct {
	Nodes   int
	Seed    uint64  // the only source of randomness
	Options Options // resolved by [Algorithm.Resolve]

	// Bound is the longest time that a message can take; 0 if it is not known.
	Bound time.Duration

	// Absent are the nodes that are no part of the system at the start and join
	// it later, in ascending order. Only algorithms whose nodes are Members are
	// given some.
	Absent []NodeID

	// ReadFile reads a file that an option names. It is nil if no option can name one.
	ReadFile func(name string) ([]byte, error)
}

// System is what the nodes of a run share, such as quorums: immutable, for any goroutine.
type System interface {
	// Node returns node id in its initial state. It is cheap.
	Node(id NodeID) Node
}

// Setting is a system and what it runs under, for claims, gauges and invariants.
type Setting struct {
	Algorithm *Algorithm
	Nodes     int
	Options   Options
	System    System // as prepared for Nodes and Options

	T time.Duration // mean one-way delay of a message, if it is known
	E time.Duration // mean duration of a critical section, if it is known

	Rate float64 // requests per second of all nodes together; 0 if the load is not open

	// Variability is the squared coefficient of variation of the duration of a critical section: 0
	// if it is constant, 1 if it is exponential.
	Variability float64
}

// RequestSet returns the nodes that id asks; nil if the system has no request sets.
func (s Setting) RequestSet(id NodeID) []NodeID {
	if s.Algorithm == nil || s.Algorithm.RequestSet == nil {
		return nil
	}
	return s.Algorithm.RequestSet(s.System, id)
}

// Unshared is Prepare for an algorithm whose nodes share nothing but how many they are.
func Unshared(node func(n int, id NodeID) Node) func(Config) (System, error) {
	return func(c Config) (System, error) { return unshared{n: c.Nodes, node: node}, nil }
}

type unshared struct {
	n    int
	node func(n int, id NodeID) Node
}

func (s unshared) Node(id NodeID) Node { return s.node(s.n, id) }

// OfNode turns a method of an algorithm's nodes into a function of any Node, such as
// [Algorithm.Waits]. Of a node without the method it returns zero. N may be an
// interface, for an algorithm with nodes of several types.
func OfNode[N, R any](f func(N) R) func(Node) R {
	return func(n Node) (none R) {
		x, ok := n.(N)
		if !ok {
			x, ok = Unwrap(n).(N)
		}
		if !ok {
			return none
		}
		return f(x)
	}
}

// OfSystem does for methods of an algorithm's systems what [OfNode] does for those of its nodes.
func OfSystem[S, R any](f func(S, NodeID) R) func(System, NodeID) R {
	return func(s System, id NodeID) (none R) {
		if x, ok := s.(S); ok {
			return f(x, id)
		}
		return none
	}
}

// Unwrap returns the node inside a wrapper, which has a method Unwrap, else the node itself.
func Unwrap(n Node) Node {
	if w, ok := n.(interface{ Unwrap() Node }); ok {
		return w.Unwrap()
	}
	return n
}

// New prepares a system after checking n and set, the options that differ from their defaults.
func (a *Algorithm) New(n int, seed uint64, set map[string]string) (System, error) {
	opt, err := a.Resolve(set)
	if err != nil {
		return nil, err
	}
	if err := a.CheckNodes(n, opt); err != nil {
		return nil, err
	}
	return a.Prepare(Config{Nodes: n, Seed: seed, Options: opt})
}

// CheckNodes reports why the algorithm cannot run on n nodes.
func (a *Algorithm) CheckNodes(n int, opt Options) error {
	if n < 1 {
		return fmt.Errorf("%s: %d nodes; there must be at least 1", a.Name, n)
	}
	if a.ValidNodes != nil {
		if err := a.ValidNodes(n, opt); err != nil {
			return fmt.Errorf("%s: %w", a.Name, err)
		}
	}
	return nil
}

// Check reports every fault of the description itself; a test runs it over the catalog.
func (a *Algorithm) Check() error {
	var errs []error
	fault := func(ok bool, what string) {
		if !ok {
			errs = append(errs, fmt.Errorf("algorithm %q: %s", a.Name, what))
		}
	}
	fault(a.Name != "", "no name")
	fault(a.Title != "", "no title")
	fault(a.Citation != "", "no citation")
	fault(slices.Contains([]Class{Permission, Quorum, Token, Service}, a.Class), "no class")
	fault(a.Needs != nil, "no needs")
	fault(a.Prepare != nil, "no Prepare")
	fault(len(a.Kinds) >= 1 && len(a.Kinds) <= MaxKinds, "wants 1 to 15 message kinds")
	for i, name := range a.Kinds {
		fault(name != "" && !slices.Contains(a.Kinds[:i], name), "a message kind without a name of its own")
	}
	for i, o := range a.Options {
		fault(!slices.ContainsFunc(a.Options[:i], func(p Option) bool { return p.Name == o.Name }), "option "+o.Name+" twice")
		fault(o.Name != "" && o.Values() != "" && o.Help != "", "an option without name, values or help")
		for _, value := range append(o.Examples(), o.Default) {
			fault(o.Accepts(value) == nil, fmt.Sprintf("option %s: %q is not one of its values", o.Name, value))
		}
	}
	if _, err := ResolveOptions(a.Options, a.Stepped); err != nil {
		errs = append(errs, fmt.Errorf("algorithm %q: for stepped workloads: %w", a.Name, err))
	}
	for _, set := range a.Searched {
		if _, err := ResolveOptions(a.Options, set); err != nil {
			errs = append(errs, fmt.Errorf("algorithm %q: for searches: %w", a.Name, err))
		}
	}
	if a.Claims != nil {
		if err := a.Claims.Check(a); err != nil {
			errs = append(errs, err)
		}
	}
	for k := range a.Invariants {
		i := &a.Invariants[k]
		if err := i.check(); err != nil {
			errs = append(errs, fmt.Errorf("algorithm %q: %w", a.Name, err))
		}
		fault(!slices.ContainsFunc(a.Invariants[:k], func(j Invariant) bool { return j.Name == i.Name }), "invariant "+i.Name+" twice")
	}
	for i, g := range a.Gauges {
		fault(g.Quantity != "", "a gauge of nothing")
		fault(a.Claims != nil, "a gauge of "+g.Quantity+", of which no claim speaks")
		fault(!slices.ContainsFunc(a.Gauges[:i], func(h Gauge) bool { return h.Quantity == g.Quantity }), "two gauges of "+g.Quantity)
		fault(g.Begin != nil, "a gauge of "+g.Quantity+" without Begin")
	}
	return errors.Join(errs...)
}
