// Package tcp carries frames over TCP: reliable, and in order between each pair of nodes, while
// both processes live.
//
// # Connections
//
// There is one connection for each ordered pair of processes that really talk, and the sender dials
// it. Connections to the peers that the configuration names are made by Start, others on first use,
// behind the back of Send, which queues meanwhile. A process has such a connection to itself too:
// frames between nodes that share a process cross the kernel's network like all others.
//
// # The path of a frame
//
// No frame changes goroutine inside the process. The goroutine that reads a connection calls the
// handler; what the handler sends is queued on its links, and the same goroutine writes it when the
// batch that it had read is done. That write never waits: when the socket is full, what is left
// goes to a goroutine of the link that waits for it, and frames that come meanwhile are coalesced
// behind it. Two processes whose sockets are full therefore go on reading and never wait for each
// other. A link queues up to transport.MaxBacklog bytes; beyond, Send fails with
// transport.ErrBacklog.
//
// # The run's key
//
// Both ends of a connection prove that they know the run's key before any frame passes, by a
// challenge and response over fresh random numbers (handshake.go). Strangers are refused and
// counted, and have five seconds.
//
// Connections to a listener beyond the loopback are encrypted ([Encryption]): by TLS 1.3, in which
// both ends present one public key that follows from the run's, and take no other (secure.go). The
// handshake above runs inside. Frames on a connection that is not encrypted are not authenticated
// either.
//
// Data from an authenticated peer is still checked. A frame from a node that does not live at the
// peer, or for a node that does not live here, is dropped and counted as refused. Bytes that are no
// frame mean that the stream has lost its place: they are counted, the connection is closed and the
// peer is reported as down.
//
// # Incarnations
//
// Dialer and listener tell each other in the handshake which incarnations they are, or mean. A
// connection of one that is over is refused; one of an incarnation not yet announced waits, after
// its handshake, until transport.Readmitter announces it.
//
// # Ends
//
// A process that closes says goodbye on each of its connections, after the last frame, and its
// peers answer, so that none stays in TIME_WAIT. A connection that ends without a goodbye is a
// death: the handler's Down is called once for each node of that process. No frame of a process is
// delivered after its Down; frames that it sent shortly before it died are delivered or lost. Expel
// waits a second for a process that is said to have ended and has not. A peer that is silent for
// ten seconds while data waits for it is dead (Linux only).
package tcp
