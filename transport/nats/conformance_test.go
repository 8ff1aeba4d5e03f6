package nats

import (
	"encoding/json"
	"os"
	"sync"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/transport"
	"dmebench/transport/transporttest"
)

var subject = transporttest.Subject{
	Name: "nats", Guarantees: Guarantees, Connectionless: true,
	Remote: func(reach string) transporttest.Opener {
		var b Broker
		if err := json.Unmarshal([]byte(reach), &b); err != nil {
			panic(err) // it was written by the test
		}
		return opener(b)
	},
}

func TestMain(m *testing.M) { os.Exit(transporttest.Main(m, subject)) }

func TestConformance(t *testing.T) {
	for _, c := range []struct {
		name           string
		own, sequenced bool
	}{
		{"own broker", true, false},
		{"shared broker", false, false},
		{"sequenced", true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := startServer(t).Broker()
			b.Own, b.Sequenced = c.own, c.sequenced
			open := opener(b)
			if c.sequenced {
				open = withSequencer(t, b, open)
			}
			reach, err := json.Marshal(b)
			if err != nil {
				t.Fatal(err)
			}
			s := subject
			s.Open, s.Reach = open, string(reach)
			transporttest.Run(t, s)
		})
	}
}

func startServer(t testing.TB) *Server {
	t.Helper()
	s, err := StartServer(100)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func opener(b Broker) transporttest.Opener {
	return func(c transport.Config, k transporttest.Knobs) (transport.Transport, error) {
		l := defaultLimits(c.Nodes)
		l.drain = 20 * time.Second // the broker answers, but perhaps not soon on a busy machine
		if k.Backlog > 0 {
			l.backlog = k.Backlog
		}
		if k.Drain > 0 {
			l.drain = k.Drain
		}
		return listen(c, b, l)
	}
}

// withSequencer starts a sequencer for each run's key that shows up, and closes
// it with the last transport of the run.
func withSequencer(t *testing.T, b Broker, open transporttest.Opener) transporttest.Opener {
	var mu sync.Mutex
	users := make(map[transport.Key]int)
	sequencers := make(map[transport.Key]*Sequencer)
	return func(c transport.Config, k transporttest.Knobs) (transport.Transport, error) {
		mu.Lock()
		defer mu.Unlock()
		if users[c.Key] == 0 {
			s, err := StartSequencer(c.Key, b, func(err error) { t.Error(err) })
			if err != nil {
				return nil, err
			}
			sequencers[c.Key] = s
		}
		users[c.Key]++
		done := sync.OnceFunc(func() {
			if users[c.Key]--; users[c.Key] == 0 {
				sequencers[c.Key].Close()
			}
		})
		tr, err := open(c, k)
		if err != nil {
			done()
			return nil, err
		}
		return &sequenced{tr.(*Transport), func() {
			mu.Lock()
			defer mu.Unlock()
			done()
		}}, nil
	}
}

type sequenced struct {
	*Transport
	done func()
}

func (s *sequenced) Close() error {
	err := s.Transport.Close()
	s.done()
	return err
}

// BenchmarkTransport measures within one process. How the transport compares with the
// client library alone between processes, 'dmebench ping --transport nats' measures.
func BenchmarkTransport(b *testing.B) {
	for name, own := range map[string]bool{"own": true, "shared": false} {
		b.Run(name, func(b *testing.B) {
			broker := startServer(b).Broker()
			broker.Own = own
			s := subject
			s.Open = opener(broker)
			transporttest.Benchmark(b, s)
		})
	}
}

var testKey = transport.Key{1, 2, 3}

// handler is a transport.Handler and a transport.Monitor made of functions; nil
// ones do nothing.
type handler struct {
	frame func(from, to dme.NodeID, b []byte)
	down  func(peer dme.NodeID, err error)
	own   func(from dme.NodeID, b []byte)
}

func (h handler) Frame(from, to dme.NodeID, b []byte) {
	if h.frame != nil {
		h.frame(from, to, b)
	}
}

func (h handler) Down(peer dme.NodeID, err error) {
	if h.down != nil {
		h.down(peer, err)
	}
}

func (h handler) Transmitted(from dme.NodeID, b []byte) {
	if h.own != nil {
		h.own(from, b)
	}
}

// mesh opens and starts the transports of a run, perProcess nodes in each of
// them.
func mesh(t testing.TB, b Broker, l limits, processes, perProcess int, h func(process int) transport.Handler) []*Transport {
	t.Helper()
	var all []*Transport
	var book transport.AddressBook
	for p := range processes {
		c := transport.Config{Nodes: processes * perProcess, Key: testKey}
		for i := range perProcess {
			c.Local = append(c.Local, dme.NodeID(p*perProcess+i+1))
		}
		tr, err := listen(c, b, l)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { tr.Close() })
		all = append(all, tr)
		for range perProcess {
			book = append(book, tr.Addr())
		}
	}
	for p, tr := range all {
		if err := tr.Start(book, h(p)); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func mustSend(t *testing.T, tr *Transport, from, to dme.NodeID, body string) {
	t.Helper()
	if err := tr.Send(from, to, []byte(body)); err != nil {
		t.Fatal(err)
	}
}
