package ricartagrawala

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"dmebench/dme"
	"dmebench/dme/collections"
)

// robustSystem is what all nodes of section 7 know from the start.
type robustSystem struct {
	nodes   int
	names   []dme.NodeID  // NAMES of 7.1: by node, from 1
	absent  []dme.NodeID  // no part of the group at the start
	bound   time.Duration // on the delay of a message
	csBound time.Duration // an estimate of the time in a critical section

	broadcasts bool   // how a newcomer is inserted
	way        string // of 7.2.3
	wrap       func(*robustNode) dme.Node
}

func robustOptions() []dme.Option {
	return []dme.Option{
		{
			Name: "bound", Default: "auto", Words: []string{"auto"}, Forms: []string{"DURATION"}, Valid: validBound,
			Help: "longest time that a message can take, handling included: you vouch for it; " +
				"auto is 2T in a simulation, and nothing elsewhere",
		},
		{
			Name: "cs-bound", Default: "auto", Words: []string{"auto"}, Forms: []string{"DURATION"}, Valid: validBound,
			Help: "estimate of the longest time in a critical section (section 7.4); auto is bound",
		},
		dme.Choice("insertion",
			"how a newcomer becomes part of the group (section 7.2.2)", "sponsor", "broadcast"),
		dme.Choice("synchronized",
			"when a newcomer may ask (section 7.2.3 a to e): it knows the highest number of all; has a REQUEST of each; "+
				"has seen numbers rise by N−1; all could have been served; has a fourth REQUEST of one (needs order)",
			"highest", "each", "rise", "time", "fourth"),
		{
			Name: "names", Default: "auto", Words: []string{"auto"}, Forms: []string{"LIST"}, Valid: dme.Valid(parseNames),
			Help: "node numbers from a larger range (section 7.1), such as 30,10,20: among equal sequence numbers " +
				"the smaller goes first; auto is 1,2,…",
		},
	}
}

func prepareRobust(c dme.Config) (*robustSystem, error) {
	names, err := namesOf(c.Nodes, c.Options)
	s := &robustSystem{
		nodes: c.Nodes, names: names, absent: c.Absent, bound: boundOf(c),
		broadcasts: c.Options.Get("insertion") == "broadcast", way: c.Options.Get("synchronized"),
	}
	s.csBound = s.bound
	if d, err := time.ParseDuration(c.Options.Get("cs-bound")); err == nil {
		s.csBound = d
	}
	return s, err
}

// Node returns a node as it is at the start: part of the group, if it is not
// absent. One that has been away finds everything else out.
func (s *robustSystem) Node(id dme.NodeID) dme.Node {
	n := &robustNode{
		variables: variables{me: id, n: s.nodes}, robustSystem: s,
		group: collections.MakeNodeSet(s.nodes), awaiting: collections.MakeNodeSet(s.nodes), suspects: collections.MakeNodeSet(s.nodes),
		newcomers: collections.MakeNodeSet(s.nodes), admitted: true, synchronized: true,
	}
	n.group.AddOthers(s.nodes, id)
	for _, j := range s.absent {
		n.group.Remove(j)
	}
	return s.wrap(n)
}

// precedes is the order of requests: among equal sequence numbers the values in
// NAMES are compared (7.1).
func (s *robustSystem) precedes(a, b dme.Stamp) bool {
	return a.Clock < b.Clock || a.Clock == b.Clock && s.names[a.Node] < s.names[b.Node]
}

// ourName is the timestamp of our request, with the node's number from NAMES.
func (n *robustNode) ourName() dme.Stamp {
	return dme.Stamp{Clock: n.ourSequenceNumber, Node: n.names[n.me]}
}

// other reports whether id is another node.
func (n *robustNode) other(id dme.NodeID) bool { return id >= 1 && int(id) <= n.n && id != n.me }

// namesOf returns NAMES, by node from 1.
func namesOf(nodes int, o dme.Options) ([]dme.NodeID, error) {
	names := []dme.NodeID{dme.None}
	if value := o.Get("names"); value != "auto" {
		list, err := parseNames(value)
		if err == nil && len(list) != nodes {
			err = fmt.Errorf("names=%s: %d numbers for %d nodes; want one for each", value, len(list), nodes)
		}
		return append(names, list...), err
	}
	for id := range nodes {
		names = append(names, dme.NodeID(id+1))
	}
	return names, nil
}

func parseNames(s string) ([]dme.NodeID, error) {
	var names []dme.NodeID
	for word := range strings.SplitSeq(s, ",") {
		x, err := strconv.ParseUint(word, 10, 32)
		if err != nil || x == 0 || slices.Contains(names, dme.NodeID(x)) {
			return nil, errors.New("not a list of different numbers from 1 to 4294967295")
		}
		names = append(names, dme.NodeID(x))
	}
	return names, nil
}
