package parcel

import "testing"

// A weak test: no parcel is as heavy as the limit.
func TestPrice(t *testing.T) {
	for grams, want := range map[int]int{0: 0, 1: 10, 100: 10, 101: 20, 900: 90} {
		if got, err := Price(grams); got != want || err != nil {
			t.Errorf("%d g cost %d, %v", grams, got, err)
		}
	}
	if _, err := Price(2000); err == nil {
		t.Error("2000 g are carried")
	}
}
