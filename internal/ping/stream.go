package ping

import (
	"errors"
	"time"
)

const (
	windowBytes = 1 << 20 // of a stream, under way
	mostWindow  = 1 << 15 // messages
	leastWindow = 1 << 6
	// lossyWindow fits into the kernel's usual buffers even where each message
	// has a datagram to itself.
	lossyWindow = 1 << 8

	reports = 8   // of progress, in a window
	batch   = 256 // messages between two flushes, as in a transport's batch

	// lostAfter is how long a sender waits for news of a lossy stream before it
	// takes everything under way for lost.
	lostAfter = 50 * time.Millisecond
)

var errLost = errors.New("ping: the receiver of a stream does not confirm it")

// window returns how many messages of a stream may be under way. It is the same
// for both sides of a comparison where the network loses nothing.
func window(size int, lossy bool) uint64 {
	if lossy {
		return lossyWindow
	}
	return uint64(min(max(windowBytes/size, leastWindow), mostWindow))
}

// report tells the first process how much of the stream has arrived; serial is
// that of the message that asks, 0 where none does.
func (p *peer) report(serial uint64) {
	p.reply[0] = progress
	setNumber(p.reply, numberAt, p.taken)
	setNumber(p.reply, arrivedAt, serial)
	p.send(0, p.reply)
}

// stream sends messages for so long, and counts those that have arrived.
func (p *peer) stream(d time.Duration) (Values, error) {
	m := newMessage(data, p.order.Size)
	before := p.arrived.Load()
	chunk := min(batch, p.window/4)
	var sent, writtenOff uint64
	begin := time.Now()
	for time.Since(begin) < d {
		for sent+chunk > p.arrived.Load()-before+writtenOff+p.window {
			if !p.hear() {
				if !p.end.lossy() {
					return nil, errLost
				}
				writtenOff = sent - (p.arrived.Load() - before)
			}
		}
		for range chunk {
			if err := p.end.stream(1, m); err != nil {
				return nil, err
			}
		}
		if err := p.end.flush(); err != nil {
			return nil, err
		}
		sent += chunk
	}
	if err := p.finish(); err != nil {
		return nil, err
	}
	elapsed := time.Since(begin).Seconds()
	arrived := float64(p.arrived.Load() - before)
	return Values{Messages: arrived, MessageRate: arrived / elapsed, Lost: float64(sent) - arrived}, nil
}

// finish asks for how much has arrived, and waits for the answer.
func (p *peer) finish() error {
	p.serial++
	m := newMessage(last, p.order.Size)
	setNumber(m, arrivedAt, p.serial)
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		if err := p.end.stream(1, m); err != nil {
			return err
		}
		if err := p.end.flush(); err != nil {
			return err
		}
		for p.answered.Load() != p.serial && p.hear() {
		}
		if p.answered.Load() == p.serial {
			return nil
		}
	}
	return errLost
}

// hear waits for news from the receiver; false where there was none for long.
func (p *peer) hear() bool {
	wait := patience
	if p.end.lossy() {
		wait = lostAfter
	}
	timeout := time.NewTimer(wait)
	defer timeout.Stop()
	select {
	case <-p.told:
		return true
	case <-timeout.C:
		return false
	}
}
