package ping

import (
	"fmt"
	"os"

	"dmebench/dme"
	"dmebench/internal/run"
	"dmebench/transport"
)

// viaTransport is the transport that runs use, opened as a worker opens it.
type viaTransport struct {
	transport.Transport
	self    dme.NodeID
	receive receiver
}

func openTransport(o *order, receive receiver) (endpoint, error) {
	network, options, err := lookup(o.Network, o.Set)
	if err != nil {
		return nil, err
	}
	e := run.Endpoint{
		Config: transport.Config{
			Listen: listenAt, Local: []dme.NodeID{node(o.Index)}, Nodes: o.Processes, Key: o.Key,
		},
		Options: options, Broker: o.Broker,
	}
	for _, to := range o.peers() {
		e.Peers = append(e.Peers, node(to))
	}
	tr, err := network.Listen(e)
	if err != nil {
		return nil, err
	}
	return &viaTransport{tr, node(o.Index), receive}, nil
}

// node returns the node that lives in a process.
func node(process int) dme.NodeID { return dme.NodeID(process + 1) }

func (t *viaTransport) address() string { return t.Addr() }

func (t *viaTransport) start(book []string, _ []int) error { return t.Start(book, t) }

func (t *viaTransport) send(to int, m []byte) error { return t.Send(t.self, node(to), m) }

func (t *viaTransport) flush() error { return t.Flush() }

func (t *viaTransport) stream(to int) writer { return &transportStream{t, node(to)} }

func (t *viaTransport) close() { t.Close() }

// Frame is called by the transport.
func (t *viaTransport) Frame(_, _ dme.NodeID, b []byte) { t.receive(b) }

// Down is called by the transport. Whoever has started the processes sees for
// itself which one has ended.
func (t *viaTransport) Down(peer dme.NodeID, err error) {
	fmt.Fprintf(os.Stderr, "process %d can no longer be reached: %v\n", peer-1, err)
}

type transportStream struct {
	*viaTransport
	to dme.NodeID
}

func (s *transportStream) write(m []byte) error { return s.Send(s.self, s.to, m) }
