// Package udp carries frames in UDP datagrams, through one socket for each process. Guarantees that
// a datagram network lacks are added by layers, each a wrapper around the one below:
//
//	raw       frames are lost, repeated and reordered as datagrams are
//	reliable  each frame arrives once, in any order: acknowledgements, adaptive
//	          retransmission (RFC 6298 with Karn's rule), windows
//	fifo      and in order between each pair of nodes
//
// [Listen] opens them, [GuaranteesOf] says what each promises. Another transport's wrapper, which
// loses or delays on purpose, fits above raw ([Options.Between]).
//
// # The path of a frame
//
// No frame changes goroutine inside the process. The goroutine that reads the socket calls the
// handler, for up to 16 datagrams after each wait; what the handler sends is packed into datagrams,
// and the same goroutine sends these, several in one system call, when its batch is done. No send
// ever waits: datagrams that a full socket does not take are lost, and sent again by the layer
// reliable. One goroutine and one timer of a process serve the timeouts of all its links, and sleep
// while there are none.
//
// # Links
//
// A link joins two processes. Frames are packed into numbered segments, which stay queued until
// they are acknowledged. Acknowledgements travel with segments of the other direction, or alone
// after 128 segments or 20 ms; at once if something is missing or the sender asks, which it does
// before its window closes. A frame that is larger than a datagram goes in parts. A segment is sent
// again when its timeout is over, or before that when one that was sent later has arrived and its
// own acknowledgement is late (RFC 8985). Retransmissions are counted by segment.
//
// The window is fixed, 512 segments and 128 KiB: a run's processes stand in one rack, where
// segments are lost at the receiver's buffer of 4 MB, which thirty senders do not fill with that
// much. There is no other congestion control: this is not meant for the Internet. A link queues up
// to transport.MaxBacklog bytes; beyond, Send fails with transport.ErrBacklog.
//
// # Incarnations
//
// The number of an incarnation is part of what authenticates its datagrams, and each datagram says
// which incarnation it is for. All layers take only those from the incarnation that is there, as
// announced to transport.Readmitter, to this one; the others are refused and counted. A datagram
// that comes before its incarnation was announced is dropped: above raw its sender repeats it.
// Readmit asks the newcomer, so that it learns at once that it is known. While all of a run's
// processes have been there from the start, the raw layer's broadcast is one datagram; then it is
// one for each process.
//
// # The run's key
//
// Every datagram carries a tag that follows from its content and a key of its sender's incarnation,
// itself derived from the run's key. Others are refused and counted. Content is not encrypted. A
// genuine datagram that a stranger repeats is taken once by the layers above raw, and as often as
// it comes by raw. Data from an authenticated peer is still checked, and the memory that it can make
// this process keep is bounded.
//
// # Ends
//
// A process that closes says so to every process that it has met, as the last segment, and waits
// about a second for the acknowledgements. One that goes silent is down after about six seconds of
// retransmission, in which at least eight attempts to reach it had their time (timer.go). Attempts
// that a partition or loss which was injected explains do not count, or count for less. If both
// sides have been silent for two to four seconds, a segment without frames asks for an answer; in
// runs of many processes less often. A death between two frames is noticed within ten seconds in a
// small run and within half an hour in one of a thousand. No frame of a process is delivered after
// its Down. The raw layer alone notices no death and says no farewell.
//
// # Broadcasts
//
// With [Options.Multicast] all processes of a run join an IP multicast group, which follows from
// the run's key, on the network of the address that they listen at (IPv4; loopback too; no router
// is passed). A broadcast is then one datagram, also for the sender's own process. Above raw it is
// a segment of each link besides: the datagram names for each process the segment's number on its
// link, receivers acknowledge on their links, and a receiver that misses it gets it alone. A
// broadcast that does not fit into a datagram goes to each node in parts; one whose receivers do
// not fit, more than about a hundred on a network of 1400 bytes, in several datagrams; and links
// whose window is closed get it when they can. It shares no datagram with frames for one process,
// so that more datagrams may travel than without multicast if nodes mostly answer one another.
//
// Without it, a broadcast is as many frames as it has receivers.
package udp
