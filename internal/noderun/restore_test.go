package noderun

import (
	"slices"
	"testing"

	"dmebench/dme"
)

// A runner that is put back to an earlier moment goes on from there, whatever an
// event that ended in a panic has left in its outbox.
func TestRestore(t *testing.T) {
	node := new(script)
	node.request = func(out *dme.Outbox) {
		out.Send(1, dme.Message{Kind: 1})
		panic("half-way")
	}
	node.release = func(out *dme.Outbox) { out.Send(3, dme.Message{Kind: 1}) }
	h, w := hosted(node)
	func() {
		defer func() {
			if recover() == nil {
				t.Fatal("no panic")
			}
		}()
		h.Request()
	}()
	w.did = nil
	h.Restore(Inside, true)
	if h.Activity() != Inside || !h.Shared() || h.Counters().Activity.Load() != uint64(Inside) {
		t.Errorf("%v, shared %v, counted as %d", h.Activity(), h.Shared(), h.Counters().Activity.Load())
	}
	h.Release()
	if len(w.did) != 1 || !slices.ContainsFunc(w.did, func(s string) bool { return s == "send 2-3 kind 1 vec []" }) || h.Activity() != Idle {
		t.Errorf("did %q, %v", w.did, h.Activity())
	}
}
