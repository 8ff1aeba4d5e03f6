package tcp

import (
	"io"
	"net"
	"runtime"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/transport"
	"dmebench/transport/peers"
	"dmebench/transport/transporttest"
)

// strangers are what those do who do not know the run's key, once connected.
var strangers = map[string]func(net.Conn){
	"silent":     func(net.Conn) {},
	"noisy":      func(c net.Conn) { io.WriteString(c, "GET / HTTP/1.1\r\nHost: you\r\n\r\n0123456789abcdef") },
	"hangs up":   func(c net.Conn) { c.Close() },
	"of another": func(c net.Conn) { key := transporttest.NewKey(); introduce(c, &key, ends{3, 1, 1, 1}) },
}

// A flood of connections without the run's key is refused, each counted once.
// What was connected before goes on meanwhile, and of the strangers nothing is
// left: no connection, no place among the pending, no goroutine.
func TestFloodOfStrangers(t *testing.T) {
	const each = 150
	l := defaultLimits()
	l.pending, l.minimum, l.handshake = 16, time.Millisecond, time.Minute
	tr, e, _ := alone(t, l)
	old := dialAs(t, tr, 3)
	before := runtime.NumGoroutine()
	say := func(conn net.Conn, word string) {
		t.Helper()
		write(t, conn, peers.AppendFrame(nil, 3, 1, []byte(word)))
		if got := next(t, "a frame", e.Frames); got != "3>1 "+word {
			t.Errorf("%q", got)
		}
	}
	for i := range each {
		for _, act := range strangers {
			conn, err := net.Dial("tcp", tr.Addr())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			go act(conn)
		}
		if i%10 == 0 {
			say(old, "during the flood")
		}
	}
	// Those that stay silent keep the last places.
	all := uint64(each * len(strangers))
	waitFor(t, "the refusals", func() bool { return tr.Counters().RefusedConns >= all-uint64(l.pending) })
	say(old, "after the flood")
	tr.admission.mu.Lock()
	if n := len(tr.admission.pending); n > l.pending {
		t.Errorf("%d connections are pending, at most %d allowed", n, l.pending)
	}
	for _, v := range tr.admission.pending {
		v.conn.Close() // their minute is over
	}
	tr.admission.mu.Unlock()
	waitFor(t, "the last refusals", func() bool { return tr.Counters().RefusedConns >= all })
	if got := tr.Counters().RefusedConns; got != all {
		t.Errorf("%d refused out of %d", got, all)
	}
	waitFor(t, "their goroutines to end", func() bool { return runtime.NumGoroutine() <= before })
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if len(tr.inbounds) != 1 || len(tr.admission.pending) != 0 {
		t.Errorf("%d connections are kept and %d wait, of one process", len(tr.inbounds), len(tr.admission.pending))
	}
	if len(e.Downs) != 0 {
		t.Errorf("Down: %v", <-e.Downs)
	}
}

func waitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// BenchmarkRefusal is what a stranger's connection costs, both sides together.
func BenchmarkRefusal(b *testing.B) {
	tr, err := Listen(transport.Config{Listen: "127.0.0.1:0", Local: []dme.NodeID{1}, Nodes: 4, Key: testKey}, Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer tr.Close()
	b.ReportAllocs()
	for b.Loop() {
		conn, err := net.Dial("tcp", tr.Addr())
		if err != nil {
			b.Fatal(err)
		}
		strangers["noisy"](conn)
		io.Copy(io.Discard, conn) // until it is refused
		conn.(*net.TCPConn).SetLinger(0)
		conn.Close()
	}
}
