package units

import "testing"

func TestBytes(t *testing.T) {
	for n, want := range map[uint64]string{
		0: "0 bytes", 999: "999 bytes", 1000: "1 kB", 4 << 20: "4.19 MB", 52_112_564_000: "52.1 GB", 3e18: "3e+03 PB",
	} {
		if got := Bytes(n); got != want {
			t.Errorf("%d: got %q, want %q", n, got, want)
		}
	}
}
