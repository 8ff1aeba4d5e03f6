package interrupt

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		grace, cancel := Grace(ctx, time.Minute)
		defer cancel()
		time.Sleep(time.Hour) // in the time of the test
		if grace.Err() != nil {
			t.Error("it ended before what it is a grace of")
		}
		end()
		begin := time.Now()
		<-grace.Done()
		if took := time.Since(begin); took != time.Minute {
			t.Errorf("a grace of a minute took %v", took)
		}
	})
}

func TestInsistence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		insisted := make(chan struct{})
		ctx, end := context.WithCancel(WithInsistence(t.Context(), insisted))
		grace, cancel := Grace(ctx, time.Minute)
		defer cancel()
		end()
		time.Sleep(time.Second)
		if grace.Err() != nil || Insisted(grace) {
			t.Error("it ended before anybody insisted")
		}
		close(insisted)
		begin := time.Now()
		<-grace.Done()
		if took := time.Since(begin); took != 0 || !Insisted(grace) || !Insisted(ctx) {
			t.Errorf("it took %v to end", took)
		}
	})
}

// TestGraceLeavesNothing has synctest find a goroutine that waits for ever.
func TestGraceLeavesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, cancel := Grace(context.Background(), time.Minute)
		cancel()
	})
}
