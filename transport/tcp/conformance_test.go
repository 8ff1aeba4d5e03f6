package tcp

import (
	"net"
	"os"
	"testing"
	"time"

	"dmebench/transport"
	"dmebench/transport/transporttest"
)

// subjects are the transport as it is on the loopback, and encrypted.
var subjects = []transporttest.Subject{subject("tcp", Options{}), subject("tcp-tls", Options{Encryption: On})}

func subject(name string, o Options) transporttest.Subject {
	return transporttest.Subject{
		Name:       name,
		Guarantees: Guarantees,
		Open: func(c transport.Config, k transporttest.Knobs) (transport.Transport, error) {
			l := defaultLimits()
			l.drain = 20 * time.Second // peers answer, but perhaps not on a busy machine
			if k.Backlog > 0 {
				l.backlog = k.Backlog
			}
			return listen(c, o, l)
		},
		NoticesDeath: true,
		Stranger:     func(addr string) (net.Conn, error) { return net.Dial("tcp", addr) },
	}
}

func TestMain(m *testing.M) { os.Exit(transporttest.Main(m, subjects...)) }

func TestConformance(t *testing.T) {
	for _, s := range subjects {
		t.Run(s.Name, func(t *testing.T) { transporttest.Run(t, s) })
	}
}
