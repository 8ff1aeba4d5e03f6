package prove

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"dmebench/internal/platform/tables"
)

// Table has a row for each result. Its cells do not depend on the machine, but
// for what a limit of memory or time ended.
func Table(results []Result) *tables.Table {
	t := tables.New("ALGORITHM", "PROVEN", "STATES", "NEVER SENT", "SEARCHED WHOLE", "FOUND", "WHAT ENDED IT")
	for _, r := range results {
		proven, states := r.proven()
		t.Add(r.Name(), proven, states, r.neverSent(), r.searched(), r.Refuted.String(), orDash(r.Limit))
	}
	return t
}

// Name is the algorithm, with the setting that was searched.
func (r *Result) Name() string {
	name := r.Algorithm
	for _, option := range slices.Sorted(maps.Keys(r.Set)) {
		name += " " + option + "=" + r.Set[option]
	}
	if r.AsPublished {
		name += " (known to be wrong)"
	}
	return name
}

// neverSent is which messages the largest proof is not about.
func (r *Result) neverSent() string {
	if len(r.Proven) == 0 {
		return "–"
	}
	return orDash(strings.Join(r.Proven[len(r.Proven)-1].NeverSent, ", "))
}

// proven is the numbers of nodes for which there is a proof, with the links where
// they are better than need be, and the states that the largest has.
func (r *Result) proven() (nodes, states string) {
	if len(r.Proven) == 0 {
		return "–", "–"
	}
	nodes = "N ="
	for i, p := range r.Proven {
		if i > 0 {
			nodes += ","
		}
		nodes += fmt.Sprintf(" %d", p.Nodes)
		if last := i == len(r.Proven)-1; last || r.Proven[i+1].Links != p.Links {
			nodes += p.Links.beyond(r.Links)
		}
	}
	return nodes, thousands(r.Proven[len(r.Proven)-1].States)
}

// beyond says what links have that others have not.
func (l Links) beyond(other Links) string {
	switch {
	case l == other:
		return ""
	case l.InFlight > 0:
		return fmt.Sprintf(" (at most %s on a link)", messages(l.InFlight))
	}
	return " (links that keep order)"
}

// searched is like "3 × 2, 4 × 1": nodes and requests of each.
func (r *Result) searched() string {
	var all []string
	for _, b := range r.Searched {
		all = append(all, fmt.Sprintf("%d × %d", b.Nodes, b.Each))
	}
	return orDash(strings.Join(all, ", "))
}

// String says what was found; "–" of nothing.
func (f *Refutation) String() string {
	if f == nil {
		return "–"
	}
	load := "requests without limit"
	if f.Each > 0 {
		load = fmt.Sprintf("%d a node", f.Each)
	}
	steps := fmt.Sprintf("%d steps", f.Prefix)
	if f.Loop > 0 {
		steps = fmt.Sprintf("%d steps, then %d for ever", f.Prefix, f.Loop)
	}
	return fmt.Sprintf("%s: N = %d, %s, %s", f.Property, f.Nodes, load, steps)
}

func messages(n int) string {
	if n == 1 {
		return "1 message"
	}
	return fmt.Sprintf("%d messages", n)
}

func orDash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}

// thousands writes a number with commas.
func thousands(n uint64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
