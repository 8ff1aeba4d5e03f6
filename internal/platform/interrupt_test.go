package platform

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestDo(t *testing.T) { synctest.Test(t, testDo) }

func testDo(t *testing.T) {
	fault := errors.New("fault")
	if x, err := Interruptible(t.Context(), func() (int, error) { return 3, fault }); x != 3 || err != fault {
		t.Errorf("%d, %v", x, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	forever := make(chan struct{})
	if _, err := Interruptible(ctx, func() (int, error) {
		cancel()
		<-forever
		return 3, nil
	}); err != context.Canceled {
		t.Errorf("given up with %v", err)
	}
	close(forever)
	if err := Await(ctx, func() error { panic("begun although it is over") }); err != context.Canceled {
		t.Errorf("not begun: %v", err)
	}
}

// TestInOrder has work that hears of the end by itself end in order.
func TestInOrder(t *testing.T) { synctest.Test(t, testInOrder) }

func testInOrder(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	if x, err := Interruptible(ctx, func() (int, error) {
		cancel()
		<-ctx.Done()
		time.Sleep(patience / 2) // in the time of the test
		return 3, nil
	}); x != 3 || err != nil {
		t.Errorf("%d, %v", x, err)
	}
}

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
