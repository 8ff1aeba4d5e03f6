package units_test

import (
	"math"
	"strings"
	"testing"

	"dmebench/units"
)

func TestNumber(t *testing.T) {
	for _, c := range []struct {
		x    float64
		want string
	}{
		{0, "0"}, {14, "14"}, {9.8237, "9.824"}, {126.37, "126.4"}, {0.5, "0.5"},
		{0.012345, "0.01235"}, {999.96, "1,000"}, {1000, "1,000"}, {12345.6, "12,346"}, {1234567, "1,234,567"},
		{-3.25, "−3.25"}, {-12345, "−12,345"}, {1.5e-7, "1.5e-7"}, {9.99999, "10"},
		{math.NaN(), units.Missing}, {math.Inf(1), units.Missing},
	} {
		if got := units.Number(c.x); got != c.want {
			t.Errorf("Number(%v) = %q, want %q", c.x, got, c.want)
		}
	}
}

func TestTime(t *testing.T) {
	for _, c := range []struct {
		ns   float64
		want string
	}{
		{0, "0 s"}, {12, "12 ns"}, {999, "999 ns"}, {1000, "1 µs"}, {1234567, "1.235 ms"}, {2.5e9, "2.5 s"},
		{-1500, "−1.5 µs"}, {math.NaN(), units.Missing},
	} {
		if got := units.Time(c.ns); got != c.want {
			t.Errorf("Time(%v) = %q, want %q", c.ns, got, c.want)
		}
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[uint64]string{0: "0", 999: "999", 1000: "1,000", 18446744073709551615: "18,446,744,073,709,551,615"} {
		if got := units.Count(n); got != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestSlug(t *testing.T) {
	for text, want := range map[string]string{
		"Raymond's star, N = 7": "raymond-s-star-n-7", "CS 100 µs · t=1.5ms": "cs-100-us-t-1.5ms", "../../etc": "etc", "线程": "",
		strings.Repeat("long ", 100): strings.TrimSuffix(strings.Repeat("long-", 24), "-"),
	} {
		if got := units.Slug(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

func TestNamesAreTakenOnce(t *testing.T) {
	names := make(units.Names)
	for _, want := range []string{"a-b", "a-b-2", "a-b-3"} {
		if got := names.Take("A b"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := names.Take("a b 2"); got != "a-b-2-2" {
		t.Errorf("%q has the name of another one", got)
	}
}
