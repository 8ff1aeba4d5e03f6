package nats

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// mute is a broker that answers the first ping, the one of a connection's beginning,
// and no other. It goes on sending something until it is told to be silent.
func mute(t *testing.T, silent *atomic.Bool) (url string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		fmt.Fprint(conn, "INFO {\"server_id\":\"mute\",\"version\":\"2.10.0\",\"proto\":1,\"max_payload\":1048576}\r\n")
		lines := bufio.NewScanner(conn)
		for lines.Scan() && !strings.HasPrefix(lines.Text(), "PING") {
		}
		fmt.Fprint(conn, "PONG\r\n")
		go func() {
			for !silent.Load() {
				if _, err := fmt.Fprint(conn, "+OK\r\n"); err != nil {
					return
				}
				time.Sleep(time.Millisecond)
			}
		}()
		for lines.Scan() {
		}
	}()
	return "nats://" + l.Addr().String()
}

// A connection on which data flows lives, however long an answer takes; one on which
// nothing comes any more is ended.
func TestAConnectionIsJudgedByWhatComes(t *testing.T) {
	noLeaks(t)
	var silent atomic.Bool
	lost := make(chan error, 10)
	const interval = 300 * time.Millisecond
	b := Broker{URL: mute(t, &silent)}
	c, err := b.connect("test", &wire{interval: interval}, func(err error) { lost <- err })
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	select {
	case err := <-lost:
		t.Fatalf("while data flows: %v", err)
	case <-time.After((pingsLost + 5) * interval):
	}
	silent.Store(true)
	err = next(t, "the end of a connection on which nothing comes", lost)
	if !strings.Contains(err.Error(), "nothing has come from the broker") {
		t.Error(err)
	}
}
