package localprocess

import (
	"testing"

	"dmebench/dme"
	"dmebench/workload"
)

// A reader's request reaches the node as one, and its entry is recorded so.
func TestReadersAskAsReaders(t *testing.T) {
	for _, readers := range []string{"0", "1"} {
		r := newRoom(t, workload.Spec{Name: "saturate", Requests: 3, CS: ten}, map[string]string{"readers": readers}, true)
		node := r.p.Node().(*script)
		asked, shared := 0, 0
		node.request = func(out *dme.Outbox) { asked++; out.Enter(dme.Stamp{}) }
		node.shared = func(out *dme.Outbox) { shared++; out.Enter(dme.Stamp{}) }
		r.p.Begin(100)
		entries := r.run(t)
		want := 0
		if readers == "1" {
			want = 3
		}
		if shared != want || asked != 3-want || len(entries) != 3 {
			t.Errorf("readers=%s: %d readers and %d writers asked, %d entered", readers, shared, asked, len(entries))
		}
		for _, e := range entries {
			if e.Shared != (want == 3) {
				t.Errorf("readers=%s: entry %+v", readers, e)
			}
		}
	}
}
