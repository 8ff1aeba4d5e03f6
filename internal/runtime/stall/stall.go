// Package stall explains why a system stands still: it reads the wait-for graph, and finds the
// cycle, the dead node or the lost message that nodes wait for.
package stall

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"dmebench/dme"
	"dmebench/runs"
)

// Edge is one reason for which a node cannot go on.
type Edge struct {
	Node dme.NodeID `json:"node"`
	For  dme.NodeID `json:"for"`  // None if the node cannot know
	What string     `json:"what"` // as dme.Wait has it
}

// Absent is a node that is not there to answer.
type Absent struct {
	Node  dme.NodeID
	Since time.Duration // when it went; negative if there is no time
	Token bool          // the token was with it, or on its way to it
}

// Loss is a kind of message that got lost on its way between two nodes that are
// both there.
type Loss struct {
	From, To dme.NodeID
	Kind     string
	Token    bool // the token was with it
}

// Standstill is a system in which nodes wait and nothing moves.
type Standstill struct {
	Nodes   int          `json:"nodes"`
	Waiting []dme.NodeID `json:"waiting"` // nodes that have asked and not entered, in ascending order
	Edges   []Edge       `json:"edges"`
	Absent  []Absent     `json:"-"`
	Losses  []Loss       `json:"-"`
	Lost    []string     `json:"-"`      // what got lost somewhere, if Losses cannot say on which link: "3 REPLY"
	Tokens  int          `json:"tokens"` // nodes that have the token; -1 if the algorithm has none, or it is unknown
	Holder  dme.NodeID   `json:"holder"` // one that has it, None if none is known
}

// mostEdges bounds how many reasons of one node are kept: of a thousand missing answers the first
// ones are enough.
const mostEdges = 64

// Add adds a node of a that is there.
func (s *Standstill) Add(a *dme.Algorithm, id dme.NodeID, n dme.Node, waiting bool) {
	if waiting {
		s.Waiting = append(s.Waiting, id)
	}
	if a.Waits != nil {
		waits := a.Waits(n)
		for _, wait := range waits[:min(mostEdges, len(waits))] {
			s.Edges = append(s.Edges, Edge{id, wait.For, wait.What})
		}
	}
	if a.HasToken != nil {
		s.Tokens = max(0, s.Tokens)
		if a.HasToken(n) {
			s.Tokens, s.Holder = s.Tokens+1, id
		}
	}
}

// Join adds what others have seen of other nodes.
func (s *Standstill) Join(other *Standstill) {
	s.Waiting = append(s.Waiting, other.Waiting...)
	slices.Sort(s.Waiting)
	s.Edges = append(s.Edges, other.Edges...)
	slices.SortStableFunc(s.Edges, func(a, b Edge) int { return cmp.Compare(a.Node, b.Node) })
	if other.Tokens >= 0 {
		s.Tokens, s.Holder = max(0, s.Tokens)+other.Tokens, max(s.Holder, other.Holder)
	}
}

// Cause is why some node waits for ever.
type Cause struct {
	Chain []Edge // from a node that waits to what it waits for in the end; of a cycle, the cycle alone
	Cycle bool
	Text  string
	Whom  []dme.NodeID // all nodes that wait for this cause, in ascending order
}

// Explanation is what there is to say of a standstill.
type Explanation struct {
	Causes []Cause
	Token  string // what has become of the token, if it is lost
}

const most = 4

// Lines says it in a few lines.
func (x *Explanation) Lines() []string {
	var lines []string
	if x.Token != "" {
		lines = append(lines, x.Token)
	}
	for i, c := range x.Causes {
		if i == most {
			lines = append(lines, fmt.Sprintf("and %d more like it", len(x.Causes)-most))
			break
		}
		line := c.Text
		others := slices.DeleteFunc(slices.Clone(c.Whom), func(id dme.NodeID) bool {
			return slices.ContainsFunc(c.Chain, func(e Edge) bool { return e.Node == id })
		})
		if len(others) > 0 {
			do := "do"
			if len(others) == 1 {
				do = "does"
			}
			line += "; so " + do + " " + dme.FormatNodes(others)
		}
		lines = append(lines, line)
	}
	return lines
}

