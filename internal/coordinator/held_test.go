package coordinator

import (
	"strings"
	"testing"
	"time"

	"dmebench/result"
)

// A link that holds what was sent is no fault of the algorithm, on any network that loses
// nothing; the link is named, and no other. A run in which everything was handled has stalled.
func TestHeldMessagesAreNoStall(t *testing.T) {
	const narrow = "2-3@600ms-1h:bandwidth=1" // the link takes a minute or so for a message
	held := []string{"the network holds messages: ", " from node 2 (worker 1, pid ", " to node 3 (worker 2, pid ", "); mend the way"}
	for name, c := range map[string]struct {
		algorithm, transport, links string
		status                      result.Status
		want                        []string
	}{
		"tcp":        {"ricart-agrawala", "tcp", narrow, result.Failed, held},
		"udp":        {"ricart-agrawala", "udp", narrow, result.Failed, held},
		"nats":       {"ricart-agrawala", "nats", narrow, result.Failed, held},
		"handled":    {"stingy", "tcp", "none", result.Stalled, []string{"nothing has moved for 500ms; messages sent 6, handled 6"}},
		"unreliable": {"ricart-agrawala", "tcp", narrow + ";1-3@600ms-1h:loss=1", result.Stalled, []string{"nothing has moved for"}},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := execute(t, t.Context(), result.Spec{
				Algorithm: c.algorithm, Nodes: 3, Transport: c.transport, CS: "1ms", Duration: result.Duration(time.Minute),
				StallAfter: result.Duration(500 * time.Millisecond), AllowMismatch: true, Set: map[string]string{"links": c.links},
			}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range c.want {
				if r.Status != c.status || r.Liveness.Stalled != (c.status == result.Stalled) || !strings.Contains(r.Error, want) {
					t.Errorf("status %s, want %s; of %q: %s", r.Status, c.status, want, r.Error)
				}
			}
			if strings.Contains(r.Error, "more links") || len(r.Liveness.States) != 3 {
				t.Errorf("%s: states %v", r.Error, r.Liveness.States)
			}
		})
	}
}
