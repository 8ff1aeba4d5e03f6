package coordinator

import (
	"fmt"
	"time"

	"dmebench/internal/foreign"
	"dmebench/internal/noderun"
	"dmebench/workload/fault"
)

// dead says that a run will never move again, where two sums that agree prove it, and nil
// where they do not. Nodes wait; nobody is inside, no timer is armed, every message was
// handled, nobody who is idle will ask, and no fault is still to strike or to end. Only a
// handler that is under way could change that, and [coordinator.confirm] waits for it, as it
// takes every node's lock before it looks once more.
//
// The counters prove it only where a message is handled at most once, and all that moves a
// node is counted.
func (c *coordinator) dead(before, now sums, since time.Time) error {
	if before != now || now.requesting == 0 || now.inside > 0 || now.timers > 0 || now.sent != now.handled ||
		time.Since(since) < settling || !c.countable() || !c.faults.spent() {
		return nil
	}
	for i := range c.looked {
		if n := &c.looked[i]; n.Activity == noderun.Idle && n.Pending > 0 {
			return nil
		}
	}
	return &stall{what: fmt.Sprintf("%d requests are pending, the critical section is free, and nothing can move any more: "+
		"all %d messages that were sent have been handled", now.requesting, now.sent)}
}

// countable reports whether counters tell all that can happen to nodes. Those in other
// languages act when they like; a node that comes or goes is announced to the others by
// their links, and so is one whose host is lost.
func (c *coordinator) countable() bool {
	for _, f := range c.job.Faults {
		if f.What == fault.Restart || f.What == fault.Join || f.What == fault.Leave {
			return false
		}
	}
	return c.job.Guarantees().Reliable && !c.tolerant && !foreign.Is(c.job.Algorithm.Name)
}

// spent reports whether all faults have struck, and those that end have ended.
func (i *injector) spent() bool {
	if i == nil {
		return true
	}
	select {
	case <-i.done:
		return true
	default:
		return false
	}
}
