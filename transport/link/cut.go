package link

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"dmebench/dme"
)

// Cut is a partition that is made and healed while the network runs, beside those
// that follow a schedule ([Partition]). All links of a process share one, by
// [Config.Cut]. The zero value separates nobody. Its methods may be called from
// several goroutines.
type Cut struct {
	groups atomic.Pointer[[][]dme.NodeID]
}

// Partition makes frames between different groups of nodes vanish, in place of what
// was cut before. Nodes that are in none are one more side together.
func (c *Cut) Partition(groups [][]dme.NodeID) error {
	if err := checkGroups(groups); err != nil {
		return err
	}
	groups = slices.Clone(groups)
	c.groups.Store(&groups)
	return nil
}

// Heal lets all frames pass again. Those that have vanished stay lost.
func (c *Cut) Heal() { c.groups.Store(nil) }

// between returns the groups that separate the ends of a link; nil where none do.
func (c *Cut) between(l Link) [][]dme.NodeID {
	if c == nil {
		return nil
	}
	if g := c.groups.Load(); g != nil && side(*g, l.From) != side(*g, l.To) {
		return *g
	}
	return nil
}

// side returns in which of the groups a node is; -1 where it is in none.
func side(groups [][]dme.NodeID, id dme.NodeID) int {
	return slices.IndexFunc(groups, func(g []dme.NodeID) bool { return slices.Contains(g, id) })
}

func checkGroups(groups [][]dme.NodeID) error {
	seen := make(map[dme.NodeID]bool)
	for _, g := range groups {
		for _, id := range g {
			if seen[id] {
				return fmt.Errorf("link: partition: node %d is in two groups", id)
			}
			seen[id] = true
		}
	}
	if len(seen) == 0 {
		return errors.New("link: partition without nodes")
	}
	return nil
}

// formatGroups writes groups as options do: "1,2|3-5".
func formatGroups(groups [][]dme.NodeID) string {
	var words []string
	for _, g := range groups {
		words = append(words, dme.FormatNodes(g))
	}
	return strings.Join(words, "|")
}
