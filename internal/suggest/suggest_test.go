package suggest

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	names := []string{"tcp", "Raymond", "a", "A"}
	for name, want := range map[string]string{"tcp": "tcp", "TCP": "tcp", "raymond": "Raymond", "a": "a", "A": "A", "udp": "", "": ""} {
		if got, ok := Find(name, names); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v; want %q", name, got, ok, want)
		}
	}
	if got, ok := Find("B", []string{"b", "b"}); !ok || got != "b" {
		t.Errorf("a name that is listed twice: %q, %v", got, ok)
	}
	if got, ok := Find("BB", []string{"bb", "bB"}); ok {
		t.Errorf("one of two that differ in case alone was taken: %q", got)
	}
}

func TestNear(t *testing.T) {
	names := []string{"maekawa", "maekawa-as-published", "raymond", "raymond-robust", "lamport", "lamport-optimized", "tcp", "udp", "nats"}
	for name, want := range map[string]string{
		"maekwa": "maekawa", "MAEKWA": "maekawa", "meakawa": "maekawa", "raymnod": "raymond", "raimund": "raymond", "tpc": "tcp",
		"upd": "udp", "t": "tcp", "nast": "nats", "pigeon": "", "": "", "xy": "", "xyz": "", "raymond-": "raymond",
		"lamport-opt": "lamport-optimized", "maekawa-as": "maekawa-as-published", "xxtcpxx": "",
	} {
		if got := Near(name, names); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	// Two names begin so, and neither is near.
	if got := Near("agra", []string{"agrawal-el-abbadi", "agrawal-el-abbadi-as-published"}); got != "" {
		t.Errorf("agra: %q", got)
	}
}

// distance is the same by recursion, without a table and without a bound.
func distance(x, y string) int {
	if x == "" || y == "" {
		return len(x) + len(y)
	}
	cost := 1
	if x[0] == y[0] {
		cost = 0
	}
	d := min(distance(x[1:], y)+1, distance(x, y[1:])+1, distance(x[1:], y[1:])+cost)
	if len(x) > 1 && len(y) > 1 && x[0] == y[1] && x[1] == y[0] {
		d = min(d, distance(x[2:], y[2:])+1)
	}
	return d
}

func TestEditsAgreesWithItsTwin(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	word := func() string {
		var b strings.Builder
		for range rng.IntN(6) {
			b.WriteByte("abc"[rng.IntN(3)])
		}
		return b.String()
	}
	for range 3000 {
		x, y := word(), word()
		if got, want := edits(x, y, 2), min(distance(x, y), 3); got != want {
			t.Fatalf("%q to %q: %d, want %d", x, y, got, want)
		}
	}
}

func TestUnknown(t *testing.T) {
	names := []string{"tcp", "udp"}
	for name, want := range map[string]string{
		"tpc":    `unknown transport "tpc"; did you mean 'tcp'?`,
		"pigeon": `unknown transport "pigeon"; there are tcp, udp`,
	} {
		if got := Unknown("transport", name, names, All(names)).Error(); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}
