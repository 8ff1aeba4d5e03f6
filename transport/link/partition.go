package link

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"dmebench/dme"
)

// Partition is a time during which frames between different groups of nodes
// vanish. Times count from Start, at each process for itself; a frame is judged
// when it is sent.
type Partition struct {
	From, Until time.Duration // Until is not part of it
	// Groups are the sides. Nodes that are in none are one more side together.
	Groups [][]dme.NodeID
}

// ParsePartitions reads GROUP|…@FROM-UNTIL, where a group is node numbers and
// ranges of them separated by commas; several partitions are separated by
// semicolons: "1,2|3-5@1s-2.5s;1@4s-5s".
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

// separates reports whether a frame that is sent at the time now vanishes.
func (p *Partition) separates(l Link, now time.Duration) bool {
	return now >= p.From && now < p.Until && side(p.Groups, l.From) != side(p.Groups, l.To)
}
