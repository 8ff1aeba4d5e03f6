package coordinator

import (
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"dmebench/runs"
)

// attack is strangers who keep connections open. Those that are thrown out come again.
type attack struct {
	ctx     context.Context
	cancel  func()
	running sync.WaitGroup
	refused atomic.Uint64 // connections that were ended by who listens
}

func newAttack(t *testing.T) *attack {
	ctx, cancel := context.WithCancel(t.Context())
	return &attack{ctx: ctx, cancel: cancel}
}

func (a *attack) end() {
	a.cancel()
	a.running.Wait()
}

// on opens so many connections to an address, and returns when they are there. Most say
// nothing, some say a byte now and then, of what a client of NATS would say or a worker,
// and some say garbage.
func (a *attack) on(address string, n int) {
	var there sync.WaitGroup
	there.Add(n)
	for i := range n {
		a.running.Go(func() {
			arrived := sync.OnceFunc(there.Done)
			defer arrived()
			for a.ctx.Err() == nil {
				var d net.Dialer
				c, err := d.DialContext(a.ctx, "tcp", address)
				if err != nil {
					return
				}
				arrived()
				stop := context.AfterFunc(a.ctx, func() { c.Close() })
				switch i % 25 {
				case 0:
					a.dribble(c, `CONNECT {"auth_token":"`+strings.Repeat("x", 1000))
				case 1:
					a.dribble(c, "dmebench\x02"+strings.Repeat("x", 1000))
				case 2:
					_, _ = io.WriteString(c, strings.Repeat("garbage\r\n", 100))
				}
				_, _ = io.Copy(io.Discard, c) // until it is hung up
				if stop() {
					a.refused.Add(1)
				}
				c.Close()
				a.pause() // they do not take the processors
			}
		})
	}
	there.Wait()
}

// dribble says a byte at a time, until nobody listens.
func (a *attack) dribble(c net.Conn, what string) {
	for i := range what {
		if _, err := io.WriteString(c, what[i:i+1]); err != nil {
			return
		}
		a.pause()
	}
}

func (a *attack) pause() {
	select {
	case <-a.ctx.Done():
	case <-time.After(20 * time.Millisecond):
	}
}

// Strangers at all ports of a run, from before its workers come until it is over,
// do not disturb it.
func TestStrangersDoNotDisturbARun(t *testing.T) {
	strangers := crowd
	var r syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r); err != nil {
		t.Fatal(err)
	}
	strangers = int(min(uint64(strangers), uint64(r.Cur)/8)) // two descriptors each, in this process
	c, err := start(t.Context(), resolve(t, runs.Spec{
		Algorithm: "ricart-agrawala", Nodes: 4, Transport: "nats", Requests: 400, CS: "0",
	}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.end()
	atk := newAttack(t)
	defer atk.end()
	for _, url := range []string{c.data.broker.URL, c.broker.Broker().URL} {
		atk.on(strings.TrimPrefix(url, "nats://"), strangers/2)
	}
	got, err := c.live(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got.Status != runs.OK || got.Entries != 400 || got.Safety.Violations != 0 || got.Wire.Refused < uint64(strangers) {
		t.Errorf("status %s: %s; %d entries, %d violations, %d refused",
			got.Status, got.Error, got.Entries, got.Safety.Violations, got.Wire.Refused)
	}
}
