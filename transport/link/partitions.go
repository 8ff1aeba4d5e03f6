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

func formatGroups(groups [][]dme.NodeID) string {
	var words []string
	for _, g := range groups {
		words = append(words, dme.FormatNodes(g))
	}
	return strings.Join(words, "|")
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
		if err == nil {
			err = p.check()
		}
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
	return p, nil
}

func (p *Partition) check() error {
	if p.From < 0 || p.Until <= p.From {
		return fmt.Errorf("link: partition from %v until %v: want an end after the beginning", p.From, p.Until)
	}
	return checkGroups(p.Groups)
}

func (p *Partition) separates(l Link, now time.Duration) bool {
	return now >= p.From && now < p.Until && side(p.Groups, l.From) != side(p.Groups, l.To)
}
