package workload

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"dmebench/dme"
)

// plan makes a plan with the options at their defaults but for set.
func plan(t *testing.T, s Spec, nodes int, seed uint64, set map[string]string) *Plan {
	t.Helper()
	kind, err := Lookup(s.Name)
	if err != nil {
		t.Fatal(err)
	}
	if s.Options, err = dme.ResolveOptions(kind.Options, set); err != nil {
		t.Fatal(err)
	}
	p, err := New(s, nodes, seed)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// all returns everything that a client has to say, up to a bound.
func all(c *Client) (times []time.Duration) {
	for len(times) < 100000 {
		after, ok := c.Next()
		if !ok {
			break
		}
		times = append(times, after)
	}
	return times
}

func TestShares(t *testing.T) {
	for _, x := range []struct {
		nodes, requests int
		want            []int
	}{
		{1, 1, []int{1}}, {3, 10, []int{4, 3, 3}}, {4, 3, []int{1, 1, 1, 0}}, {4, 8, []int{2, 2, 2, 2}},
	} {
		for _, name := range []string{"saturate", "burst"} {
			p := plan(t, Spec{Name: name, Requests: x.requests}, x.nodes, 1, nil)
			if p.Requests() != x.requests {
				t.Errorf("%s: %d requests, want %d", name, p.Requests(), x.requests)
			}
			got := make([]int, x.nodes)
			for i := range got {
				id := dme.NodeID(i + 1)
				if got[i] = p.Share(id); name != "burst" {
					if n := len(all(p.Client(id))); n != got[i] {
						t.Errorf("%s: node %d makes %d requests of its share of %d", name, id, n, got[i])
					}
				}
			}
			if !slices.Equal(got, x.want) {
				t.Errorf("%s: shares %v of %d, want %v", name, got, x.requests, x.want)
			}
		}
	}
	if p := plan(t, Spec{Name: "saturate", Duration: time.Second}, 3, 1, nil); p.Share(2) != -1 || p.Requests() != 0 {
		t.Errorf("a share of %d where only the duration limits, %d in all", p.Share(2), p.Requests())
	}
}

// moments returns mean and variance, in seconds.
func moments(x []time.Duration) (mean, variance float64) {
	for _, d := range x {
		mean += d.Seconds() / float64(len(x))
	}
	for _, d := range x {
		variance += (d.Seconds() - mean) * (d.Seconds() - mean) / float64(len(x)-1)
	}
	return mean, variance
}

// gaps returns the times between arrivals.
func gaps(at []time.Duration) []time.Duration {
	g := make([]time.Duration, len(at))
	var last time.Duration
	for i, x := range at {
		g[i], last = x-last, x
	}
	return g
}

// exponential checks mean, variance and median of a sample against an
// exponential distribution: within five standard errors.
func exponential(t *testing.T, what string, x []time.Duration, mean float64) {
	t.Helper()
	n := float64(len(x))
	m, v := moments(x)
	if math.Abs(m/mean-1) > 5/math.Sqrt(n) {
		t.Errorf("%s: mean %v, want %v", what, m, mean)
	}
	// The fourth central moment of an exponential is 9 mean⁴.
	if math.Abs(v/mean/mean-1) > 5*math.Sqrt(8/n) {
		t.Errorf("%s: variance %v, want %v", what, v, mean*mean)
	}
	y := slices.Sorted(slices.Values(x))
	if median := y[len(y)/2].Seconds() / mean; math.Abs(median-math.Ln2) > 5/math.Sqrt(n) {
		t.Errorf("%s: median %v of the mean, want ln 2", what, median)
	}
}

func TestPoisson(t *testing.T) {
	const n = 20000
	p := plan(t, Spec{Name: "poisson", Rate: 250, Requests: 3 * n}, 3, 7, nil)
	var first []time.Duration
	for id := dme.NodeID(1); id <= 3; id++ {
		at := all(p.Client(id))
		if math.Abs(float64(len(at)-n)) > 5*math.Sqrt(n) || !slices.IsSorted(at) {
			t.Fatalf("node %d: %d arrivals, in order: %v", id, len(at), slices.IsSorted(at))
		}
		exponential(t, fmt.Sprintf("gaps of node %d", id), gaps(at), 1./250)
		if id == 1 {
			first = at
		} else if slices.Equal(first, at) {
			t.Errorf("node %d asks when node 1 does", id)
		}
	}
	if got := p.OfferedRate(); got != 750 {
		t.Errorf("offered %v, want 750", got)
	}
	total := plan(t, Spec{Name: "poisson", TotalRate: 750, Requests: 3 * n}, 3, 7, nil)
	if !slices.Equal(all(total.Client(1)), first) || total.OfferedRate() != 750 {
		t.Error("a total rate of 750 is not 250 for each of three nodes")
	}
}

func TestHotspotRates(t *testing.T) {
	const n = 20000
	p := plan(t, Spec{Name: "hotspot", TotalRate: 1000, Requests: n}, 4, 9, map[string]string{"hot": "1", "share": "0.7"})
	exponential(t, "hot", gaps(all(p.Client(1))), 1./700)
	exponential(t, "cold", gaps(all(p.Client(3))), 1./100)
}

func TestSaturate(t *testing.T) {
	p := plan(t, Spec{Name: "saturate", Requests: 6}, 2, 1, nil)
	if got := all(p.Client(1)); !slices.Equal(got, make([]time.Duration, 3)) {
		t.Errorf("pauses %v, want three of none", got)
	}
	p = plan(t, Spec{Name: "saturate", Requests: 40000}, 2, 1, map[string]string{"think": "exp:5ms"})
	pauses := all(p.Client(2))
	exponential(t, "think time", pauses, 0.005)
	if slices.Equal(pauses, all(p.Client(1))) {
		t.Error("two nodes think alike")
	}
	if p.Drive() != Closed || p.OfferedRate() != 0 {
		t.Error("a closed loop offers no rate")
	}
}

func TestHolds(t *testing.T) {
	draw := func(c *Client) (x []time.Duration) {
		for range 20000 {
			x = append(x, c.Hold())
		}
		return x
	}
	s := Spec{Name: "saturate", Requests: 2, CS: Distribution{Mean: time.Millisecond}}
	if got := slices.Compact(draw(plan(t, s, 2, 1, nil).Client(1))); !slices.Equal(got, []time.Duration{time.Millisecond}) {
		t.Errorf("constant: %v", got)
	}
	s.CS.Exponential = true
	p := plan(t, s, 2, 1, nil)
	one := draw(p.Client(1))
	exponential(t, "held", one, 0.001)
	if slices.Equal(one, draw(p.Client(2))) {
		t.Error("two nodes hold alike")
	}
	if p.MeanHold() != time.Millisecond {
		t.Errorf("mean hold %v", p.MeanHold())
	}
}

// TestClientsAreIndependent interleaves what clients draw in different ways:
// nobody's numbers may depend on how fast another one is, or on another purpose.
func TestClientsAreIndependent(t *testing.T) {
	s := Spec{Name: "poisson", Rate: 10, Requests: 1200, CS: Distribution{Mean: time.Millisecond, Exponential: true}}
	p := plan(t, s, 3, 4, nil)
	alone := make(map[dme.NodeID][]time.Duration)
	held := make(map[dme.NodeID][]time.Duration)
	for id := dme.NodeID(1); id <= 3; id++ {
		c := p.Client(id)
		alone[id] = all(c)
		for range 200 {
			held[id] = append(held[id], c.Hold())
		}
	}
	clients := []*Client{p.Client(1), p.Client(2), p.Client(3)}
	for k := range 200 {
		for i := range clients {
			c := clients[(i+k)%3]
			id := dme.NodeID((i+k)%3 + 1)
			if k%2 == 0 {
				if d := c.Hold(); d != held[id][k/2] {
					t.Fatalf("node %d holds %v, alone %v", id, d, held[id][k/2])
				}
			}
			if after, _ := c.Next(); after != alone[id][k] {
				t.Fatalf("node %d asks at %v, alone at %v", id, after, alone[id][k])
			}
		}
	}
	other := plan(t, s, 3, 5, nil)
	if slices.Equal(all(other.Client(1)), alone[1]) {
		t.Error("another seed, the same arrivals")
	}
}

func TestSerial(t *testing.T) {
	sequence := func(p *Plan, n int) (ids []dme.NodeID) {
		for k := range n {
			step := p.Step(k)
			if len(step) != 1 || step[0].After != 0 {
				t.Fatalf("step %d: %v", k, step)
			}
			ids = append(ids, step[0].Node)
		}
		return ids
	}
	const n = 21000
	p := plan(t, Spec{Name: "serial", Requests: n}, 7, 3, nil)
	if p.Steps() != n || p.Requests() != n || p.Drive() != Stepped || p.Share(1) != -1 {
		t.Errorf("%d steps, %d requests, share %d", p.Steps(), p.Requests(), p.Share(1))
	}
	drawn := sequence(p, n)
	count := make([]int, 8)
	for _, id := range drawn {
		count[id]++
	}
	for id := 1; id <= 7; id++ { // five standard deviations
		if math.Abs(float64(count[id])-n/7.) > 5*math.Sqrt(n*6/49.) {
			t.Errorf("node %d was drawn %d times of %d", id, count[id], n)
		}
	}
	// By nothing but the seed and the number of nodes.
	same := plan(t, Spec{Name: "serial", Duration: time.Hour, CS: Distribution{Mean: time.Second, Exponential: true}}, 7, 3, nil)
	if !slices.Equal(sequence(same, 1000), drawn[:1000]) {
		t.Error("the sequence depends on more than the seed")
	}
	if same.Steps() != -1 || same.Requests() != 0 {
		t.Errorf("%d steps and %d requests where only the duration limits", same.Steps(), same.Requests())
	}
	if same.Step(77)[0].Node != drawn[77] {
		t.Error("a step depends on the ones asked for before")
	}
	if slices.Equal(sequence(plan(t, Spec{Name: "serial", Requests: n}, 7, 4, nil), 1000), drawn[:1000]) {
		t.Error("another seed, the same sequence")
	}
	each := plan(t, Spec{Name: "serial", Requests: 9}, 3, 3, map[string]string{"requesters": "each"})
	if got := sequence(each, 7); !slices.Equal(got, []dme.NodeID{1, 2, 3, 1, 2, 3, 1}) {
		t.Errorf("in turn: %v", got)
	}
	if _, ok := p.Client(1).Next(); ok {
		t.Error("a stepped client asks by itself")
	}
}

func TestBurst(t *testing.T) {
	p := plan(t, Spec{Name: "burst", Requests: 10}, 4, 3, map[string]string{"window": "2ms"})
	if p.Steps() != 3 || p.Requests() != 10 {
		t.Errorf("%d rounds, %d requests", p.Steps(), p.Requests())
	}
	var rounds [][]Arrival
	var nodes [][]dme.NodeID
	for k := range 3 {
		rounds = append(rounds, p.Step(k))
		var ids []dme.NodeID
		for _, a := range rounds[k] {
			ids = append(ids, a.Node)
			if a.After < 0 || a.After >= 2*time.Millisecond {
				t.Errorf("round %d: node %d asks after %v", k, a.Node, a.After)
			}
		}
		nodes = append(nodes, ids)
	}
	if fmt.Sprint(nodes) != "[[1 2 3 4] [1 2 3 4] [1 2]]" {
		t.Errorf("who asks: %v", nodes)
	}
	if !slices.Equal(p.Step(1), rounds[1]) || slices.Equal(rounds[0], rounds[1]) {
		t.Error("a round must be the same each time, and unlike the others")
	}
	at := plan(t, Spec{Name: "burst", Requests: 4}, 4, 3, map[string]string{"window": "0s"}).Step(0)
	if slices.ContainsFunc(at, func(a Arrival) bool { return a.After != 0 }) {
		t.Errorf("without a window: %v", at)
	}
}

func TestFaultsAreToldTogether(t *testing.T) {
	for _, x := range []struct {
		name  string
		spec  Spec
		nodes int
		want  []string
	}{
		{"unknown", Spec{Name: "bursty", Requests: 1}, 1, []string{`unknown workload "bursty"; did you mean 'burst'?`}},
		{"no end", Spec{Name: "saturate"}, 1, []string{"needs a number of requests or a duration"}},
		{"no rate", Spec{Name: "poisson", Requests: 1}, 1, []string{"needs a rate per node or a total rate"}},
		{"two rates", Spec{Name: "poisson", Requests: 1, Rate: 1, TotalRate: 1}, 1, []string{"not both"}},
		{"a rate too many", Spec{Name: "burst", Requests: 1, Rate: 1}, 1, []string{"takes no rate"}},
		{"NaN", Spec{Name: "poisson", Requests: 1, Rate: math.NaN()}, 1, []string{"NaN is not a rate"}},
		{"infinite", Spec{Name: "poisson", Requests: 1, TotalRate: math.Inf(1)}, 1, []string{"+Inf is not a rate"}},
		{"everything", Spec{Name: "hotspot", Requests: -1, Rate: -2, CS: Distribution{Mean: -3}}, 0, []string{
			"0 nodes", "-2 is not a rate", "cannot last -3ns", "must not be negative", "needs a rate",
		}},
		{"longer than all clocks", Spec{Name: "saturate", Duration: math.MaxInt64}, 1, []string{"is longer than 2400h0m0s"}},
		{"a hold longer than all clocks", Spec{Name: "saturate", Requests: 1, CS: Distribution{Mean: math.MaxInt64}}, 1,
			[]string{"cannot last 2562047h47m16.854775807s"}},
		{"longer than all clocks together", Spec{Name: "saturate", Requests: 1000, CS: Distribution{Mean: MaxDuration}}, 1,
			[]string{"1000 critical sections of 2400h0m0s one after the other take longer than 200 years"}},
		{"more hot nodes than nodes", Spec{
			Name: "hotspot", Requests: 1, Rate: 1, Options: dme.Options{"hot": "5", "share": "0.8"},
		}, 4, []string{"hot=5: there are only 4 nodes"}},
	} {
		_, err := New(x.spec, x.nodes, 1)
		if err == nil {
			t.Errorf("%s: accepted", x.name)
			continue
		}
		for _, want := range x.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q does not say %q", x.name, err, want)
			}
		}
	}
}

