package worker

import (
	"fmt"
	"sync"
	"time"

	"dmebench/dme"
)

// Pings measure T, the one-way delay of a frame between two processes of this
// very run, through the same transport as the algorithm's messages. All
// processes of a host read one clock, so a delay is a difference of two times.

const (
	pingFlag = 1 // Clock: when it was sent
	pongFlag = 2 // Clock: as in the ping; Num: when that arrived

	pingTimeout = time.Second // a frame that takes longer counts as lost
	coldPings   = 4           // not counted: the first ones meet cold caches and sleeping threads
	edgeSample  = 4           // edges that a node offers for pings
)

// pings holds the answers that are awaited.
type pings struct {
	mu   sync.Mutex
	pong chan [2]int64 // sent, arrived
}

// ping sends count pings along each pair, one at a time, and returns their
// one-way delays in nanoseconds.
func (w *worker) ping(pairs [][2]uint32, count int) ([]int64, error) {
	pong := make(chan [2]int64, 1)
	w.pings.mu.Lock()
	w.pings.pong = pong
	w.pings.mu.Unlock()
	timeout := time.NewTimer(pingTimeout)
	defer timeout.Stop()

	var delays []int64
	var frame []byte
	for _, pair := range pairs {
		from, to := dme.NodeID(pair[0]), dme.NodeID(pair[1])
		for i := range count + coldPings {
			sent := w.clock.Now()
			frame = dme.AppendMessage(frame[:0], &dme.Message{Flags: pingFlag, Clock: uint64(sent)})
			if err := w.transport.Send(from, to, frame); err != nil {
				return nil, fmt.Errorf("ping node %d: %w", to, err)
			}
			w.flush()
			timeout.Reset(pingTimeout)
			for answered := false; !answered; {
				select {
				case p := <-pong:
					answered = p[0] == sent // else an answer that came too late
					if answered && i >= coldPings {
						delays = append(delays, p[1]-p[0])
					}
				case <-timeout.C:
					answered = true
				}
			}
		}
	}
	return delays, nil
}

// pinged handles a frame of the runtime.
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
		pong := w.pings.pong
		w.pings.mu.Unlock()
		select {
		case pong <- [2]int64{int64(m.Clock), int64(m.Num)}:
		default:
		}
	}
}

// sampleEdges returns some ordered pairs of a local and a distant node that are
// going to talk.
func (w *worker) sampleEdges() [][2]uint32 {
	var edges [][2]uint32
	nodes := w.job.Spec.Nodes
	linked, isLinked := w.job.System.(dme.Linked)
	w.each(func(n *node) {
		var peers []dme.NodeID
		if isLinked {
			peers = linked.Peers(n.id)
		} else {
			// Anybody may talk to anybody: neighbours in the ring of numbers.
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
