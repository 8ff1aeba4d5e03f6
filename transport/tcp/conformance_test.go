package tcp

import (
	"net"
	"os"
	"testing"
	"time"

	"dmebench/transport"
	"dmebench/transport/transporttest"
)

var subject = transporttest.Subject{
	Name:       "tcp",
	Guarantees: Guarantees,
	Open: func(c transport.Config, k transporttest.Knobs) (transport.Transport, error) {
		l := defaultLimits()
		l.drain = 20 * time.Second // peers answer, but perhaps not on a busy machine
		if k.Backlog > 0 {
			l.backlog = k.Backlog
		}
		return listen(c, l)
	},
	NoticesDeath: true,
	Stranger:     func(addr string) (net.Conn, error) { return net.Dial("tcp", addr) },
}

func TestMain(m *testing.M) { os.Exit(transporttest.Main(m, subject)) }

func TestConformance(t *testing.T) { transporttest.Run(t, subject) }
