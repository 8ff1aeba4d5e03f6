package units

import "testing"

func TestSpread(t *testing.T) {
	x := func(v float64) *float64 { return &v }
	for _, c := range []struct {
		median, lo, hi *float64
		want           string
	}{
		{nil, nil, nil, ""},
		{x(5), nil, x(6), "∞"},
		{x(5), x(5), x(5), "0%"},
		{x(0), x(0), x(0), "0%"},
		{x(0), x(-1), x(1), "?"},
		{x(100), x(90), x(102), "10%"},
		{x(100), x(99), x(130), "30%"},
		{x(-100), x(-120), x(-90), "20%"},
	} {
		if got := Spread(c.median, c.lo, c.hi); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
