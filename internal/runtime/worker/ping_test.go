package worker

import (
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/internal/platform/clock"
	"dmebench/internal/runtime/control"
	"dmebench/transport"
)

// elsewhere answers every ping at once from a host whose clock is ahead.
type elsewhere struct {
	transport.Transport
	of    *worker
	ahead time.Duration
	sent  []int64 // when each ping was, by w's clock
}

func (e *elsewhere) Flush() error { return nil }

func (e *elsewhere) Send(from, to dme.NodeID, frame []byte) error {
	var m dme.Message
	if err := dme.DecodeMessage(frame, &m, nil); err != nil {
		return err
	}
	e.sent = append(e.sent, int64(m.Clock))
	answer := dme.Message{Flags: pongFlag, Clock: m.Clock, Num: uint64(e.of.clock.Now() + int64(e.ahead))}
	e.of.pinged(to, from, dme.AppendMessage(nil, &answer))
	return nil
}

// The delay of a message between hosts does not know their clocks: neither how far
// one is ahead, nor that it is behind.
func TestDelaysBetweenHostsNeedNoCommonClock(t *testing.T) {
	const hour = time.Hour
	for _, ahead := range []time.Duration{0, hour, -hour} {
		w := &worker{clock: clock.New()}
		w.transport = &elsewhere{of: w, ahead: ahead}
		ask := control.Command{Pairs: [][2]uint32{{1, 2}, {1, 3}}, Count: 5, Within: hour, Wait: hour, Halves: true}
		begin := w.clock.Now()
		delays, lost, err := w.ping(ask)
		took := w.clock.Now() - begin
		if err != nil || lost > 0 || len(delays) != 10 {
			t.Fatalf("%d delays, %d lost, %v", len(delays), lost, err)
		}
		for _, d := range delays {
			if d < 0 || d > took {
				t.Errorf("a clock %v ahead makes a delay of %v", ahead, time.Duration(d))
			}
		}
		// On one host the way there alone counts, by its one clock.
		ask.Halves = false
		if delays, _, _ = w.ping(ask); time.Duration(delays[0]).Round(hour) != ahead {
			t.Errorf("a clock %v ahead makes a difference of %v", ahead, time.Duration(delays[0]))
		}
	}
}

// Spaced pings leave the processes asleep for as long as they are told, and every
// one of them counts.
func TestSpacedPingsAreApart(t *testing.T) {
	w := &worker{clock: clock.New()}
	distant := &elsewhere{of: w}
	w.transport = distant
	var err error
	if w.alarm, err = newAlarm(w.clock, 0, w.fire); err != nil {
		t.Fatal(err)
	}
	defer w.alarm.close()
	const apart = 2 * time.Millisecond
	asked := w.clock.Now()
	delays, lost, err := w.ping(control.Command{
		Pairs: [][2]uint32{{1, 2}, {1, 3}}, Count: 3, Apart: apart, Within: time.Hour, Wait: time.Hour,
	})
	if err != nil || lost > 0 || len(delays) != 6 || len(distant.sent) != 6 {
		t.Fatalf("%d delays of %d pings, %d lost, %v", len(delays), len(distant.sent), lost, err)
	}
	before := asked
	for i, at := range distant.sent {
		if gap := time.Duration(at - before); gap < apart {
			t.Errorf("ping %d comes %v after what was before it, want at least %v", i, gap, apart)
		}
		before = at
	}
}
