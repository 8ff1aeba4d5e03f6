package noderun

import (
	"reflect"
	"slices"
	"testing"

	"dmebench/dme"
)

// Every word of a node's counters is copied, and added up or compared.
func TestReadAndTotal(t *testing.T) {
	set := func(n uint64) *Counters {
		c := new(Counters)
		v := reflect.ValueOf(c).Elem()
		for i := range v.NumField() {
			if store := v.Field(i).Addr().MethodByName("Store"); store.IsValid() {
				store.Call([]reflect.Value{reflect.ValueOf(n + uint64(i)).Convert(store.Type().In(0))})
			}
		}
		return c
	}
	a, b := Read(set(100)), Read(set(1000))
	both := Total([]Counts{b, a})
	largest := map[string]bool{"LongestMessage": true, "LongestQueue": true, "LastMove": true}
	va, vb, sum := reflect.ValueOf(a), reflect.ValueOf(b), reflect.ValueOf(both)
	for i := range va.NumField() {
		switch name := va.Type().Field(i).Name; {
		case name == "_" || name == "Activity":
		default:
			number := func(v reflect.Value) uint64 { return v.Field(i).Convert(reflect.TypeFor[uint64]()).Uint() }
			want := number(va) + number(vb)
			if largest[name] {
				want = number(vb)
			}
			if number(va) != 100+uint64(i) || number(sum) != want {
				t.Errorf("%s: %d and %d make %d, want %d", name, number(va), number(vb), number(sum), want)
			}
		}
	}
}

// Every kind is copied and added up, and the transmissions.
func TestReadAndAddTraffic(t *testing.T) {
	var from Traffic
	for k := range from.Sent {
		from.Sent[k].Store(100 + uint64(k))
		from.Handled[k].Store(200 + uint64(k))
	}
	from.Transmissions.Store(7)
	sum, more := ReadTraffic(&from), ReadTraffic(&from)
	AddTraffic(&sum, &more)
	for k := range sum.Sent {
		if sum.Sent[k] != 200+2*uint64(k) || sum.Handled[k] != 400+2*uint64(k) || sum.Transmissions != 14 {
			t.Errorf("kind %d: %+v", k, sum)
		}
	}
}

// A host that is put back to an earlier moment goes on from there, whatever an
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
