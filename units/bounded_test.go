package units

import (
	"math"
	"strconv"
	"strings"
	"testing"
)

func TestBounded(t *testing.T) {
	for _, x := range []struct {
		ns, bound float64
		want      string
	}{
		{50_012_412, 41_300, "50.012 ms ± 42 µs"},
		{-50_012_412, 1_001, "−50.0124 ms ± 1.1 µs"},
		{3_601_204_113_000, 41_000, "3,601.204113 s ± 41 µs"},
		{12_400, 41_300, "12 µs ± 42 µs"},
		{0, 41_300, "0 µs ± 42 µs"},
		{1_234, 100, "1.23 µs ± 100 ns"},
		{1_234, 3e6, "0 ms ± 3 ms"},
		{-1_234, 3e9, "0 s ± 3 s"},
		{-60_000, 3e6, "−0.1 ms ± 3 ms"},
		{250, 1, "250.0 ns ± 1 ns"},
		{999_999, 99_999_999, "1 ms ± 100 ms"},
		{5e6, 0, "5 ms"},
		{0, 0, "0 s"},
		{math.NaN(), 5, Missing},
	} {
		if got := Bounded(x.ns, x.bound); got != x.want {
			t.Errorf("%v ± %v: %q, want %q", x.ns, x.bound, got, x.want)
		}
	}
}

// What is written of a bound is never less than the bound, nor more than a tenth more.
func TestBoundsAreRoundedUp(t *testing.T) {
	for bound := 1.0; bound < 1e10; bound *= 1.0137 {
		text := Bounded(0, bound)
		var scale float64
		var rest string
		for unit, divisor := range map[string]float64{" ns": 1, " µs": 1e3, " ms": 1e6, " s": 1e9} {
			if i := len(text) - len(unit); text[i:] == unit {
				rest, scale = text[:i], divisor
			}
		}
		x := parse(t, rest) * scale
		if x < bound*(1-1e-9) || x > bound*1.1 {
			t.Errorf("%v is written as %q", bound, text)
		}
	}
}

func parse(t *testing.T, bounded string) float64 {
	t.Helper()
	_, text, _ := strings.Cut(bounded, "± ")
	x, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}
