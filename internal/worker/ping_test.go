package worker

import (
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/internal/clock"
	"dmebench/internal/control"
	"dmebench/transport"
)

// elsewhere answers every ping at once from a host whose clock is ahead.
type elsewhere struct {
	transport.Transport
	of    *worker
	ahead time.Duration
}

func (e *elsewhere) Flush() error { return nil }

func (e *elsewhere) Send(from, to dme.NodeID, frame []byte) error {
	var m dme.Message
	if err := dme.DecodeMessage(frame, &m, nil); err != nil {
		return err
	}
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
