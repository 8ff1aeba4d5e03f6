package measure

import (
	"encoding/json"
	"testing"

	"dmebench/transport"
)

func TestWire(t *testing.T) {
	for _, c := range []struct {
		counters transport.Counters
		want     string
	}{
		{transport.Counters{Frames: 1, Bytes: 2, Writes: 3, Packets: 4, Retransmissions: 5, Duplicates: 6, KernelDrops: 7,
			RefusedConns: 8, RefusedFrames: 10},
			`{"frames":1,"bytes":2,"writes":3,"packets":4,"retransmissions":5,"duplicates":6,"kernel_drops":7,"refused":18}`},
		{transport.Counters{Frames: 1}, // of a transport that cannot tell its packets
			`{"frames":1,"bytes":0,"writes":0,"packets":null,"retransmissions":0,"duplicates":0,"kernel_drops":0,"refused":0}`},
	} {
		got, err := json.Marshal(Wire(c.counters))
		if err != nil || string(got) != c.want {
			t.Errorf("%+v: %s, %v; want %s", c.counters, got, err, c.want)
		}
	}
}
