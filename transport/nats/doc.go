// Package nats carries frames over a NATS broker: reliable and in order between each pair of nodes
// while the broker and both processes live, with broadcasts that are one publication each and, on
// request, one order of all of them.
//
// The broker is this run's own, a [Server] inside the coordinator that listens on the loopback, or
// any server or cluster that a [Broker] names.
//
// # Subjects
//
// All subjects begin with a prefix that follows from the run's key, so that runs that share a
// broker do not meet; on the run's own broker it is short.
//
//	PREFIX.w3.5    frames for node 5, which lives in the process whose first node is 3
//	PREFIX.all     broadcasts
//	PREFIX.s.…     frames that the sequencer is to pass on, if there is one
//	PREFIX.k.w3    progress of receivers, for the process of node 3
//	PREFIX.bye     goodbyes
//
// A transport's address is PREFIX.w3: what its nodes' subjects begin with.
//
// # Incarnations
//
// A later incarnation of a process has subjects of its own, PREFIX.w3-2. Broadcasts go to all: if
// one of two processes has not been there from the start, each begins with a welcome, which says
// from where on its broadcasts are meant for the other. Frames of a later incarnation carry its
// number, and wait until transport.Readmitter has announced it; those of one that is over are
// refused. Expel asks the broker for an answer first: frames of the dead process have arrived by
// then.
//
// # The path of a frame
//
// Send publishes at once, and the client library coalesces what is published while a write is in
// flight. Frames and broadcasts arrive in one channel, in the order in which the broker sent them,
// and one goroutine takes them out and runs the handlers: with two subscriptions, a frame could
// overtake a broadcast of the same sender.
//
// # What NATS does not promise
//
// A broker delivers a message once or not at all, without notice. So frames are numbered, by pair
// of processes and by broadcaster. One that is missing ends the transport before anything that came
// after it is delivered; one that comes again is dropped and counted. There is no reconnection: a
// lost connection, a refused permission or a slow consumer end the transport as well: Send and
// Flush fail, and Down is called for the nodes of this very process. Only the last frame of a
// process can be lost without a trace here; the coordinator's count of messages sent and handled
// finds that.
//
// A publisher does not learn how far its subscribers are. So receivers report progress, after each
// eighth of transport.MaxBacklog from a sender, and a sender that has more than
// transport.MaxBacklog under way to a process gets transport.ErrBacklog. Each frame is charged its
// length and 512 bytes, about what it costs the process that it waits in.
//
// # One order of all broadcasts
//
// The subscribers of one server can receive the publications of two clients in different orders;
// NATS promises the order of one publisher. A [Sequencer] therefore receives all that the run's
// processes send and publishes it again over one connection, broadcasts with their number in the
// one order. Frames for one node take the same way, so that neither overtakes the other, and pings
// measure the delay that broadcasts have. With Broker.Sequenced, receivers check the numbers, and a
// handler that is a [transport.Monitor] is also shown its own nodes' broadcasts in their place.
//
// # The run's key
//
// On the run's own broker, which is trusted and admits no client without its token, a frame carries
// a tag that follows from the key. On any other broker everything is sealed (peers.NewSharedSeal):
// others there can drop frames, but neither read nor forge nor alter nor repeat them. A frame that
// is not sealed is refused and counted.
//
// # What it does not do
//
// It does not notice that another process has died: a broker does not report that. Expel does;
// until then, frames to a dead process are dropped by the broker until ErrBacklog.
package nats
