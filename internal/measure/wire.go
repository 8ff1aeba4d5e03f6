package measure

import (
	"dmebench/result"
	"dmebench/transport"
)

// Wire is what the transports of a run have counted, all processes together.
func Wire(c transport.Counters) result.Wire {
	w := result.Wire{
		Frames: c.Frames, Bytes: c.Bytes, Writes: c.Writes,
		Retransmissions: c.Retransmissions, Duplicates: c.Duplicates, KernelDrops: c.KernelDrops,
		Refused: c.RefusedFrames + c.RefusedConns,
	}
	if c.Packets > 0 {
		w.Packets = &c.Packets
	}
	return w
}
