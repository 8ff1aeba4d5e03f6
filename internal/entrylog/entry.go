// Package entrylog is the memory of a run: one [Entry] for each critical
// section, kept in chunks up to a bound and written in a compact form.
package entrylog

import (
	"encoding/binary"
	"errors"

	"dmebench/dme"
)

// Entry is what is known of one critical section. Times are nanoseconds on the
// monotonic clock of the host (or of the simulation), with one origin for all
// nodes of a host.
type Entry struct {
	Node      dme.NodeID
	Shared    bool   // a reader's
	Intended  int64  // when the workload's schedule wanted the request
	Arrived   int64  // when the generator noticed: later than Intended by its lateness
	Requested int64  // when the node asked: later than Arrived while an earlier request was pending
	Entered   int64  // when the critical section began
	Exited    int64  // when it ended
	Clock     uint64 // the clock of the request's timestamp; 0 where there is none
	Order     uint64 // position in the total order of entries that the witness saw, from 1; 0 where there is none
	Sent      uint64 // messages that the node had sent in all when it left
}

// Append appends the compact form of entries to b.
func Append(b []byte, entries []Entry) []byte {
	b = binary.AppendUvarint(b, uint64(len(entries)))
	var last int64
	for i := range entries {
		e := &entries[i]
		head := uint64(e.Node) << 1
		if e.Shared {
			head |= 1
		}
		b = binary.AppendUvarint(b, head)
		b = binary.AppendVarint(b, e.Intended-last)
		b = binary.AppendVarint(b, e.Arrived-e.Intended)
		b = binary.AppendVarint(b, e.Requested-e.Arrived)
		b = binary.AppendVarint(b, e.Entered-e.Requested)
		b = binary.AppendVarint(b, e.Exited-e.Entered)
		b = binary.AppendUvarint(b, e.Clock)
		b = binary.AppendUvarint(b, e.Order)
		b = binary.AppendUvarint(b, e.Sent)
		last = e.Intended
	}
	return b
}

// smallest is the size of the shortest possible entry.
const smallest = 9

var errMalformed = errors.New("entrylog: malformed entries")

// Decode appends the entries that b holds to entries. b must hold nothing else.
func Decode(entries []Entry, b []byte) ([]Entry, error) {
	n, k := binary.Uvarint(b)
	if k <= 0 || n > uint64(len(b)-k)/smallest {
		return entries, errMalformed
	}
	b = b[k:]
	bad := false
	unsigned := func() uint64 {
		x, k := binary.Uvarint(b)
		if k <= 0 {
			bad, b = true, nil
			return 0
		}
		b = b[k:]
		return x
	}
	signed := func() int64 {
		x, k := binary.Varint(b)
		if k <= 0 {
			bad, b = true, nil
			return 0
		}
		b = b[k:]
		return x
	}
	var last int64
	for range n {
		var e Entry
		head := unsigned()
		if head>>1 > 1<<32-1 {
			return entries, errMalformed
		}
		e.Node, e.Shared = dme.NodeID(head>>1), head&1 != 0
		e.Intended = last + signed()
		e.Arrived = e.Intended + signed()
		e.Requested = e.Arrived + signed()
		e.Entered = e.Requested + signed()
		e.Exited = e.Entered + signed()
		e.Clock, e.Order, e.Sent = unsigned(), unsigned(), unsigned()
		if bad {
			return entries, errMalformed
		}
		last = e.Intended
		entries = append(entries, e)
	}
	if len(b) != 0 {
		return entries, errMalformed
	}
	return entries, nil
}
