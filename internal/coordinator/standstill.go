package coordinator

import (
	"context"
	"errors"
	"time"

	"dmebench/internal/control"
	standstill "dmebench/internal/stall"
)

const (
	// maxStates bounds how many decoded states a stalled run reports.
	maxStates = 64

	// answerTime bounds how long workers may take to answer when all they have to
	// do is to take a lock.
	answerTime = 5 * time.Second

	// promptly is how fast workers answer that nothing holds up.
	promptly = 250 * time.Millisecond

	// doubts is how often a standstill in which nothing moved is not believed
	// because workers took their time to answer.
	doubts = 3
)

// confirm looks once more at a run in which nothing has moved. All nodes are asked
// where they stand: where a worker was held up, the run goes on once it is not,
// and the algorithm has not stalled. An error names the workers that do not even
// answer that: not the algorithm stalls then, but they; and a stall in which messages
// are held is not the algorithm's either.
func (c *coordinator) confirm(ctx context.Context, err error, seen sums) (stalled bool, _ error) {
	var s *stall
	if !errors.As(err, &s) {
		return false, err
	}
	asked := time.Now()
	states, waits, err := c.states(ctx)
	if err != nil {
		return false, err
	}
	traffic, err := c.traffic(ctx, seen)
	if err != nil {
		return false, err
	}
	if again, err := c.sums(ctx); err != nil {
		return false, c.blame(ctx, err)
	} else if again != seen {
		c.doubted = 0
		return false, nil
	}
	if time.Since(asked) > promptly && c.doubted < doubts {
		c.doubted++ // what it could not do meanwhile it may do now
		return false, nil
	}
	s.states, s.waits = states, waits
	c.suspect(s, traffic)
	s.what += c.faults.recount()
	return true, s
}

// states asks all nodes where they stand, and what they wait for.
func (c *coordinator) states(ctx context.Context) ([]string, *standstill.Standstill, error) {
	limited, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	begin := time.Now()
	replies, err := c.leader.Call(limited, c.workers(), control.Same(control.Command{Op: control.OpStates, Limit: maxStates}))
	var states []string
	waits := &standstill.Standstill{Nodes: c.job.Spec.Nodes, Tokens: -1}
	for _, r := range replies {
		states = append(states, r.States...)
		if r.Waits != nil {
			waits.Join(r.Waits)
		}
	}
	waits.Absent = c.absentNodes()
	states = append(states[:min(len(states), maxStates)], c.missing()...)
	return states, waits, c.blame(ctx, c.excuse(begin, err))
}
