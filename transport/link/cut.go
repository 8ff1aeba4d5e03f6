package link

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"dmebench/dme"
)

// Cut is partitions that are made and healed while the network runs, beside those
// that follow a schedule ([Partition]). All links of a process share one, by
// [Config.Cut]. The zero value separates nobody. Its methods may be called from
// several goroutines.
type Cut struct {
	mu    sync.Mutex // held while the partitions change
	those atomic.Pointer[[]cutting]
}

// cutting is one partition.
type cutting struct {
	key    int
	groups [][]dme.NodeID
}

// Partition makes frames between different groups of nodes vanish, until that key is
// healed. Nodes that are in none are one more side together.
func (c *Cut) Partition(key int, groups [][]dme.NodeID) error {
	if err := checkGroups(groups); err != nil {
		return err
	}
	c.change(key, cutting{key, groups})
	return nil
}

// Heal ends the partition of that key. Frames that have vanished stay lost.
func (c *Cut) Heal(key int) { c.change(key) }

// change puts others into the place of the partition of that key.
func (c *Cut) change(key int, others ...cutting) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if old := c.those.Load(); old != nil {
		for _, x := range *old {
			if x.key != key {
				others = append(others, x)
			}
		}
	}
	if others == nil {
		c.those.Store(nil)
		return
	}
	c.those.Store(&others)
}

// between returns the groups that separate the ends of a link; nil where none do.
func (c *Cut) between(l Link) [][]dme.NodeID {
	if c == nil {
		return nil
	}
	those := c.those.Load()
	if those == nil {
		return nil
	}
	for _, x := range *those {
		if side(x.groups, l.From) != side(x.groups, l.To) {
			return x.groups
		}
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
