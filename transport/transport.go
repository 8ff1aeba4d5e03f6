// Package transport is the contract between a runtime and the networks that it
// can run over. A transport carries frames between the nodes of a run; it knows
// nothing of algorithms.
package transport

import (
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"io"
	"time"

	"dmebench/dme"
)

// Transport carries frames between the nodes of a run. A process opens one
// with its package's Listen, which takes a [Config]; its address is known
// before the address book is.
//
// All methods may be called from several goroutines.
type Transport interface {
	// Addr returns the address at which other processes reach this one.
	Addr() string

	// Start makes the transport deliver frames to h, perhaps before it returns. It may connect to
	// the peers that the configuration names, which must have called Listen but not Start;
	// others are connected on first use. It is called once. After an error
	// the transport is still to be closed.
	Start(book AddressBook, h Handler) error

	// Send queues a frame from a local node to any node, also one of the same
	// process. It copies the frame, does not wait for the network, and may hold
	// the frame back until Flush. Frames of one pair of nodes keep their order
	// where the transport guarantees FIFO.
	//
	// It returns an error that wraps ErrBacklog when the link has more queued
	// than its bound, and ErrClosed after Close; either ends a run as failed.
	// A frame to a process that is down, or has closed, is dropped silently.
	Send(from, to dme.NodeID, frame []byte) error

	// Flush hands everything that Send has queued to the network, as far as the network takes it
	// at once; many frames may be handed over by another goroutine, once Flush has returned.
	// Frames sent from inside Handler.Frame need no Flush: the transport flushes after each
	// batch of at most MaxBatch frames that it delivers.
	Flush() error

	// Close stops delivery, sends what is queued as far as the peers take it
	// within a second or so, and frees everything. After it returns, the
	// handler is not called again. It waits for calls of the handler, so it
	// must not be called from inside one, nor with a lock held that the
	// handler takes. Further calls wait for the first and do nothing.
	Close() error

	// Counters returns what has been counted so far.
	Counters() Counters

	Readmitter
}

// Broadcaster is a Transport whose network can deliver one frame to all nodes
// by one transmission.
type Broadcaster interface {
	// Broadcast is Send to every node but from.
	Broadcast(from dme.NodeID, frame []byte) error
}

// Monitor is a Handler that is shown the broadcasts of its own nodes, too, by a
// transport that puts broadcasts into one order: after all that come before them
// in it, and before any that comes after. b is valid during the call.
type Monitor interface {
	Transmitted(from dme.NodeID, b []byte)
}

// Warner is a Transport that has something to say about the system that it runs on.
type Warner interface {
	Warnings() []string
}

// Handler receives what a transport delivers.
type Handler interface {
	// Frame delivers a frame for a local node. b is valid during the call.
	// Frames of one pair of nodes are delivered one after the other, those of
	// different pairs perhaps at the same time. Frame may call Send.
	Frame(from, to dme.NodeID, b []byte)

	// Down says that the process that hosts peer can no longer be reached. It is called once for
	// each node of that process, never because of Close, here or there, and never from inside Send
	// or Flush. With a [Readmitter] it is called once for each incarnation.
	Down(peer dme.NodeID, err error)
}

// AddressBook tells at which address each node is reached: entry i-1 is node
// i's. Nodes of one process have one address.
type AddressBook []string

// Addr returns the address of node id, or "".
func (b AddressBook) Addr(id dme.NodeID) string {
	if id < 1 || int(id) > len(b) {
		return ""
	}
	return b[id-1]
}

