package quorum

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"dmebench/dme"
)

// readFamily reads the sets of a file. A line holds one set, its members separated by blanks or
// commas, with or without braces; what follows a # is ignored. With 'i:' in front of each line it
// is S_i, and every node has a line. Without it, the lines are the quorums of a coterie: each node
// takes one that contains it, or any if none does, so that the quorums have equally many nodes as
// far as a single pass can arrange that.
//
// Any two sets must meet. A set may contain another: Maekawa's conditions (a) and (b) do not forbid
// it, though the textbook's section 9.7 forbids it in a coterie; [System.Properties] and
// [System.Remarks] report it.
func readFamily(name string, cfg Config) (family, error) {
	text, err := dme.ReadLines(cfg.ReadFile, name)
	if err != nil {
		return nil, err
	}
	lines, err := parseSets(text, cfg.Nodes)
	if err != nil {
		return nil, err
	}
	if err := checkMeet(lines); err != nil {
		return nil, err
	}
	if lines[0].of == dme.None {
		return list(assign(lines, cfg.Nodes))
	}
	sets := make([][]dme.NodeID, cfg.Nodes)
	for _, l := range lines {
		sets[l.of-1] = l.set
	}
	return list(sets)
}

// setLine is a line of a file.
type setLine struct {
	number int
	of     dme.NodeID // None if the line names no node
	set    []dme.NodeID
}

func (l setLine) String() string {
	members := fmt.Sprintf("{%s}", join(l.set))
	if l.of != dme.None {
		members = fmt.Sprintf("S_%d = %s", l.of, members)
	}
	return fmt.Sprintf("line %d, %s", l.number, members)
}

func join(set []dme.NodeID) string {
	var words []string
	for _, id := range set {
		words = append(words, id.String())
	}
	return strings.Join(words, ",")
}

// parseSets reads the lines and checks each by itself, and that there are those
// that must be.
func parseSets(text []dme.Line, nodes int) ([]setLine, error) {
	var lines []setLine
	lineOf := make([]int, nodes+1)
	for _, t := range text {
		l, err := parseSet(t.Text, nodes)
		switch l.number = t.Number; {
		case err != nil:
			return nil, fmt.Errorf("line %d: %w", l.number, err)
		case len(lines) > 0 && (l.of == dme.None) != (lines[0].of == dme.None):
			return nil, fmt.Errorf("line %d: some lines begin with 'i:' and some do not; write it everywhere or nowhere", l.number)
		case l.of != dme.None && lineOf[l.of] > 0:
			return nil, fmt.Errorf("line %d: S_%d is on line %d already", l.number, l.of, lineOf[l.of])
		}
		lineOf[l.of] = l.number
		lines = append(lines, l)
	}
	if len(lines) == 0 {
		return nil, errors.New("there are no sets; want a line 'a b c' for each")
	}
	if lines[0].of != dme.None {
		if id := slices.Index(lineOf[1:], 0) + 1; id > 0 {
			return nil, fmt.Errorf("there is no set of node %d of %d; want a line '%d: a b c'", id, nodes, id)
		}
	}
	return lines, nil
}

func parseSet(line string, nodes int) (l setLine, err error) {
	if of, rest, ok := strings.Cut(line, ":"); ok {
		if l.of, err = dme.ParseNode(strings.TrimSpace(of), nodes); err != nil {
			return l, err
		}
		line = rest
	}
	for _, word := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\r\n,{}", r) }) {
		id, err := dme.ParseNode(word, nodes)
		if err != nil {
			return l, err
		}
		l.set = append(l.set, id)
	}
	l.set, err = ascending(l.set, nodes)
	return l, err
}

// checkMeet reports the first two sets that do not meet.
func checkMeet(lines []setLine) error {
	sets := make([][]dme.NodeID, len(lines))
	for i, l := range lines {
		sets[i] = l.set
	}
	for p := range Pairs(sets) {
		if p.Common == 0 {
			return fmt.Errorf("%v, and %v, have no common node: both could be in the critical section; any two sets must meet",
				lines[p.I], lines[p.J])
		}
	}
	return nil
}

// assign gives each node in turn, of the quorums that contain it, the one that
// fewest nodes have so far, and of equals the first.
func assign(lines []setLine, nodes int) [][]dme.NodeID {
	sets := make([][]dme.NodeID, nodes)
	users := make([]int, len(lines))
	for i := range sets {
		best, bestHas := 0, false
		for k, l := range lines {
			_, has := slices.BinarySearch(l.set, dme.NodeID(i+1))
			if k == 0 || has && !bestHas || has == bestHas && users[k] < users[best] {
				best, bestHas = k, has
			}
		}
		users[best]++
		sets[i] = lines[best].set
	}
	return sets
}