func TestDistributions(t *testing.T) {
	for _, x := range []struct {
		text string
		want Distribution
	}{
		{"100us", Distribution{Mean: 100 * time.Microsecond}},
		{"exp:1.5s", Distribution{Mean: 1500 * time.Millisecond, Exponential: true}},
		{"0", Distribution{}},
	} {
		got, err := ParseDistribution(x.text)
		if err != nil || got != x.want {
			t.Errorf("%s: %v, %v", x.text, got, err)
		}
		if again, err := ParseDistribution(got.String()); err != nil || again != got {
			t.Errorf("%s: %s reads back as %v, %v", x.text, got, again, err)
		}
	}
	for _, text := range []string{"", "100", "exp:", "exp", "-1s", "exp:-1s", "exp:exp:1s", "uniform:1s"} {
		if d, err := ParseDistribution(text); err == nil {
			t.Errorf("%q passes for %v", text, d)
		}
	}
}

func TestOptionsCheckThemselves(t *testing.T) {
	for _, kind := range Kinds() {
		for _, o := range kind.Options {
			if err := o.Accepts(o.Default); err != nil {
				t.Errorf("%s: its default: %v", kind.Name, err)
			}
		}
	}
	for _, x := range [][3]string{
		{"saturate", "think", "soon"}, {"serial", "requesters", "some"}, {"burst", "window", "exp:1ms"}, {"burst", "window", "-1ms"},
		{"hotspot", "hot", "0"}, {"hotspot", "hot", "1.5"}, {"hotspot", "share", "0"}, {"hotspot", "share", "1.1"},
		{"hotspot", "share", "NaN"},
	} {
		kind, err := Lookup(x[0])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := dme.ResolveOptions(kind.Options, map[string]string{x[1]: x[2]}); err == nil {
			t.Errorf("%s: %s=%s is accepted", x[0], x[1], x[2])
		}
	}
}

func TestNoArrivalBeyondTheClock(t *testing.T) {
	p := plan(t, Spec{Name: "poisson", Rate: 1e-12, Requests: 10}, 1, 1, nil)
	if got := all(p.Client(1)); len(got) != 0 {
		t.Errorf("arrivals at %v: beyond what 64 bits of nanoseconds hold", got)
	}
}
