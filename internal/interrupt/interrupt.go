// Package interrupt lets what knows nothing of a context be given up: the
// planning of a run, the reading of a pipe to which nobody writes.
package interrupt

import (
	"context"
	"time"
)

// patience is how long work that hears of the end of a context by itself has to
// end in order.
const patience = 500 * time.Millisecond

// Do returns what f does or, soon after the end of ctx, ctx's error. In the
// latter case f goes on, and nobody learns what becomes of it: it may leave
// nothing behind that is half done when the process ends.
func Do[T any](ctx context.Context, f func() (T, error)) (T, error) {
	var none T
	if err := ctx.Err(); err != nil {
		return none, ctx.Err()
	}
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		value, err := f()
		done <- outcome{value, err}
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
	}
	select {
	case o := <-done:
		return o.value, o.err
	case <-time.After(patience):
		return none, ctx.Err()
	}
}

// Wait is Do for what has no value.
func Wait(ctx context.Context, f func() error) error {
	_, err := Do(ctx, func() (struct{}, error) { return struct{}{}, f() })
	return err
}
