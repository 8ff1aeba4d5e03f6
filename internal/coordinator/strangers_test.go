package coordinator

import (
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"

	"dmebench/result"
)

// crowd keeps so many connections to an address open that say nothing, until ctx ends.
// Those that are thrown out come again.
func crowd(ctx context.Context, address string, n int) (wait func()) {
	var all sync.WaitGroup
	var there sync.WaitGroup
	there.Add(n)
	for range n {
		all.Go(func() {
			arrived := sync.OnceFunc(there.Done)
			defer arrived()
			for ctx.Err() == nil {
				var d net.Dialer
				c, err := d.DialContext(ctx, "tcp", address)
				if err != nil {
					return
				}
				arrived()
				stop := context.AfterFunc(ctx, func() { c.Close() })
				_, _ = io.Copy(io.Discard, c) // until the server hangs up
				stop()
				c.Close()
			}
		})
	}
	there.Wait()
	return all.Wait
}

// Strangers at all ports of a run, from before its workers come until it is over,
// do not disturb it.
func TestStrangersDoNotDisturbARun(t *testing.T) {
	strangers := 2000
	var r syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r); err != nil {
		t.Fatal(err)
	}
	strangers = int(min(uint64(strangers), uint64(r.Cur)/8)) // two descriptors each, in this process
	c, err := start(t.Context(), resolve(t, result.Spec{
		Algorithm: "ricart-agrawala", Nodes: 4, Transport: "nats", Requests: 400, CS: "0",
	}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.end()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, url := range []string{c.data.broker.URL, c.broker.Broker().URL} {
		wait := crowd(ctx, strings.TrimPrefix(url, "nats://"), strangers/2)
		defer wait()
	}
	defer cancel()
	got, err := c.live(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got.Status != result.OK || got.Entries != 400 || got.Safety.Violations != 0 || got.Wire.Refused != 0 {
		t.Errorf("status %s: %s; %d entries, %d violations, %d refused",
			got.Status, got.Error, got.Entries, got.Safety.Violations, got.Wire.Refused)
	}
}