// Explain finds the causes, those of the most nodes first.
func (s *Standstill) Explain() *Explanation {
	x := &Explanation{Token: s.token()}
	out := make(map[dme.NodeID][]Edge)
	for _, e := range s.Edges {
		out[e.Node] = append(out[e.Node], s.placed(e))
	}
	byText := make(map[string]int)
	for _, id := range s.Waiting {
		for _, c := range s.causes(id, out) {
			i, known := byText[key(c)]
			if !known {
				i = len(x.Causes)
				byText[key(c)] = i
				x.Causes = append(x.Causes, c)
			}
			x.Causes[i].Whom = append(x.Causes[i].Whom, id)
		}
	}
	slices.SortStableFunc(x.Causes, func(a, b Cause) int { return cmp.Compare(len(b.Whom), len(a.Whom)) })
	return x
}

// placed returns an edge to the node that has the token, if that is known, in place of one to an
// unknown node.
func (s *Standstill) placed(e Edge) Edge {
	if e.For == dme.None && e.Node != s.Holder {
		e.For = s.Holder
	}
	return e
}

// key identifies causes: the cycle, or the last link of the chain.
func key(c Cause) string {
	if c.Cycle {
		return fmt.Sprint(c.Chain)
	}
	last := c.Chain[len(c.Chain)-1]
	return fmt.Sprintf("%d %s", last.For, last.What)
}

// causes follows what a node waits for to its ends: nodes that are not there or do not wait, and
// else the nearest cycle.
func (s *Standstill) causes(id dme.NodeID, out map[dme.NodeID][]Edge) (all []Cause) {
	end := func(id dme.NodeID) bool { return s.absent(id) != nil || len(out[id]) == 0 }
	reached := reach(id, out, end)
	for _, e := range reached {
		if e.For != id && end(e.For) {
			chain := chainTo(id, e, reached)
			all = append(all, Cause{Chain: chain, Text: describe(chain) + "; " + s.end(e)})
		}
	}
	if all != nil {
		return all
	}
	if cycle := nearestCycle(id, reached, out); cycle != nil {
		return []Cause{{Chain: cycle, Cycle: true, Text: describe(cycle) + ": a cycle"}}
	}
	return nil
}

// reach returns the edges by which nodes are first reached from one, the nearest first; its
// own is the one that closes a cycle. It does not go on from where end holds.
func reach(id dme.NodeID, out map[dme.NodeID][]Edge, end func(dme.NodeID) bool) (all []Edge) {
	seen := make(map[dme.NodeID]bool)
	for queue := []dme.NodeID{id}; len(queue) > 0; queue = queue[1:] {
		for _, e := range out[queue[0]] {
			if seen[e.For] {
				continue
			}
			seen[e.For] = true
			all = append(all, e)
			if e.For != id && !end(e.For) {
				queue = append(queue, e.For)
			}
		}
	}
	return all
}

// chainTo returns the way from a node to the end of an edge, by those that reach found.
func chainTo(id dme.NodeID, last Edge, reached []Edge) []Edge {
	by := make(map[dme.NodeID]Edge)
	for _, e := range reached {
		by[e.For] = e
	}
	chain := []Edge{last}
	for last.Node != id {
		last = by[last.Node]
		chain = append(chain, last)
	}
	slices.Reverse(chain)
	return chain
}

// nearestCycle returns a shortest cycle among those that can be reached from a node, from
// the cycle's least node on.
func nearestCycle(id dme.NodeID, reached []Edge, out map[dme.NodeID][]Edge) (best []Edge) {
	nodes := []dme.NodeID{id}
	for _, e := range reached {
		nodes = append(nodes, e.For)
	}
	slices.Sort(nodes)
	for _, start := range slices.Compact(nodes) {
		from := reach(start, out, func(dme.NodeID) bool { return false })
		if i := slices.IndexFunc(from, func(e Edge) bool { return e.For == start }); i >= 0 {
			if c := chainTo(start, from[i], from); best == nil || len(c) < len(best) {
				best = c
			}
		}
	}
	return best
}

