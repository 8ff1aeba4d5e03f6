// Package link makes the links of any transport worse on purpose: it delays, loses, repeats and
// reorders frames, narrows links and partitions nodes.
//
// [Wrap] puts a [Transport] around another one and conditions what is sent through it; what arrives
// is left alone. A link is an ordered pair of nodes. The fate of a frame follows from the seed, its
// link and its number among the frames of that link alone, whatever the other links do and however
// fast the machine is. Partitions, and rules that hold for a time, follow the clock instead. A
// [Conditioner] decides so for a network that is simulated.
//
// A link keeps its order whatever its delays are, as a real one that is FIFO does: a frame that
// takes long holds up those behind it. Reordering is a condition of its own. Each condition has
// draws of its own, so that switching one on does not change what the others do to the same frame.
//
// Delayed frames wait in memory, up to transport.MaxBacklog bytes on a link, and leave within some
// tens of microseconds of their time on an idle machine (Linux; elsewhere as precisely as Go's
// timers are). One goroutine of a process releases them.
//
// The conditions apply to frames before they reach the network: TCP under this package notices no
// loss, its frames vanish. Between the layers of transport/udp a frame is a segment of the reliable
// layer, which sees loss as it sees that of a network.
package link
