package noderun

import (
	"reflect"
	"testing"
)

// Every word of a node's counters is copied, and added up or compared.
func TestReadAndTotal(t *testing.T) {
	set := func(n uint64) *Counters {
		c := new(Counters)
		for k := range c.Sent {
			c.Sent[k].Store(n + uint64(k))
			c.Handled[k].Store(2*n + uint64(k))
		}
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
		case va.Field(i).Kind() == reflect.Array:
			for k := range va.Field(i).Len() {
				x, y := va.Field(i).Index(k).Uint(), vb.Field(i).Index(k).Uint()
				if x == 0 || sum.Field(i).Index(k).Uint() != x+y {
					t.Errorf("%s[%d]: %d and %d make %d", name, k, x, y, sum.Field(i).Index(k).Uint())
				}
			}
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
