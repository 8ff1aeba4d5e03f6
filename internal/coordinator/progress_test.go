package coordinator

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// since returns a progress that has seen nothing move for that long.
func since(r sums, ago time.Duration) *progress {
	p := newProgress(time.Second, 5*time.Second)
	p.last = r
	p.moved, p.entered = p.moved.Add(-ago), p.entered.Add(-ago)
	return p
}

func TestProgress(t *testing.T) {
	waiting := sums{sent: 7, handled: 7, requests: 3, entries: 1, requesting: 2}
	inside := waiting
	inside.inside, inside.requesting = 1, 1
	over := sums{sent: 7, handled: 6, requests: 3, entries: 3}
	thinking := sums{sent: 7, handled: 7, requests: 3, entries: 3, toCome: 1}
	for _, c := range []struct {
		name string
		at   sums
		ago  time.Duration
		want string // "" for no complaint
	}{
		{"waiting for less than the limit", waiting, 900 * time.Millisecond, ""},
		{"waiting for longer", waiting, 1100 * time.Millisecond, "the critical section is free"},
		{"a long critical section", inside, 5 * time.Second, ""},
		{"a critical section that does not end", inside, 7 * time.Second, "longer than the workload says"},
		{"a message is on its way after all was served", over, 900 * time.Millisecond, ""},
		{"it never arrives", over, 2 * time.Second, "messages were lost"},
		{"one arrived twice", sums{sent: 6, handled: 7, requests: 3, entries: 3}, 2 * time.Second, "messages were duplicated"},
		{"everybody thinks", thinking, time.Hour, ""},
	} {
		err := since(c.at, c.ago).observe(c.at)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	// Something moves, but nobody ever enters.
	p := since(waiting, 11*time.Second)
	p.moved = time.Now()
	moving := waiting
	moving.sent++
	var s *stall
	if err := p.observe(moving); !errors.As(err, &s) || !strings.Contains(err.Error(), "though messages flow") {
		t.Errorf("messages flow without an entry: %v", err)
	}
}
