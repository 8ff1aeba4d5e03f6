package ping

import (
	"fmt"
	"os"

	"dmebench/dme"
	"dmebench/internal/launch"
	"dmebench/internal/run"
	"dmebench/transport"
)

// endpoint is one process's way to the others: a side of a measurement.
// Processes are counted from 0.
type endpoint interface {
	// address is where the others reach this process.
	address() string

	// start connects to the processes that this one sends to.
	start(book []string, to []int) error

	// send copies a message and passes it on, at the latest when flush is called
	// or when the receiver of the message that is being handled has returned.
	send(to int, m []byte) error

	// stream is send for as many messages as the network takes. The two do not
	// go together to one process.
	stream(to int, m []byte) error
	flush() error

	// lossy reports whether messages can get lost.
	lossy() bool

	// close frees what would outlive this process.
	close()
}

// receiver is called with each message that arrives, which is valid during the
// call. Messages of one process come one after the other.
type receiver func(m []byte)

// open opens the endpoint that an order asks for.
func open(o *order, receive receiver) (endpoint, error) {
	if o.Side == Ours {
		return openTransport(o, receive)
	}
	return bareSides[o.Network](o, receive)
}

// viaTransport is the transport that runs use, opened as a worker opens it.
type viaTransport struct {
	transport.Transport
	guarantees transport.Guarantees
	self       dme.NodeID
	receive    receiver
}

func openTransport(o *order, receive receiver) (endpoint, error) {
	network, options, err := lookup(o.Network, o.Set)
	if err != nil {
		return nil, err
	}
	e := run.Endpoint{
		Config: transport.Config{
			Listen: launch.Loopback, Local: []dme.NodeID{node(o.Index)}, Nodes: o.Processes, Key: o.Key,
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
	return &viaTransport{tr, network.Guarantees(options), node(o.Index), receive}, nil
}

// node returns the node that lives in a process.
func node(process int) dme.NodeID { return dme.NodeID(process + 1) }

func (t *viaTransport) address() string                    { return t.Addr() }
func (t *viaTransport) start(book []string, _ []int) error { return t.Start(book, t) }
func (t *viaTransport) send(to int, m []byte) error        { return t.Send(t.self, node(to), m) }
func (t *viaTransport) stream(to int, m []byte) error      { return t.Send(t.self, node(to), m) }
func (t *viaTransport) flush() error                       { return t.Flush() }
func (t *viaTransport) lossy() bool                        { return !t.guarantees.Reliable }
func (t *viaTransport) close()                             { t.Close() }

// Frame is called by the transport.
func (t *viaTransport) Frame(_, _ dme.NodeID, b []byte) { t.receive(b) }

// Down is called by the transport. Whoever has started the processes sees for
// itself which one has ended.
func (t *viaTransport) Down(peer dme.NodeID, err error) {
	fmt.Fprintf(os.Stderr, "process %d can no longer be reached: %v\n", peer-1, err)
}
