package udp

import (
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"dmebench/transport"
	"dmebench/transport/link"
	"dmebench/transport/transporttest"
)

// patient are limits with which no test depends on how fast the machine is:
// peers answer in the end. Where a death is to be noticed, the knobs say how soon.
func patient(k transporttest.Knobs) limits {
	l := defaultLimits()
	l.silence, l.drain = 2*time.Minute, 20*time.Second
	l.idle = 200 * time.Millisecond // so that they take less time
	if k.Silence > 0 {
		l.silence, l.tries, l.falsely = k.Silence, 3, 1e-4
	}
	if k.Backlog > 0 {
		l.backlog = k.Backlog
	}
	return l
}

func subject(name string, o Options) transporttest.Subject {
	guarantees := GuaranteesOf(o.Layer)
	guarantees.Broadcast = o.Multicast
	return transporttest.Subject{
		Name:       name,
		Guarantees: guarantees,
		Open: func(c transport.Config, k transporttest.Knobs) (transport.Transport, error) {
			l := patient(k)
			if o.Between != nil {
				l.ackDelay = 2 * time.Millisecond // retransmission is early, and these tests take less time
			}
			tr, err := listen(c, o, l)
			if err != nil || !o.Multicast {
				return tr, err
			}
			return Multicasting{tr}, nil
		},
		LargestFrame: LargestFrame(o.Layer),
		Patience:     2 * time.Minute, // losses take their time where a race detector and a crowd take theirs
		NoticesDeath: o.Layer != Raw, Connectionless: true,
		Stranger: func(addr string) (net.Conn, error) { return net.Dial("udp", addr) },
	}
}

func subjects() []transporttest.Subject {
	var all []transporttest.Subject
	for _, l := range Layers() {
		all = append(all, subject("udp-"+string(l), Options{Layer: l}))
	}
	for _, l := range []Layer{Reliable, FIFO} {
		all = append(all, subject("lossy-udp-"+string(l), Options{Layer: l, Between: bad}))
	}
	if runtime.GOOS == "linux" {
		all = append(all,
			subject("udp-multicast-raw", Options{Layer: Raw, Multicast: true}),
			subject("lossy-udp-multicast-reliable", Options{Layer: Reliable, Multicast: true, Between: crackle}),
			subject("lossy-udp-multicast-fifo", Options{Layer: FIFO, Multicast: true, Between: crackle}),
		)
	}
	return all
}

// bad is a network between raw and the layers above that loses, repeats and
// reorders.
func bad(t transport.Transport) (transport.Transport, error) {
	return link.Wrap(t, link.Config{Seed: 1, LargestFrame: LargestFrame(Raw), All: link.Conditions{
		Loss: 0.05, Duplication: 0.05, Reordering: 0.1, Holding: 2 * time.Millisecond,
	}})
}

func TestConformance(t *testing.T) {
	for _, s := range subjects() {
		t.Run(s.Name, func(t *testing.T) {
			if strings.Contains(s.Name, "lossy-udp-multicast") && !*full {
				s.Parts = []string{"Burst", "Broadcast", "SlowReader", "CloseDrains", "Restart"} // the rest is as without multicast
			}
			transporttest.Run(t, s)
		})
	}
}
