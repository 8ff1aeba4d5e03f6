package interrupt

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
	if x, err := Do(t.Context(), func() (int, error) { return 3, fault }); x != 3 || err != fault {
		t.Errorf("%d, %v", x, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	forever := make(chan struct{})
	if _, err := Do(ctx, func() (int, error) {
		cancel()
		<-forever
		return 3, nil
	}); err != context.Canceled {
		t.Errorf("given up with %v", err)
	}
	close(forever)
	if err := Wait(ctx, func() error { panic("begun although it is over") }); err != context.Canceled {
		t.Errorf("not begun: %v", err)
	}
}

// TestInOrder has work that hears of the end by itself end in order.
func TestInOrder(t *testing.T) { synctest.Test(t, testInOrder) }

func testInOrder(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	if x, err := Do(ctx, func() (int, error) {
		cancel()
		<-ctx.Done()
		time.Sleep(patience / 2) // in the time of the test
		return 3, nil
	}); x != 3 || err != nil {
		t.Errorf("%d, %v", x, err)
	}
}
