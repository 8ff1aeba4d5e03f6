package rawio

import (
	"testing"
	"time"
)

func TestTimerFiresNeverEarlyAndAsOftenAsItIsSet(t *testing.T) {
	timer, err := NewTimer()
	if err != nil {
		t.Fatal(err)
	}
	defer timer.Close()
	for _, d := range []time.Duration{-time.Second, 0, 1, 100 * time.Microsecond, 3 * time.Millisecond} {
		for range 2 * inARow / 5 { // quick calls and ordinary ones
			begin := time.Now()
			timer.Set(d)
			if !timer.Wait() {
				t.Fatal("the timer says that it was closed")
			}
			if waited := time.Since(begin); waited < d {
				t.Fatalf("fired after %v, set to %v", waited, d)
			}
		}
	}
}

func TestClosingATimerEndsWaits(t *testing.T) {
	timer, err := NewTimer()
	if err != nil {
		t.Fatal(err)
	}
	timer.Set(time.Hour)
	waited := make(chan bool)
	go func() { waited <- timer.Wait() }()
	timer.Close()
	if <-waited {
		t.Error("a timer that was closed has fired")
	}
	if timer.Wait() {
		t.Error("a closed timer has fired")
	}
}
