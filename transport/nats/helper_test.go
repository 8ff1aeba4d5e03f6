package nats

import (
	"testing"

	"dmebench/dme"
	"dmebench/transport"
)

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
