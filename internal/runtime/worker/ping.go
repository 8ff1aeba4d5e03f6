package worker

import (
	"fmt"
	"sync"
	"time"

	"dmebench/dme"
	"dmebench/internal/runtime/control"
)

// Pings measure T, the one-way delay of a frame between two processes of this very run, through the
// same transport as the algorithm's messages. All processes of a host read one clock, so a delay is
// a difference of two times. Between hosts it is half of a round trip, which one clock has timed.
//
// Pings are sent back to back, while both processes and their cores are awake, or spaced as the
// handovers of the run are: the process that enters next has slept for as long as the critical
// section lasted, and waking it is part of the delay.

const (
	pingFlag = 1 // Clock: when it was sent
	pongFlag = 2 // Clock: as in the ping; Num: when that arrived

	coldPings  = 4 // not counted: the first ones meet cold caches and sleeping threads
	edgeSample = 4 // edges that a node offers for pings

	// Once it is known how long answers take, one that takes this many times as long
	// is not waited for, so that on links that lose the time is not spent on waiting.
	overdue      = 20
	leastOverdue = 50 * time.Millisecond
)

type pings struct {
	mu   sync.Mutex
	pong chan pong
	due  chan struct{} // by the alarm: it is time for the next ping
}

// pong is an answer to a ping.
type pong struct {
	sent    int64 // the ping, by the sender's clock
	arrived int64 // the ping, by the answerer's clock
	back    int64 // the answer, by the sender's clock
}

// ping sends as many pings along each pair as c asks for, one at a time, c.Apart after the
// answer to the one before, and none after c.Within. It returns their one-way delays in nanoseconds, and how many were not
// answered within c.Wait.
func (w *worker) ping(c control.Command) (delays []int64, lost int, err error) {
	wait, pong := c.Wait, make(chan pong, 1)
	cold := min(coldPings, c.Count/2)
	if c.Apart > 0 {
		cold = 0 // each of these is meant to meet sleeping threads
	}
	w.pings.mu.Lock()
	w.pings.pong, w.pings.due = pong, make(chan struct{}, 1)
	w.pings.mu.Unlock()
	timeout := time.NewTimer(wait)
	defer timeout.Stop()

	var frame []byte
	var slowest time.Duration
	begin := time.Now()
	for k, pair := range c.Pairs {
		from, to := dme.NodeID(pair[0]), dme.NodeID(pair[1])
		end := c.Within * time.Duration(k+1) / time.Duration(len(c.Pairs)) // each pair has its share of the time
		for i := 0; i < c.Count+cold && time.Since(begin) < end; i++ {
			if c.Apart > 0 {
				w.alarm.add(event{at: w.clock.Now() + int64(c.Apart), due: pingDue})
				<-w.pings.due
			}
			sent := w.clock.Now()
			frame = dme.AppendMessage(frame[:0], &dme.Message{Flags: pingFlag, Clock: uint64(sent)})
			if err := w.transport.Send(from, to, frame); err != nil {
				return delays, lost, fmt.Errorf("ping node %d: %w", to, err)
			}
			w.flush()
			timeout.Reset(wait)
			for answered := false; !answered; {
				select {
				case p := <-pong:
					if answered = p.sent == sent; !answered {
						break // too late
					}
					slowest = max(slowest, time.Duration(w.clock.Now()-sent))
					switch {
					case i < cold:
					case c.Halves:
						delays = append(delays, (p.back-p.sent)/2)
					default:
						delays = append(delays, p.arrived-p.sent)
					}
				case <-timeout.C:
					answered = true
					lost++
				}
				if len(delays) >= coldPings {
					wait = min(wait, max(leastOverdue, c.Told+overdue*slowest))
				}
			}
		}
	}
	return delays, lost, nil
}

func (w *worker) pinged(from, to dme.NodeID, b []byte) {
	arrived := w.clock.Now()
	var m dme.Message
	if err := dme.DecodeMessage(b, &m, nil); err != nil {
		w.fail(fmt.Errorf("node %d: frame from node %d: %w", to, from, err))
		return
	}
	switch m.Flags {
	case pingFlag:
		m.Flags, m.Num = pongFlag, uint64(arrived)
		if err := w.transport.Send(to, from, dme.AppendMessage(nil, &m)); err != nil {
			w.fail(fmt.Errorf("answer to the ping of node %d: %w", from, err))
		}
	case pongFlag:
		w.pings.mu.Lock()
		await := w.pings.pong
		w.pings.mu.Unlock()
		select {
		case await <- pong{sent: int64(m.Clock), arrived: int64(m.Num), back: arrived}:
		default:
		}
	}
}

// sampleEdges returns some ordered pairs of a local and a distant node that are
// going to talk.
func (w *worker) sampleEdges() [][2]uint32 {
	var edges [][2]uint32
	nodes := w.job.Spec.Nodes
	w.each(func(n *node) {
		var peers []dme.NodeID
		if w.job.Algorithm.Peers != nil {
			peers = w.job.Algorithm.Peers(w.job.System, n.id)
		}
		if peers == nil {
			// Any node may talk to any other: neighbours in the ring of numbers.
			for k := 1; k <= edgeSample && k < nodes; k++ {
				peers = append(peers, dme.NodeID((int(n.id)-1+k)%nodes+1))
			}
		}
		found := 0
		for _, peer := range peers {
			if w.nodes[peer] == nil && found < edgeSample {
				edges = append(edges, [2]uint32{uint32(n.id), uint32(peer)})
				found++
			}
		}
	})
	return edges
}
