package coordinator

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"dmebench/internal/control"
	"dmebench/workload/fault"
)

// What is here tells a standstill of the algorithm from one of the network: on links that
// lose nothing, a message that was sent and not handled is held by somebody.

// traffic asks the workers what their nodes have sent each other, where messages are missing
// that cannot have been lost; nil elsewhere. A partition on purpose loses them.
func (c *coordinator) traffic(ctx context.Context, seen sums) ([]control.Reply, error) {
	cut := func(f fault.Fault) bool { return f.What == fault.Partition }
	if seen.sent <= seen.handled || !c.job.Guarantees().Reliable || slices.ContainsFunc(c.job.Faults, cut) {
		return nil, nil
	}
	return c.all(ctx, control.Command{Op: control.OpTraffic})
}

// suspect says of a stall whether messages are held, and on which links between workers that
// are there. The replies are those of traffic.
func (c *coordinator) suspect(s *stall, replies []control.Reply) {
	if replies == nil {
		return
	}
	missing := make(map[[2]int]int32) // by workers, from and to
	for _, r := range replies {
		for _, x := range r.Traffic {
			peer := c.workerOf(x.Peer)
			missing[[2]int{r.Worker, peer}] += int32(x.Sent)
			missing[[2]int{peer, r.Worker}] -= int32(x.Came)
		}
	}
	there := c.workers()
	var links []string
	for _, w := range slices.SortedFunc(maps.Keys(missing), func(v, w [2]int) int { return slices.Compare(v[:], w[:]) }) {
		if missing[w] > 0 && slices.Contains(there, w[0]) && slices.Contains(there, w[1]) {
			links = append(links, fmt.Sprintf("%d from %s to %s", missing[w], c.name(w[0]), c.name(w[1])))
		}
	}
	s.held = links != nil || c.faults.recount() == "" // else they went down with nodes
	const most = 6
	if more := len(links) - most; more > 0 {
		links = append(links[:most], fmt.Sprintf("and others on %d more links", more))
	}
	if links != nil {
		s.what += "; the network holds messages: " + strings.Join(links, "; ") + "; mend the way between them, and run again"
	}
}
