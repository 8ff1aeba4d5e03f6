package transport_test

import (
	"reflect"
	"testing"

	"dmebench/transport"
)

// No field of the counters is forgotten in sums and differences.
func TestCountersAddUp(t *testing.T) {
	var a, b transport.Counters
	x, y := reflect.ValueOf(&a).Elem(), reflect.ValueOf(&b).Elem()
	for i := range x.NumField() {
		x.Field(i).SetUint(uint64(100 + 7*i))
		y.Field(i).SetUint(uint64(1 + i))
	}
	plus, minus := reflect.ValueOf(a.Plus(b)), reflect.ValueOf(a.Minus(b))
	for i := range x.NumField() {
		name := x.Type().Field(i).Name
		wantPlus, wantMinus := x.Field(i).Uint()+y.Field(i).Uint(), x.Field(i).Uint()-y.Field(i).Uint()
		if name == "LargestBacklog" { // the most that there was on any link, at any time
			wantPlus, wantMinus = x.Field(i).Uint(), x.Field(i).Uint()
		}
		if plus.Field(i).Uint() != wantPlus || minus.Field(i).Uint() != wantMinus {
			t.Errorf("%s: %d plus %d is %d, minus %d", name, x.Field(i).Uint(), y.Field(i).Uint(), plus.Field(i).Uint(), minus.Field(i).Uint())
		}
	}
}
