package worker

import (
	"context"
	"errors"
	"testing"
	"time"

	"dmebench/internal/platform/clock"
	"dmebench/internal/runtime/control"
)

// A worker whose coordinator never answers ends. One that is refused says so: its coordinator ends it.
func TestAWorkerWithoutALease(t *testing.T) {
	for _, refused := range []bool{false, true} {
		ended := false
		w := &worker{
			clock: clock.New(), assigned: &control.Assignment{Lease: 80 * time.Millisecond}, exit: func(string) { ended = true },
			renew: func(ctx context.Context) (bool, error) {
				if refused {
					return false, nil
				}
				<-ctx.Done()
				return false, ctx.Err()
			},
		}
		if err := w.openLease(); err == nil || errors.Is(err, errRefused) != refused || ended == refused {
			t.Errorf("refused %v: ended %v, %v", refused, ended, err)
		}
	}
}
