// Package renew keeps the lease of a lock alive while it is held.
package renew

import (
	"context"
	"sync"
	"time"
)

// Renewal extends a lease again and again.
type Renewal struct {
	end  context.CancelFunc
	done sync.WaitGroup
}

// Start calls extend three times in the length of a lease, until it fails or the renewal is ended.
func Start(lease time.Duration, extend func(context.Context) error) *Renewal {
	ctx, end := context.WithCancel(context.Background())
	r := &Renewal{end: end}
	r.done.Go(func() {
		every := time.NewTicker(lease / 3)
		defer every.Stop()
		for {
			select {
			case <-every.C:
				if extend(ctx) != nil {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	})
	return r
}

// End ends it, and returns once extend is not being called any more.
func (r *Renewal) End() {
	r.end()
	r.done.Wait()
}
