package coordinator

import (
	"testing"

	"dmebench/result"
)

// Encryption changes what passes the network and nothing else. A record of TLS has 22
// bytes around what it holds, which here is a frame of a few bytes for each write.
func TestARunOverEncryptedConnections(t *testing.T) {
	for set, encrypted := range map[string]bool{"auto": false, "off": false, "on": true} { // on the loopback
		r, err := execute(t, t.Context(), result.Spec{
			Algorithm: "ricart-agrawala", Nodes: 3, Workload: "serial", Requests: 60, Set: map[string]string{"tls": set},
		}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Status != result.OK || r.Entries != 60 || r.Messages.Total != 60*4 || r.Wire.Frames != 60*4 || r.Wire.Refused != 0 {
			t.Errorf("tls=%s: %s %s: %d entries, %d messages, %+v", set, r.Status, r.Error, r.Entries, r.Messages.Total, r.Wire)
		}
		if got := r.Wire.Bytes > 22*r.Wire.Writes; got != encrypted {
			t.Errorf("tls=%s: %d bytes in %d writes", set, r.Wire.Bytes, r.Wire.Writes)
		}
	}
}
