package dme

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ParseNodes reads node numbers and ranges of them, separated by commas:
// "1,3-5". It returns them in ascending order, each once.
func ParseNodes(s string) ([]NodeID, error) {
	var nodes []NodeID
	for item := range strings.SplitSeq(s, ",") {
		first, last, isRange := strings.Cut(item, "-")
		if !isRange {
			last = first
		}
		a, err1 := strconv.ParseUint(first, 10, 20)
		b, err2 := strconv.ParseUint(last, 10, 20)
		if err1 != nil || err2 != nil || a < 1 || b < a {
			return nil, fmt.Errorf("%q is neither a node number nor a range of them", item)
		}
		for id := NodeID(a); id <= NodeID(b); id++ {
			nodes = append(nodes, id)
		}
	}
	slices.Sort(nodes)
	return slices.Compact(nodes), nil
}

// FormatNodes writes what [ParseNodes] reads; nodes are in ascending order.
func FormatNodes(nodes []NodeID) string {
	var b []byte
	for i := 0; i < len(nodes); {
		end := i + 1
		for end < len(nodes) && nodes[end] == nodes[end-1]+1 {
			end++
		}
		if len(b) > 0 {
			b = append(b, ',')
		}
		b = append(b, nodes[i].String()...)
		if end-i > 1 {
			b = append(b, '-')
			b = append(b, nodes[end-1].String()...)
		}
		i = end
	}
	return string(b)
}
