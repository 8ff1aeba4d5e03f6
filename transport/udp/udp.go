package udp

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"dmebench/transport"
)

// Layer is what is made of the network.
type Layer string

// The layers, each with what the one before has.
const (
	Raw      Layer = "raw"
	Reliable Layer = "reliable"
	FIFO     Layer = "fifo"
)

func Layers() []Layer { return []Layer{Raw, Reliable, FIFO} }

func GuaranteesOf(l Layer) transport.Guarantees {
	return transport.Guarantees{Reliable: l != Raw, FIFO: l == FIFO}
}

func LargestFrame(l Layer) int {
	if l == Raw {
		return largestRaw
	}
	return transport.MaxFrame
}

// Bytes up to which a datagram is filled with frames. Networks take the one whole; on
// loopback larger ones are cheaper.
const (
	networkDatagram  = 1400
	loopbackDatagram = 16 << 10
)

// bufferSize is the size in bytes of a socket's buffers that is asked for. The
// usual default holds about 256 datagrams, and 63 nodes that answer a broadcast
// at once fill it.
const bufferSize = 4 << 20

// Options are what a transport is opened with beside a transport.Config.
type Options struct {
	Layer     Layer // FIFO by default
	Multicast bool  // a broadcast is one datagram to a multicast group of the run's; see [Multicasting]

	// Between wraps the raw layer: it loses, repeats, delays or reorders frames beneath
	// the layers above. With Multicast it must be a transport.Broadcaster.
	Between func(transport.Transport) transport.Transport

	datagram int // bytes that a datagram is filled with, if tests want fewer
}

// limits are bounds that tests change.
type limits struct {
	backlog  int           // bytes queued on a link
	ackDelay time.Duration // for which an acknowledgement waits
	silence  time.Duration // of a peer that should answer, and
	tries    int           // to reach it, at least, before it is taken for dead
	falsely  float64       // chance that it is for what is lost on purpose
	idle     time.Duration // of a peer, before it is asked whether it is there
	drain    time.Duration // for the peers to take what is queued at Close
}

func defaultLimits() limits {
	return limits{
		backlog: transport.MaxBacklog, ackDelay: 20 * time.Millisecond,
		silence: 5 * time.Second, tries: 8, falsely: 1e-12, idle: 2 * time.Second, drain: time.Second,
	}
}

// Transport is a [transport.Transport] over UDP.
type Transport struct {
	transport.Transport // the highest layer
	socket              *socket
}

// Listen opens a transport. c.Listen should name an address at which the other processes
// can reach this one.
//
// Start does not wait for the configuration's peers: it asks whether they are there, and one
// that cannot be reached is reported by Handler.Down.
func Listen(c transport.Config, o Options) (*Transport, error) { return listen(c, o, defaultLimits()) }

func listen(c transport.Config, o Options, l limits) (*Transport, error) {
	o.Layer = cmp.Or(o.Layer, FIFO)
	if !slices.Contains(Layers(), o.Layer) {
		return nil, fmt.Errorf("udp: unknown layer %q; there are %v", o.Layer, Layers())
	}
	base, err := listenRaw(c, o)
	if err != nil {
		return nil, err
	}
	t := &Transport{Transport: base, socket: base.socket}
	if o.Between != nil {
		t.Transport = o.Between(base)
		if _, can := t.Transport.(transport.Broadcaster); o.Multicast && !can {
			base.Close()
			return nil, errors.New("udp: what is wrapped around the raw layer lets no broadcast through; leave multicast out")
		}
	}
	if o.Layer != Raw {
		base.beneath = true
		above := newReliable(t.Transport, base.config, o, base.datagram, l)
		if o.Multicast {
			above.caster, _ = t.Transport.(transport.Broadcaster) // seen to above
		}
		t.Transport = above
	}
	return t, nil
}

func (t *Transport) Warnings() []string {
	if receive := t.socket.received; receive < bufferSize {
		return []string{fmt.Sprintf("udp: the system grants a receive buffer of %d bytes instead of %d, "+
			"and drops datagrams that find it full; raise net.core.rmem_max", receive, bufferSize)}
	}
	return nil
}
