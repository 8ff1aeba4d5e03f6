package coordinator

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"dmebench/dme"
	"dmebench/internal/control"
	"dmebench/internal/eventlog"
)

// events fetches what was recorded, chunk by chunk, from all workers at once.
func (c *coordinator) events(ctx context.Context, reports []control.Reply) error {
	if c.opt.Recorded == nil {
		return nil
	}
	c.warn("the run was recorded, which slows its nodes: do not compare its times with those of other runs")
	streams := make([][]eventlog.Stream, len(reports))
	errs := make([]error, len(reports))
	var wg sync.WaitGroup
	for i, report := range reports {
		wg.Go(func() { streams[i], errs[i] = c.eventsOf(ctx, report) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	var kept eventlog.Kept
	for i, report := range reports {
		for k, r := range report.Recorded {
			kept.Add(streams[i][k], r.Dropped, r.Until)
		}
	}
	c.opt.Recorded(kept)
	return nil
}

func (c *coordinator) eventsOf(ctx context.Context, report control.Reply) ([]eventlog.Stream, error) {
	var streams []eventlog.Stream
	for _, r := range report.Recorded {
		var s eventlog.Stream
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
