package tcp

import (
	"io"
	"net"
	"sync/atomic"
	"time"

	"dmebench/algorithms"
	"dmebench/transport"
)

// token counts the rounds of a token at the first process of a ring, which
// takes it out when the time is over.
type token struct {
	over   atomic.Bool
	rounds atomic.Int64
	back   chan struct{}
}

// pass reports whether the token goes on.
func (k *token) pass() bool {
	k.rounds.Add(1)
	if k.over.Load() {
		k.back <- struct{}{}
		return false
	}
	return true
}

func (k *token) measure(d time.Duration, processes int, inject func()) float64 {
	k.over.Store(false)
	k.rounds.Store(0)
	begin := time.Now()
	inject()
	time.Sleep(d)
	k.over.Store(true)
	<-k.back
	return float64(k.rounds.Load()) * float64(processes) / time.Since(begin).Seconds()
}

func transportRing(o benchOrder, exchange exchange) (func(time.Duration) float64, error) {
	self := algorithms.NodeID(o.Index + 1)
	next := algorithms.NodeID((o.Index+1)%o.Processes + 1)
	k := token{back: make(chan struct{})}
	tr, err := openBench(o, transport.MaxBacklog, exchange, next, func(tr *Transport) frameFunc {
		return func(_, _ algorithms.NodeID, b []byte) {
			if self != 1 || k.pass() {
				tr.Send(self, next, b)
			}
		}
	})
	return func(d time.Duration) float64 {
		return k.measure(d, o.Processes, func() {
			tr.Send(self, next, make([]byte, messageSize))
			tr.Flush()
		})
	}, err
}

func bareRing(o benchOrder, exchange exchange) (func(time.Duration) float64, error) {
	prev, next, err := bareNeighbours(o, exchange)
	if err != nil {
		return nil, err
	}
	k := token{back: make(chan struct{})}
	go func() {
		b := make([]byte, messageSize)
		for {
			if _, err := io.ReadFull(prev, b); err != nil {
				return
			}
			if o.Index != 0 || k.pass() {
				next.Write(b)
			}
		}
	}()
	return func(d time.Duration) float64 {
		return k.measure(d, o.Processes, func() { next.Write(make([]byte, messageSize)) })
	}, nil
}

// bareNeighbours connects to the next process and accepts the previous one.
func bareNeighbours(o benchOrder, exchange exchange) (prev, next net.Conn, err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	book, err := exchange(listener.Addr().String())
	if err != nil {
		return nil, nil, err
	}
	if next, err = net.Dial("tcp", book[(o.Index+1)%o.Processes]); err != nil {
		return nil, nil, err
	}
	prev, err = listener.Accept()
	return prev, next, err
}
