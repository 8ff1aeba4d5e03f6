package sim

import (
	"context"
	"errors"
	"testing"

	"dmebench/algorithms/suzukikasami"
	"dmebench/internal/live"
	"dmebench/result"
)

// An interrupted simulation tells what was measured until then, if it is asked to.
func TestAnInterruptedSimulation(t *testing.T) {
	job := resolve(t, result.Spec{Nodes: 5, Requests: 1 << 22}, suzukikasami.Algorithm())
	for _, partial := range []bool{true, false} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var seen live.State
		r, err := RunWith(ctx, job, Options{Partial: partial, Progress: func(look func() live.State) {
			if seen = look(); seen.Entries > 10000 {
				cancel()
			}
		}})
		if !partial {
			if !errors.Is(err, context.Canceled) || r != nil {
				t.Errorf("result %v, error %v", r, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if r.Status != result.Failed || !r.Partial || r.Error != "interrupted" || r.Entries < seen.Entries || r.Throughput == nil {
			t.Errorf("status %s, partial %v, error %q, %d entries", r.Status, r.Partial, r.Error, r.Entries)
		}
		p50, ok := seen.Waits.Quantile(0.5)
		if off := p50 - r.WaitingTime.P50; !ok || off > p50/10 || off < -p50/10 {
			t.Errorf("median shown %d, measured %d", p50, r.WaitingTime.P50)
		}
		if seen.Of != 1<<22 || seen.Elapsed <= 0 || seen.Duration != 0 || seen.Waiting < 1 || seen.Waiting > 5 {
			t.Errorf("shown %d of %d, after %v of %v, %d waiting", seen.Entries, seen.Of, seen.Elapsed, seen.Duration, seen.Waiting)
		}
	}
}
