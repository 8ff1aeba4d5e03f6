package agent

import (
	"encoding/binary"
	"errors"

	"dmebench/dme"
	"dmebench/internal/host"
	"dmebench/internal/noderun"
)

// The readings of a host are asked for hundreds of times a second: they have a compact
// form, of some ten bytes for each node, in the order of the nodes of the host.

// appendReadings appends the readings of some nodes.
func appendReadings(b []byte, readings []host.Reading, local []dme.NodeID) []byte {
	for _, id := range local {
		r := readings[id-1]
		for _, x := range [...]uint64{r.Sent, r.Handled, r.Requests, r.Entries, r.Timers, r.Pending, uint64(r.Activity)} {
			b = binary.AppendUvarint(b, x)
		}
	}
	return b
}

var errReadings = errors.New("agent: malformed readings")

// decodeReadings puts the readings of some nodes where they belong. b must hold
// nothing else.
func decodeReadings(readings []host.Reading, local []dme.NodeID, b []byte) error {
	for _, id := range local {
		r := &readings[id-1]
		var activity uint64
		for _, to := range [...]*uint64{&r.Sent, &r.Handled, &r.Requests, &r.Entries, &r.Timers, &r.Pending, &activity} {
			x, n := binary.Uvarint(b)
			if n <= 0 {
				return errReadings
			}
			*to, b = x, b[n:]
		}
		if activity > uint64(noderun.Down) {
			return errReadings
		}
		r.Activity = noderun.Activity(activity)
	}
	if len(b) > 0 {
		return errReadings
	}
	return nil
}
