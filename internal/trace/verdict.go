package trace

import (
	"fmt"
	"slices"
	"strings"

	"dmebench/dme"
	"dmebench/dme/vnet"
)

// means reports whether a command about a message may mean this one.
func (c command) means(a *dme.Algorithm, m *dme.Message) bool {
	if c.kind == "" {
		return true
	}
	if a.KindName(m.Kind) != c.kind {
		return false
	}
	text := " " + vnet.DescribeMessage(a, m) + " "
	return c.fields == "" || strings.Contains(text, " "+c.fields+" ")
}

// broken writes down that the property is broken which the scenario is to break.
func (p *player) broken(verdict string) {
	p.verdict = strings.Join(strings.Fields(verdict), " ")
	p.note("violation: %s", p.verdict)
}

// conclude judges, when all commands have been carried out, what no single step
// shows, and writes down where a property that was to be broken is not.
func (p *player) conclude() {
	n := p.network
	if p.violates == "" || n == nil || n.Violation != nil {
		return
	}
	waiting := n.Waiting()
	again := p.repeats > 0 && len(p.states) == p.repeats && p.states[0] == string(n.SaveAlike(nil))
	switch {
	case p.violates == progress && n.Stuck():
		p.broken(fmt.Sprintf("%s, and nothing moves", wait(waiting)))
	case p.violates == liveness && len(waiting) > 0 && again:
		p.broken(fmt.Sprintf("%s, and the last %d steps repeat for ever", wait(waiting), p.repeats))
	case p.violates == liveness && len(waiting) > 0 && p.repeats == 0:
		p.broken(fmt.Sprintf("%s, %d steps after the last request, entry or exit", wait(waiting), n.QuietFor))
	case p.violates == rest && len(waiting) == 0 && again:
		p.broken(fmt.Sprintf("nobody waits, and the last %d steps repeat for ever", p.repeats))
	case p.violates == rest && len(waiting) == 0 && p.repeats == 0 && n.Busy():
		p.broken(fmt.Sprintf("nobody waits, and messages still flow %d steps after the last exit", n.QuietFor))
	case p.violates == starvation && again && len(p.starved()) > 0:
		p.broken(fmt.Sprintf("%s while others enter, and the last %d steps repeat for ever", wait(p.starved()), p.repeats))
	default:
		p.note("no violation of %s", p.violates)
	}
}

// starved returns the nodes that have waited during all of the last steps.
func (p *player) starved() []dme.NodeID {
	starved := p.network.Waiting()
	for _, waiting := range p.waited {
		starved = slices.DeleteFunc(starved, func(id dme.NodeID) bool { return !slices.Contains(waiting, id) })
	}
	return starved
}

// wait is "node 2 waits" or "nodes 1, 3 wait".
func wait(nodes []dme.NodeID) string {
	if len(nodes) == 1 {
		return "node " + nodes[0].String() + " waits"
	}
	var names []string
	for _, id := range nodes {
		names = append(names, id.String())
	}
	return "nodes " + strings.Join(names, ", ") + " wait"
}

// Difference compares the outcomes that the scenario's file expects with those that
// a play has brought, line by line: "" where they agree, or where the file expects
// nothing. A line that is expected and has not come begins with a minus sign, one
// that has come instead with a plus sign.
func (s *Scenario) Difference(played []byte) string {
	if !s.expects {
		return ""
	}
	var got []string
	for l := range strings.Lines(string(played)) {
		got = append(got, strings.TrimRight(l, " \t\r\n"))
	}
	return difference(s.original, got)
}

// context is how many lines that agree are shown around those that differ.
const context = 2

// difference lists the lines in which two texts differ, with some around them. It
// finds the longest common part, in time and memory of the product of what lies
// between the first and the last difference, up to a bound.
func difference(want, got []string) string {
	head := 0
	for head < len(want) && head < len(got) && want[head] == got[head] {
		head++
	}
	if head == len(want) && head == len(got) {
		return ""
	}
	tail := 0
	for tail < len(want)-head && tail < len(got)-head && want[len(want)-1-tail] == got[len(got)-1-tail] {
		tail++
	}
	var out strings.Builder
	line := func(sign, text string) { fmt.Fprintf(&out, "%s %s\n", sign, text) }
	for _, l := range want[max(0, head-context):head] {
		line(" ", l)
	}
	edits(want[head:len(want)-tail], got[head:len(got)-tail], line)
	for _, l := range want[len(want)-tail : len(want)-tail+min(tail, context)] {
		line(" ", l)
	}
	return out.String()
}

// maxTable bounds the table of a comparison; beyond it everything between the first
// and the last difference is shown as it was and as it is.
const maxTable = 4 << 20

func edits(want, got []string, line func(sign, text string)) {
	if len(want)*len(got) > maxTable {
		for _, l := range want {
			line("-", l)
		}
		for _, l := range got {
			line("+", l)
		}
		return
	}
	// common[i][j] is the length of the longest common part of want[i:] and got[j:].
	common := make([][]int, len(want)+1)
	for i := range common {
		common[i] = make([]int, len(got)+1)
	}
	for i := len(want) - 1; i >= 0; i-- {
		for j := len(got) - 1; j >= 0; j-- {
			if want[i] == got[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(want) || j < len(got) {
		switch {
		case i < len(want) && j < len(got) && want[i] == got[j]:
			line(" ", want[i])
			i, j = i+1, j+1
		case i < len(want) && (j == len(got) || common[i+1][j] >= common[i][j+1]):
			line("-", want[i])
			i++
		default:
			line("+", got[j])
			j++
		}
	}
}
