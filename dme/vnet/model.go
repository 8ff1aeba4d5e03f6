package vnet

import (
	"time"

	"dmebench/dme"
)

// Config says what network of which nodes there is.
type Config struct {
	Algorithm *dme.Algorithm
	Nodes     int
	Options   dme.Options // resolved, and checked for so many nodes
	Seed      uint64
	ReadFile  func(name string) ([]byte, error)

	Unordered bool // links need not keep order
	Duplicate bool // any message may arrive twice
	Lose      int  // as many messages may be lost
	Sequenced bool // all nodes hear all broadcasts in one order
	Bounded   bool // timers wait for messages that must have arrived before they fire

	Crashes    int          // as many nodes may crash
	Restarts   bool         // a node that crashed may come back, where it knows how
	Departures int          // as many nodes may leave in an orderly way, where they know how
	Absent     []dme.NodeID // are no part of the system at the start, and may join
	Faults     bool         // the caller says who crashes, comes back, joins and leaves

	// Requests returns how many requests a node may make; nil: any number.
	Requests func(id dme.NodeID) int
	// StopEarly tells a node that no more requests will come as soon as it has
	// made its own; else all nodes are told when everybody has been served.
	StopEarly bool
	// Bypass bounds the entries by others between a request and its entry; 0:
	// any number.
	Bypass int

	// Watch says which of the algorithm's invariants every step is judged by.
	Watch Watch
	// WatchEvery judges by them after every so many steps of a network only; up to
	// 1: after every step. A [Walker] judges every state that it is asked about.
	WatchEvery int

	// Recover makes a node's panic a violation; else it is the caller's.
	Recover bool
	// Carry returns what arrives of a message that is sent, if it is set.
	Carry func(from, to dme.NodeID, m *dme.Message) dme.Message
}

// Model is what all states of a network have in common. It is immutable.
type Model struct {
	Config
	System dme.System // whose nodes there are: what the algorithm prepared, or stands in for it

	prepared dme.System

	// Invariants are those by which every state is judged; none where there is
	// nothing to judge by.
	Invariants []dme.Invariant

	Shares  bool // nodes distinguish readers
	Stops   bool // nodes have a Stop
	Endless bool // messages flow although nobody asks, until the nodes are stopped

	faulty, restarts, joins, leaves bool // nodes may come and go; nodes know how

	bound time.Duration // on the delay of a message; 0: the algorithm does not say
}

// NewModel prepares the system that the nodes share.
func NewModel(c Config) (*Model, error) {
	m := &Model{Config: c, bound: boundOf(c.Options)}
	var err error
	m.System, err = c.Algorithm.Prepare(dme.Config{
		Nodes: c.Nodes, Seed: c.Seed, Options: c.Options, Bound: m.bound, Absent: c.Absent, ReadFile: c.ReadFile,
	})
	if err != nil {
		return nil, err
	}
	m.prepared = m.System
	first := m.System.Node(1)
	_, m.Shares = first.(dme.SharedRequester)
	_, m.Stops = first.(dme.Stopper)
	if err := m.prepareFaults(first); err != nil {
		return nil, err
	}
	m.Invariants = m.watched()
	m.Endless = c.Algorithm.Perpetual != nil && c.Algorithm.Perpetual(c.Options)
	return m, nil
}

// WithSeed returns the same model with another seed.
func (m *Model) WithSeed(seed uint64) (*Model, error) {
	if seed == m.Seed {
		return m, nil
	}
	c := m.Config
	c.Seed = seed
	return NewModel(c)
}

// unknownBound is what an algorithm is told that asks for a bound on delays and
// has been given none. Delays have no length here: it is a unit for timers.
const unknownBound = time.Second

// boundOf returns the bound on delays that the algorithm sets its timers by, 0
// where it has no such option.
func boundOf(opt dme.Options) time.Duration {
	value, ok := opt["bound"]
	if !ok {
		return 0
	}
	if d, err := time.ParseDuration(value); err == nil {
		return d
	}
	return unknownBound
}

// IDs yields the nodes in ascending order.
func (m *Model) IDs() func(func(dme.NodeID) bool) {
	return func(yield func(dme.NodeID) bool) {
		for id := dme.NodeID(1); int(id) <= m.Nodes; id++ {
			if !yield(id) {
				return
			}
		}
	}
}

// link numbers the link between two nodes, from 0.
func (m *Model) link(from, to dme.NodeID) int { return int(from-1)*m.Nodes + int(to-1) }
