package mutation

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed equivalent.txt
var equivalents string

// List has the reasons why mutants are equivalent to the original, by their IDs.
type List map[string]string

// Equivalents returns this module's list.
func Equivalents() (List, error) { return parseList(equivalents) }

// parseList reads a list: the ID of a mutant on a line, then the reason on lines that
// begin with a tab. A line that begins with `#` is a remark.
func parseList(text string) (List, error) {
	list := make(List)
	var waiting []string // IDs that have no reason yet: several may share one
	var last []string
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimRight(line, "\n")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "\t"):
			if len(waiting) > 0 {
				last, waiting = waiting, nil
			}
			if len(last) == 0 {
				return nil, fmt.Errorf("mutation: line %d of the equivalent mutants: a reason without a mutant", n)
			}
			for _, id := range last {
				list[id] = strings.TrimSpace(list[id] + " " + strings.TrimSpace(line))
			}
		default:
			if _, ok := list[line]; ok {
				return nil, fmt.Errorf("mutation: line %d of the equivalent mutants: %s is listed twice", n, line)
			}
			if len(waiting) == 0 {
				last = nil
			}
			waiting = append(waiting, line)
		}
	}
	if len(waiting) > 0 {
		return nil, fmt.Errorf("mutation: the equivalent mutant %s has no reason", waiting[0])
	}
	return list, nil
}
