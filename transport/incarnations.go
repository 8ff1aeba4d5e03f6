package transport

import "dmebench/dme"

// Readmitter is a Transport whose processes may end and be restarted while the
// run goes on. Each life of a process is an incarnation, with a number that is
// higher than those before; one that comes into a running system for the first
// time has at least 2. A process learns from whoever started it which others
// there are ([Config.Absent], [Config.Incarnations]), and by Readmit who comes
// later.
//
// The handler is told of each process in this order: the frames of one
// incarnation, Down, Up, the frames of the next. Nothing of an incarnation is
// delivered before Readmit has announced it, however early it comes: it waits in
// this process, or its sender sends it again until then; where nobody does that, the
// transport not being reliable, it is lost. What comes of an incarnation that is
// over is refused and counted, in [Counters.RefusedFrames] or, where it is a
// connection, RefusedConns.
//
// Neither method may be called from inside the handler, nor with a lock held that
// the handler takes. Both return nil where the transport is closed meanwhile.
type Readmitter interface {
	// Expel says that the process that hosts peer has ended, for who knows it
	// before the transport does. What had come from there is delivered, then
	// Down is called with cause unless it has been; from then on frames to the
	// process are dropped. It returns when Down has returned. Of a process that
	// is not there nothing is told a second time.
	Expel(peer dme.NodeID, cause error) error

	// Readmit says that the process that hosts peer is there, perhaps again,
	// reached at addr, as that incarnation. The one before it is expelled;
	// frames that were queued for it are dropped. Then Up is called, and from
	// that call on frames go to the new one. It returns when Up has returned.
	// The process hosts the same nodes as the one before.
	//
	// It is an error to readmit an incarnation that is not higher than the one
	// known; announced again as it is known, and not down, it changes nothing.
	Readmit(peer dme.NodeID, addr string, incarnation uint32) error
}

// UpHandler is a Handler that is told of processes that come, by a [Readmitter]:
// Up is called once for each node of the process, after Down for the incarnation
// before it, where there was one, and before the first frame of the new one. Up
// may call Send.
//
// What a node sends while Up is being called may still reach the new incarnation
// although the node has not been told: who runs nodes keeps them from sending to
// a peer between Down and Up.
type UpHandler interface {
	Up(peer dme.NodeID)
}
