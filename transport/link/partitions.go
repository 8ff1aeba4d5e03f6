package link

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"dmebench/dme"
)

// Cut is partitions that are made and healed while the network runs. All links of a process
// share one, by [Config.Cut]. Its methods may be called from several goroutines.
type Cut struct {
	mu    sync.Mutex // held while the partitions change
	those atomic.Pointer[[]cutting]
}

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

func (c *Cut) Heal(key int) { c.change(key) }

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

func (c *Cut) separates(l Link) bool {
	if c == nil {
		return false
	}
	those := c.those.Load()
	return those != nil && slices.ContainsFunc(*those, func(x cutting) bool { return separated(x.groups, l) })
}

// separated reports whether the ends of a link are in different groups.
func separated(groups [][]dme.NodeID, l Link) bool { return side(groups, l.From) != side(groups, l.To) }

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

// Partition is a time during which frames between different groups of nodes
// vanish. Times count from Start; a frame is judged when it is sent.
type Partition struct {
	From, Until time.Duration // Until is not part of it
	// Groups are the sides. Nodes that are in none are one more side together.
	Groups [][]dme.NodeID
}

// ParsePartitions reads GROUP|…@FROM-UNTIL;…, where a group is node numbers and
// ranges of them: "1,2|3-5@1s-2.5s;1@4s-5s".
func ParsePartitions(s string) ([]Partition, error) {
	var all []Partition
	for part := range strings.SplitSeq(s, ";") {
		p, err := parsePartition(part)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", part, err)
		}
		all = append(all, p)
	}
	return all, nil
}

func parsePartition(s string) (p Partition, err error) {
	sides, times, ok := strings.Cut(s, "@")
	if !ok {
		return p, errors.New("want GROUP|…@FROM-UNTIL, such as 1,2|3-5@1s-2s")
	}
	if p.From, p.Until, err = parseTimes(times); err != nil {
		return p, err
	}
	for side := range strings.SplitSeq(sides, "|") {
		group, err := dme.ParseNodes(side)
		if err != nil {
			return p, err
		}
		p.Groups = append(p.Groups, group)
	}
	return p, checkGroups(p.Groups)
}

// separates reports whether a frame that is sent at the time now vanishes for a partition.
func (c *Config) separates(l Link, now time.Duration) bool {
	return c.Cut.separates(l) || slices.ContainsFunc(c.Partitions, func(p Partition) bool {
		return now >= p.From && now < p.Until && separated(p.Groups, l)
	})
}
