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
var subjects = []transporttest.Subject{subject("tcp", Off), subject("tcp-encrypted", On)}

func subject(name string, e Encryption) transporttest.Subject {
	return transporttest.Subject{
		Name:       name,
		Guarantees: Guarantees,
		Open: func(c transport.Config, k transporttest.Knobs) (transport.Transport, error) {
			l := defaultLimits()
			l.drain = 20 * time.Second // peers answer, but perhaps not on a busy machine
			if k.Backlog > 0 {
				l.backlog = k.Backlog
			}
			if k.Drain > 0 {
				l.drain = k.Drain
			}
			return listen(c, Options{Encryption: e}, l)
		},
		NoticesDeath:     true,
		AllocatesNothing: e == Off, // crypto/tls allocates for each record that it reads
		Stranger:         func(addr string) (net.Conn, error) { return net.Dial("tcp", addr) },
	}
}

func TestMain(m *testing.M) { os.Exit(transporttest.Main(m, subjects...)) }

func TestConformance(t *testing.T) {
	for _, s := range subjects {
		t.Run(s.Name, func(t *testing.T) { transporttest.Run(t, s) })
	}
}

// BenchmarkTransport measures within one process. How the transport compares with bare
// connections between processes, 'dmebench ping --transport tcp' measures.
func BenchmarkTransport(b *testing.B) {
	for _, s := range subjects {
		b.Run(s.Name, func(b *testing.B) { transporttest.Benchmark(b, s) })
	}
}