// Config is what a transport is opened with.
type Config struct {
	Listen string       // HOST:PORT; port 0 takes a free one
	Local  []dme.NodeID // the nodes of this process
	Nodes  int          // number of nodes of the run
	Key    Key          // frames of others are refused
	Peers  []dme.NodeID // nodes that local nodes are known to send to

	// Patience is for how much longer than usual a process may stand still without
	// being taken for dead: the longest pause that is injected.
	Patience time.Duration

	// Incarnation is that of this process: 1, or 0 for that, if it is there from the start of the
	// run, else what [Readmitter] announces to the others. A later one does not fail to start
	// because peers cannot be reached: they are down.
	Incarnation uint32

	// Absent are nodes whose processes are not there when this one starts: frames
	// to them are dropped, and no Down is called for them. The address book says
	// nothing of them (""), or the same word for those that will share a process.
	Absent []dme.NodeID

	// Incarnations are those of other processes, by any of their nodes, if they are not 1; of a
	// process that is absent the latest there was, 0 if it never was there.
	Incarnations map[dme.NodeID]uint32
}

const KeySize = 32

// Key is a run's secret.
type Key [KeySize]byte

// Derive returns a key, or a proof that its maker knows k, for one purpose and
// context: HMAC-SHA256. Neither k nor what belongs to another purpose follows from it.
func (k *Key) Derive(purpose string, context ...byte) []byte {
	mac := hmac.New(sha256.New, k[:])
	io.WriteString(mac, "dmebench "+purpose)
	mac.Write(context)
	return mac.Sum(make([]byte, 0, sha256.Size))
}

// Bounds that hold for every transport.
const (
	MaxFrame   = 8 << 20  // bytes in a frame
	MaxBacklog = 64 << 20 // bytes queued on a link
	MaxBatch   = 256      // frames delivered before what they caused is flushed
)

// Errors that the methods of a Transport wrap.
var (
	ErrBacklog       = errors.New("too much is queued on the link; its peer does not keep up")
	ErrClosed        = errors.New("the transport is closed")
	ErrFrameTooLarge = errors.New("the frame is larger than the transport carries")
)

type Guarantees struct {
	Reliable           bool `json:"reliable"`            // no loss and no duplication while both processes live
	FIFO               bool `json:"fifo"`                // in order between each pair of nodes
	BoundedDelay       bool `json:"bounded_delay"`       // within a bound that the user vouches for
	Broadcast          bool `json:"broadcast"`           // one transmission reaches all
	SequencedBroadcast bool `json:"sequenced_broadcast"` // all nodes receive all broadcasts in one order
}

type Counters struct {
	Frames          uint64 `json:"frames"`          // handed over by Send, one for each receiver
	Bytes           uint64 `json:"bytes"`           // handed to the network, with framing
	Writes          uint64 `json:"writes"`          // write calls
	Packets         uint64 `json:"packets"`         // datagrams or TCP segments sent; 0 if the transport does not know
	Received        uint64 `json:"received"`        // frames delivered
	Retransmissions uint64 `json:"retransmissions"` // of what the transport itself acknowledges
	Duplicates      uint64 `json:"duplicates"`      // frames dropped because they had been delivered
	KernelDrops     uint64 `json:"kernel_drops"`    // datagrams that came and found the receive buffer full
	RefusedConns    uint64 `json:"refused_conns"`   // connections without the run's key
	RefusedFrames   uint64 `json:"refused_frames"`  // frames malformed, too large or for no node here
	StalledWrites   uint64 `json:"stalled_writes"`  // writes that found the socket full
	LargestBacklog  uint64 `json:"largest_backlog"` // bytes queued on one link
}

func (c Counters) Plus(d Counters) Counters {
	return c.combine(&d, func(x, y uint64) uint64 { return x + y }, max(c.LargestBacklog, d.LargestBacklog))
}

// Minus returns what was counted since the earlier reading d. LargestBacklog is
// that of the whole time.
func (c Counters) Minus(d Counters) Counters {
	return c.combine(&d, func(x, y uint64) uint64 { return x - y }, c.LargestBacklog)
}

