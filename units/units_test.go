package units_test

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"dmebench/units"
)

// Whatever is written is written as a person would.
func TestWritten(t *testing.T) {
	pointer := func(x float64) *float64 { return &x }
	for _, x := range []struct {
		what, got, want string
	}{
		{"a number", words(units.Number, 0, 14, 9.8237, 126.37, 0.5, 0.012345), "0 14 9.824 126.4 0.5 0.01235"},
		{"with thousands", words(units.Number, 999.96, 1000, 12345.6, 1234567, -12345), "1,000 1,000 12,346 1,234,567 −12,345"},
		{"small and negative", words(units.Number, -3.25, 1.5e-7, 9.99999), "−3.25 1.5e-7 10"},
		{"none", words(units.Number, math.NaN(), math.Inf(1)), "– –"},
		{"a time", words(units.Time, 0, 12, 999, 1000, 1234567, 2.5e9, -1500, math.NaN()),
			"0 s 12 ns 999 ns 1 µs 1.235 ms 2.5 s −1.5 µs –"},
		{"a count", words(units.Count, 0, 999, 1000, 18446744073709551615), "0 999 1,000 18,446,744,073,709,551,615"},
		{"things", units.Counted(1, "run") + ", " + units.Counted(2000, "run") + ", " + units.Counted(0, "process"),
			"1 run, 2,000 runs, 0 processes"},
		{"bytes", words(units.Bytes, 0, 999, 1000, 4<<20, 52_112_564_000, 3e18), "0 bytes 999 bytes 1 kB 4.19 MB 52.1 GB 3e+03 PB"},
		{"no median", units.Spread(nil, nil, nil), ""},
		{"no interval", units.Spread(pointer(5), nil, pointer(6)), "∞"},
		{"an interval of no width", units.Spread(pointer(0), pointer(0), pointer(0)), "0%"},
		{"around 0", units.Spread(pointer(0), pointer(-1), pointer(1)), "?"},
		{"further down", units.Spread(pointer(100), pointer(90), pointer(102)), "10%"},
		{"further up", units.Spread(pointer(100), pointer(99), pointer(130)), "30%"},
		{"negative", units.Spread(pointer(-100), pointer(-120), pointer(-90)), "20%"},
		{"names", words(units.Slug, "Raymond's star, N = 7", "CS 100 µs · t=1.5ms", "../../etc", "线程"),
			"raymond-s-star-n-7 cs-100-us-t-1.5ms etc "},
		{"a long name", units.Slug(strings.Repeat("a", 121)), strings.Repeat("a", 120)},
		{"a name that ends with a word", units.Slug(strings.Repeat("long ", 100)), strings.TrimSuffix(strings.Repeat("long-", 24), "-")},
	} {
		if x.got != x.want {
			t.Errorf("%s: %q, want %q", x.what, x.got, x.want)
		}
	}
}

func words[T any](write func(T) string, values ...T) string {
	var all []string
	for _, x := range values {
		all = append(all, write(x))
	}
	return strings.Join(all, " ")
}

func TestBounded(t *testing.T) {
	for _, x := range []struct {
		ns, bound float64
		want      string
	}{
		{50_012_412, 41_300, "50.012 ms ± 42 µs"}, {-50_012_412, 1_001, "−50.0124 ms ± 1.1 µs"},
		{3_601_204_113_000, 41_000, "3,601.204113 s ± 41 µs"}, {12_400, 41_300, "12 µs ± 42 µs"}, {0, 41_300, "0 µs ± 42 µs"},
		{1_234, 100, "1.23 µs ± 100 ns"}, {1_234, 3e6, "0 ms ± 3 ms"}, {-1_234, 3e9, "0 s ± 3 s"}, {-60_000, 3e6, "−0.1 ms ± 3 ms"},
		{250, 1, "250.0 ns ± 1 ns"}, {999_999, 99_999_999, "1 ms ± 100 ms"}, {5e6, 0, "5 ms"}, {0, 0, "0 s"}, {math.NaN(), 5, units.Missing},
	} {
		if got := units.Bounded(x.ns, x.bound); got != x.want {
			t.Errorf("%v ± %v: %q, want %q", x.ns, x.bound, got, x.want)
		}
	}
	// What is written of a bound is never less than the bound, nor more than a tenth more.
	scales := map[string]float64{"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}
	for bound := 1.0; bound < 1e10; bound *= 1.0137 {
		_, text, _ := strings.Cut(units.Bounded(0, bound), "± ")
		number, unit, _ := strings.Cut(text, " ")
		x, err := strconv.ParseFloat(strings.ReplaceAll(number, ",", ""), 64)
		if x *= scales[unit]; err != nil || x < bound*(1-1e-9) || x > bound*1.1 {
			t.Errorf("%v is written as %q", bound, text)
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