// end says why the node at the end of a chain does not give what is waited for.
func (s *Standstill) end(e Edge) string {
	if gone := s.absent(e.For); gone != nil {
		if gone.Since < 0 {
			return fmt.Sprintf("%d is down", e.For)
		}
		return fmt.Sprintf("%d is down since %.4g s", e.For, gone.Since.Seconds())
	}
	var lost []string
	for _, l := range s.Losses {
		if e.For == dme.None && l.From == e.Node || l.From == e.Node && l.To == e.For || l.From == e.For && l.To == e.Node {
			lost = append(lost, fmt.Sprintf("%s %d→%d", l.Kind, l.From, l.To))
		}
	}
	switch {
	case e.For == dme.None && s.Tokens == 0:
		return "nobody has it"
	case e.For == dme.None && lost != nil:
		return "its holder may not know of the request: lost on the link " + strings.Join(lost, ", ")
	case e.For == dme.None:
		return "its holder does not pass it on, and nothing is on its way"
	case lost != nil:
		return fmt.Sprintf("%d waits for nobody: lost on the link %s", e.For, strings.Join(lost, ", "))
	}
	if s.Lost != nil {
		return fmt.Sprintf("%d waits for nobody; lost on some link: %s", e.For, strings.Join(s.Lost, ", "))
	}
	return fmt.Sprintf("%d waits for nobody, and nothing is on its way", e.For)
}

// token says what has become of the token, "" if a node has it or there is none.
func (s *Standstill) token() string {
	if s.Tokens != 0 {
		return ""
	}
	for _, gone := range s.Absent {
		if gone.Token {
			return fmt.Sprintf("nobody has the token: it died with node %d", gone.Node)
		}
	}
	for _, l := range s.Losses {
		if l.Token {
			return fmt.Sprintf("nobody has the token: it was lost with %s %d→%d", l.Kind, l.From, l.To)
		}
	}
	switch {
	case s.Lost != nil:
		return "nobody has the token; lost on some link: " + strings.Join(s.Lost, ", ")
	case s.Losses != nil || s.Absent == nil:
		return "nobody has the token"
	case len(s.Absent) == 1:
		return fmt.Sprintf("nobody has the token: it died with node %d", s.Absent[0].Node)
	}
	return "nobody has the token: it died with a node that is down"
}

func (s *Standstill) absent(id dme.NodeID) *Absent {
	i := slices.IndexFunc(s.Absent, func(a Absent) bool { return a.Node == id })
	if i < 0 {
		return nil
	}
	return &s.Absent[i]
}

// describe writes a chain; of a long one its beginning and its end.
func describe(chain []Edge) string {
	first, last := shortened(chain)
	var parts []string
	for _, e := range first {
		parts = append(parts, e.String())
	}
	if between := len(chain) - len(first) - len(last); between > 0 {
		parts = append(parts, fmt.Sprintf("and so on over %d nodes", between))
	}
	for _, e := range last {
		parts = append(parts, e.String())
	}
	return strings.Join(parts, "; ")
}

func (e Edge) String() string {
	if e.For == dme.None {
		return fmt.Sprintf("%d waits for the %s, wherever it is", e.Node, e.What)
	}
	return fmt.Sprintf("%d waits for %d's %s", e.Node, e.For, e.What)
}

// shortened returns the parts of a chain that are printed.
func shortened(chain []Edge) (first, last []Edge) {
	const beginning, end = 4, 3
	if len(chain) <= beginning+end+1 {
		return chain, nil
	}
	return chain[:beginning], chain[len(chain)-end:]
}

// Picture draws the wait-for graph of a run that has stalled, nil if it is not known.
func Picture(r *runs.Result) []byte {
	if len(r.Liveness.Waits) == 0 {
		return nil
	}
	s := &Standstill{Nodes: r.Nodes, Tokens: -1}
	for _, id := range r.Liveness.Waiting {
		s.Waiting = append(s.Waiting, dme.NodeID(id))
	}
	for _, id := range r.Liveness.Down {
		s.Absent = append(s.Absent, Absent{Node: dme.NodeID(id), Since: -1})
	}
	for _, w := range r.Liveness.Waits {
		s.Edges = append(s.Edges, Edge{dme.NodeID(w.Node), dme.NodeID(w.For), w.What})
	}
	return s.draw(r.Algorithm+": who waits for whom", s.Explain(), r.Liveness.Why)
}
