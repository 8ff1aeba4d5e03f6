package tcp

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// TestManyDialAtOnce lets more processes dial at once than may be pending,
// where some of which strangers hold: all get in.
func TestManyDialAtOnce(t *testing.T) {
	l := defaultLimits()
	l.pending, l.minimum = 2, 20*time.Millisecond
	tr, _, _ := alone(t, l)
	for range 6 {
		conn, err := net.Dial("tcp", tr.Addr())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	const crowd = 40
	done := make(chan error, crowd)
	for range crowd {
		go func() {
			for {
				conn, err := net.Dial("tcp", tr.Addr())
				if err != nil {
					done <- err
					return
				}
				err = introduce(conn, &testKey, ends{3, 1, 1, 1})
				conn.Close()
				if !errors.Is(err, errUnanswered) {
					done <- err
					return
				}
			}
		}()
	}
	for range crowd {
		if err := next(t, "a process to get in", done); err != nil {
			t.Error(err)
		}
	}
	tr.Close()
	if got := tr.Counters().RefusedConns; got < 6 {
		t.Errorf("%d connections refused, want at least the 6 strangers", got)
	}
}

// TestStrangersAreTurnedAway waits for the handshake's deadline.
func TestStrangersAreTurnedAway(t *testing.T) {
	l := defaultLimits()
	l.handshake = 10 * time.Millisecond
	tr, _, _ := alone(t, l)
	conn, err := net.Dial("tcp", tr.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.ReadAll(conn); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("a silent stranger is kept")
	}
	if got := tr.Counters().RefusedConns; got != 1 {
		t.Errorf("%d connections refused, want 1", got)
	}
}
