package link

import (
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"dmebench/dme"
)

// sitesOf reads the sites of a file of that text for a number of nodes.
func sitesOf(t *testing.T, text, place string, nodes int) (*Sites, error) {
	t.Helper()
	o, err := dme.ResolveOptions(Options(), map[string]string{"sites": "file:F", "place": place})
	if err != nil {
		t.Fatal(err)
	}
	if err := Locate(o, nodes, func(string) ([]byte, error) { return []byte(text), nil }); err != nil {
		return nil, err
	}
	c, err := Parse(maps.Clone(o))
	if err != nil || c.Idle() {
		t.Fatalf("%v; idle: %v", err, c.Idle())
	}
	return c.Sites, nil
}

const threeSites = `# to and fro
oslo, paris, 9ms, 2ms
paris,oslo,10ms
oslo,rome,12ms
paris,rome,7ms
rome,rome,1ms
rome,1
oslo,2-4
`

func TestSites(t *testing.T) {
	ms := time.Millisecond
	for _, x := range []struct {
		place string
		nodes int
		at    []int // by node
	}{
		{"blocks", 7, []int{0, 0, 0, 1, 1, 2, 2}},
		{"blocks", 2, []int{0, 1}},
		{"round-robin", 5, []int{0, 1, 2, 0, 1}},
		{"file", 4, []int{2, 0, 0, 0}},
	} {
		s, err := sitesOf(t, threeSites, x.place, x.nodes)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range x.at {
			if got := s.Of(dme.NodeID(i + 1)); got != want {
				t.Errorf("%s of %d: node %d is at %s, want %s", x.place, x.nodes, i+1, s.Names[got], s.Names[want])
			}
		}
		want := [][]time.Duration{{0, 10 * ms, 12 * ms}, {10 * ms, 0, 7 * ms}, {12 * ms, 7 * ms, ms}}
		for a := range want {
			for b, d := range want[a] {
				if got := s.Delay(a, b); got != d {
					t.Errorf("from %s to %s: %v, want %v", s.Names[a], s.Names[b], got, d)
				}
			}
		}
	}
}

// Each frame has the delay of its way, from 9 ms to 11 ms where jitter is 2 ms, and
// another condition adds to that. No other draw changes.
func TestFramesBetweenSites(t *testing.T) {
	s, err := sitesOf(t, threeSites, "round-robin", 3)
	if err != nil {
		t.Fatal(err)
	}
	with := Config{Seed: 5, All: harsh, Sites: s}
	without := Config{Seed: 5, All: harsh}
	for l, from := range map[Link]time.Duration{{1, 2}: 9 * time.Millisecond, {2, 1}: 10 * time.Millisecond, {3, 1}: 12 * time.Millisecond} {
		a, b := with.Conditioner(l), without.Conditioner(l)
		var jitter time.Duration
		if l == (Link{1, 2}) {
			jitter = 2 * time.Millisecond
		}
		for k := range 200 {
			now := time.Duration(k) * time.Hour // so that no frame waits for one before it
			x, y := a.Next(now, 10), b.Next(now, 10)
			if longer := x.Departure - y.Departure; !x.Lost && (longer < from || longer > from+jitter) {
				t.Fatalf("%v, frame %d takes %v longer, want %v to %v", l, k, longer, from, from+jitter)
			}
			if x.Lost != y.Lost || x.Repeated != y.Repeated || x.Reordered != y.Reordered {
				t.Fatalf("%v, frame %d: %+v, without sites %+v", l, k, x, y)
			}
		}
	}
	if got := with.Typical(0) - without.Typical(0); got != 12*time.Millisecond {
		t.Errorf("a typical frame takes %v longer, want 12ms", got)
	}
}

func TestSitesRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "there are no sites",
		"a,b":                          `line 1: "b": want nodes such as`,
		"a,b,x":                        `line 1: delay "x"`,
		"a,b,1ms,-1ms":                 `line 1: jitter "-1ms"`,
		"a,b,1ms,1ms,1ms":              "want 'from,to,delay'",
		",b,1ms":                       "want 'from,to,delay'",
		"a,b,2m":                       "not a duration from 0s to 1m0s",
		"a,b,1ms\na,b,2ms":             "line 2: the delay from a to b is given twice",
		"a,b,1ms\nb,c,1ms":             "no delay between a and c; add a line 'a,c,10ms'",
		"a,b,1ms\na,1-2\nb,2":          "line 3: node 2 is at a already",
		"a,b,1ms\na,1-2\nb,4":          "no line says where node 3 is",
		"a,b,1ms\na,1-2\nc,3-4":        "node 3 is at c, of which there are no delays",
		"a,b,1ms\na,2-1":               `"2-1": want nodes`,
		"a,b,1ms\na,1-99999999\nb,1-2": `"1-99999999": want nodes`,
	} {
		if _, err := sitesOf(t, text, "file", 4); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.HasPrefix(err.Error(), "sites=file:F: ") {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	o, err := dme.ResolveOptions(Options(), map[string]string{"place": "round-robin"})
	if err = errors.Join(err, Locate(o, 4, nil)); err == nil || !strings.Contains(err.Error(), "place=round-robin: there are no sites") {
		t.Errorf("a place without sites: %v", err)
	}
	for _, bad := range []map[string]string{{"sites": "file:"}, {"sites": "two.csv"}, {"place": "anywhere"}} {
		if _, err := dme.ResolveOptions(Options(), bad); err == nil {
			t.Errorf("%v is accepted", bad)
		}
	}
}

// The program's own table is what the comment in it says: great circles, at 200,000 km/s.
func TestRegions(t *testing.T) {
	s, err := parseSites(Regions, 12, roundRobin)
	if err != nil || len(s.Names) != 12 {
		t.Fatal(err, s)
	}
	want := map[[2]string]float64{ // km
		{"virginia", "ireland"}: 5450, {"frankfurt", "singapore"}: 10270, {"tokyo", "sydney"}: 7800, {"oregon", "ohio"}: 3040,
	}
	for a, from := range s.Names {
		for b, to := range s.Names {
			if s.Delay(a, b) != s.Delay(b, a) || (a == b) != (s.Delay(a, b) == 0) {
				t.Errorf("from %s to %s %v, and %v back", from, to, s.Delay(a, b), s.Delay(b, a))
			}
			if km, ok := want[[2]string{from, to}]; ok {
				if got := s.Delay(a, b).Seconds() * 200_000; got < 0.98*km || got > 1.02*km {
					t.Errorf("from %s to %s %v km, want about %v", from, to, got, km)
				}
			}
		}
	}
}
