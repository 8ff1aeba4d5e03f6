package coordinator

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"dmebench/dme"
	"dmebench/internal/record/recording"
	"dmebench/internal/runtime/control"
)

// progress notices when a run moves no more.
type progress struct {
	limit   time.Duration // how long nothing may move while requests wait
	hold    time.Duration // how much longer, while somebody is in the critical section
	lossy   bool          // that messages are lost is no fault of the links
	last    sums
	moved   time.Time // when anything last moved
	entered time.Time // when somebody last left the critical section, or nobody waited
}

func newProgress(limit, hold time.Duration) *progress {
	now := time.Now()
	return &progress{limit: limit, hold: hold, moved: now, entered: now}
}

// patience is how much longer messages may flow without any entry than there
// may be no message at all: a large system takes long before its first entry,
// and a perpetual token moves for ever.
const patience = 10

// forgive leaves a time out of account in which nobody could look: whether
// anything moved then is not known.
func (p *progress) forgive(d time.Duration) {
	p.moved, p.entered = p.moved.Add(d), p.entered.Add(d)
}

// restart begins to wait again.
func (p *progress) restart() {
	now := time.Now()
	p.moved, p.entered = now, now
}

// observe takes new sums and says why the run is stalled, if it is. While
// somebody is in the critical section, waiting is what the others should do;
// but it ends, unless the process inside hangs.
func (p *progress) observe(r sums) error {
	now := time.Now()
	if r != p.last {
		p.moved = now
	}
	if r.entries != p.last.entries || r.requesting == 0 {
		p.entered = now
	}
	p.last = r
	limit, where := p.limit, "the critical section is free"
	if r.inside > 0 {
		limit, where = p.limit+p.hold, "somebody has been in the critical section for longer than the workload says"
	}
	still, dry := now.Sub(p.moved), now.Sub(p.entered)
	switch {
	case r.requesting+r.inside > 0 && still > limit:
		return &stall{what: fmt.Sprintf("%d requests are pending, %s, and nothing has moved for %v; messages sent %d, handled %d",
			r.requesting, where, limit, r.sent, r.handled)}
	case r.requesting > 0 && dry > patience*limit:
		return &stall{what: fmt.Sprintf("%d requests are pending and nobody has left the critical section for %v, "+
			"though messages flow; sent %d, handled %d", r.requesting, patience*limit, r.sent, r.handled)}
	case !p.lossy && r.served() && r.sent != r.handled && still > limit:
		what := "lost"
		if r.handled > r.sent {
			what = "duplicated"
		}
		return &stall{unquiet: true, what: fmt.Sprintf("messages were %s: %d were sent and %d handled, and nothing has moved for %v",
			what, r.sent, r.handled, limit)}
	}
	return nil
}

// events fetches what was recorded, chunk by chunk, from all workers at once.
func (c *coordinator) events(ctx context.Context, reports []control.Reply) error {
	if c.opt.Recorded == nil {
		return nil
	}
	c.warn("the run was recorded, which slows its nodes: do not compare its times with those of other runs")
	streams := make([][]recording.Stream, len(reports))
	errs := make([]error, len(reports))
	var wg sync.WaitGroup
	for i, report := range reports {
		wg.Go(func() { streams[i], errs[i] = c.eventsOf(ctx, report) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	var kept recording.Kept
	for i, report := range reports {
		for k, r := range report.Recorded {
			kept.Add(streams[i][k], r.Dropped, r.Until)
		}
	}
	c.opt.Recorded(kept)
	return nil
}

func (c *coordinator) eventsOf(ctx context.Context, report control.Reply) ([]recording.Stream, error) {
	var streams []recording.Stream
	for _, r := range report.Recorded {
		var s recording.Stream
		for k := range r.Chunks {
			reply, err := c.call(ctx, report.Worker, control.Command{Op: control.OpEvents, Nodes: []dme.NodeID{r.Node}, Chunk: k})
			if err != nil {
				return nil, fmt.Errorf("events recorded by %s: %w", c.name(report.Worker), err)
			}
			s = append(s, reply.Entries)
		}
		streams = append(streams, s)
	}
	return streams, nil
}