func (c Counters) combine(d *Counters, f func(x, y uint64) uint64, largest uint64) Counters {
	fields := func(c *Counters) []*uint64 {
		return []*uint64{
			&c.Frames, &c.Bytes, &c.Writes, &c.Packets, &c.Received, &c.Retransmissions, &c.Duplicates,
			&c.KernelDrops, &c.RefusedConns, &c.RefusedFrames, &c.StalledWrites,
		}
	}
	others := fields(d)
	for i, x := range fields(&c) {
		*x = f(*x, *others[i])
	}
	c.LargestBacklog = largest
	return c
}

// Lacks names what needs asks for and g does not promise.
func (g Guarantees) Lacks(needs dme.Needs) []string {
	var missing []string
	for _, x := range []struct {
		need, have bool
		name       string
	}{
		{needs.Reliable, g.Reliable, "reliable links"},
		{needs.FIFO, g.FIFO, "FIFO links"},
		{needs.BoundedDelay, g.BoundedDelay, "a bound on message delay"},
		{needs.SequencedBroadcast, g.SequencedBroadcast, "a sequenced broadcast"},
	} {
		if x.need && !x.have {
			missing = append(missing, x.name)
		}
	}
	return missing
}

// Impaired is a Transport that makes its links worse on purpose. A layer that suspects a
// silent peer of having died asks it: injected losses do not make a peer dead.
type Impaired interface {
	// Impairment returns what is done at present to frames from a to b and to their answers. It may
	// be called by several goroutines.
	Impairment(a, b dme.NodeID) Impairment
}

// Impairment is what is done to the frames between two nodes, there and back.
type Impairment struct {
	Loss  float64       // probability that a frame or its answer vanishes; 1: nothing passes
	Delay time.Duration // longer than a frame and its answer wait, but for one in a billion
}

// Readmitter lets the processes of a run end and be restarted while the run goes on. Each life of a
// process is an incarnation, with a number that is higher than those before; one that comes into a
// running system for the first time has at least 2. A process learns at its start which others
// there are ([Config.Absent], [Config.Incarnations]), and by Readmit which come later.
//
// The handler hears of each process in this order: the frames of one incarnation, Down, Up, the
// frames of the next. Nothing of an incarnation is delivered before Readmit has announced it: it
// waits in this process, or its sender sends it again until then; if the transport is not reliable,
// it is lost. Frames of an incarnation that is over are refused and counted.
//
// Neither method may be called from inside the handler, nor with a lock held that the handler
// takes. Both return nil if the transport is closed meanwhile.
type Readmitter interface {
	// Expel says that the process that hosts peer has ended, for callers that know it before the
	// transport does. Frames that had come from there are delivered, then Down is called with cause
	// unless it has been; from then on frames to the process are dropped. It returns when Down has
	// returned. A process that is not there is not reported a second time.
	Expel(peer dme.NodeID, cause error) error

	// Readmit says that the process that hosts peer is there, perhaps again, reached at addr, as
	// that incarnation, with the same nodes. The one before it is expelled; frames that were
	// queued for it are dropped. Then Up is called, and from that call on frames go to the new
	// one. It returns when Up has returned.
	//
	// It is an error to readmit an incarnation that is not higher than the one
	// known; announced again as it is known, and not down, it changes nothing.
	Readmit(peer dme.NodeID, addr string, incarnation uint32) error
}

// UpHandler is a Handler that hears of processes that come, by a [Readmitter]: Up is called once
// for each node of the process. It may call Send.
//
// A message that a node sends while Up is being called may still reach the new incarnation although
// the node has not heard of it: the caller keeps nodes from sending to a peer between Down and Up.
type UpHandler interface {
	Up(peer dme.NodeID)
}

// SendToAll sends a frame to all other nodes, one after the other.
func SendToAll(t Transport, nodes int, from dme.NodeID, b []byte) error {
	for to := dme.NodeID(1); int(to) <= nodes; to++ {
		if to == from {
			continue
		}
		if err := t.Send(from, to, b); err != nil {
			return err
		}
	}
	return nil
}
