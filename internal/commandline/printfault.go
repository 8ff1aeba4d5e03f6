package commandline

import (
	"fmt"
	"strings"

	"dmebench/dme"
	"dmebench/result"
)

// describeFault says what was done to a run, and what came of it, as well as that is
// known between hosts.
func describeFault(f *result.Fault, known crossing) string {
	var nodes []dme.NodeID
	for _, id := range f.Nodes {
		nodes = append(nodes, dme.NodeID(id))
	}
	whom := "node "
	if len(nodes) > 1 {
		whom = "nodes "
	}
	parts := []string{fmt.Sprintf("hit %s%s at %v", whom, dme.FormatNodes(nodes), ns(f.AtNS))}
	if f.EndedNS != nil {
		parts = append(parts, fmt.Sprintf("over after %v", ns(*f.EndedNS)))
	}
	switch {
	case f.RecoveredNS != nil:
		parts = append(parts, "next entry after "+known.time(*f.RecoveredNS))
	case known.set:
		parts = append(parts, "the clocks cannot tell what came after it")
	default:
		parts = append(parts, "no other node entered after it")
	}
	switch {
	case f.ServedNS != nil:
		parts = append(parts, fmt.Sprintf("the %d that waited served after %s", f.Waiting, known.time(*f.ServedNS)))
	case known.set:
	case f.Waiting > 0:
		parts = append(parts, fmt.Sprintf("of the %d that waited, some never served", f.Waiting))
	}
	if f.Lost > 0 {
		parts = append(parts, fmt.Sprintf("%d requests lost", f.Lost))
	}
	return f.Fault + ": " + strings.Join(parts, ", ")
}
