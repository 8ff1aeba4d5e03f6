package interrupt

import (
	"context"
	"time"
)

type insistence struct{}

// WithInsistence returns a context that knows of a channel which is closed when the
// user insists on the end: once more after ctx was ended.
func WithInsistence(ctx context.Context, insisted <-chan struct{}) context.Context {
	return context.WithValue(ctx, insistence{}, insisted)
}

// Insisted reports whether the user insists on the end of ctx.
func Insisted(ctx context.Context) bool {
	select {
	case <-insisted(ctx):
		return true
	default:
		return false
	}
}

// insisted is nil where nobody could insist.
func insisted(ctx context.Context) <-chan struct{} {
	c, _ := ctx.Value(insistence{}).(<-chan struct{})
	return c
}

// Grace returns a context for what is still to be done once ctx has ended: it ends
// by d later than that, or as soon as the user insists. It has ctx's values.
func Grace(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	grace, cancel := context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer cancel()
		select {
		case <-ctx.Done():
		case <-grace.Done():
			return
		}
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-insisted(ctx):
		case <-grace.Done():
		}
	}()
	return grace, cancel
}
