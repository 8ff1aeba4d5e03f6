package platform

import (
	"cmp"
	"context"
	"errors"
	"time"
)

// patience is how long work that hears of the end of a context by itself has to
// end in order.
const patience = 500 * time.Millisecond

// Interruptible returns what f returns or, soon after the end of ctx, ctx's error: f then goes on,
// and its result is dropped.
func Interruptible[T any](ctx context.Context, f func() (T, error)) (T, error) {
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

func Await(ctx context.Context, f func() error) error {
	_, err := Interruptible(ctx, func() (struct{}, error) { return struct{}{}, f() })
	return err
}

// Ahead returns a function that returns the next result, in order. Pieces of work begin ahead of
// being asked for, in order, too: atOnce at a time, and up to most before the first of them was asked
// for. piece returns the i-th, nil if there is none that could begin. After the end of its ctx next
// does not wait.
func Ahead[T any](most, atOnce int, piece func(i int) func() (T, error)) (next func(ctx context.Context) (T, error)) {
	type outcome struct {
		value T
		err   error
	}
	begun, waiting, slots := 0, make(chan func(), most), make(chan struct{}, atOnce)
	var results []chan outcome
	return func(ctx context.Context) (none T, err error) {
		for len(results) < most && ctx.Err() == nil {
			work := piece(begun)
			if work == nil {
				break
			}
			done := make(chan outcome, 1)
			waiting <- func() {
				value, err := work()
				done <- outcome{value, err}
			}
			go func() {
				slots <- struct{}{}
				(<-waiting)() // the first that has not begun, whichever that is
				<-slots
			}()
			results, begun = append(results, done), begun+1
		}
		if len(results) == 0 {
			return none, cmp.Or(ctx.Err(), errors.New("there is no more work"))
		}
		done := results[0]
		results = results[1:]
		select {
		case o := <-done:
			return o.value, o.err
		case <-ctx.Done():
			return none, ctx.Err()
		}
	}
}

type insistence struct{}

// WithInsistence returns a context that knows of a channel which is closed when the
// user insists on the end: once more after ctx was ended.
func WithInsistence(ctx context.Context, insisted <-chan struct{}) context.Context {
	return context.WithValue(ctx, insistence{}, insisted)
}

func Insisted(ctx context.Context) bool {
	select {
	case <-insisted(ctx):
		return true
	default:
		return false
	}
}

func insisted(ctx context.Context) <-chan struct{} {
	c, _ := ctx.Value(insistence{}).(<-chan struct{})
	return c
}

// Grace returns a context for what is still to be done once ctx has ended: it ends
// by d later than that, or as soon as the user insists.
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
