package workload

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/internal/testkit"
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

func traced(text string, nodes, requests int) (*Plan, error) {
	return New(Spec{
		Name: "trace", Requests: requests, CS: Distribution{Mean: time.Microsecond},
		Options:  dme.Options{"file": "day.csv"},
		ReadFile: func(string) ([]byte, error) { return []byte(text), nil },
	}, nodes, 1)
}

func FuzzTrace(f *testing.F) {
	f.Add("0,1\n1,2,0.5\n")
	f.Add("#\n0.1,3,\n")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := traced(text, 3, 0)
		if err != nil {
			return
		}
		n := 0
		for id := dme.NodeID(1); id <= 3; id++ {
			times := all(p.Client(id))
			n += len(times)
			if !slices.IsSorted(times) || len(times) > 0 && times[0] < 0 {
				t.Fatalf("node %d asks at %v", id, times)
			}
		}
		if n != p.Requests() && n < 100000 {
			t.Fatalf("%d requests, told %d", n, p.Requests())
		}
	})
}

// What plans say: how many requests and steps there are, and of each node its share, when
// it asks first, how long it stays and which of its requests are readers'. What cannot be
// planned says why. A line is "NODES SEED SPEC", after the options "set NAME=VALUE" and the
// lines "trace LINE" of a file.
func TestPlans(t *testing.T) {
	testkit.Cases(t, "testdata/plans.txt", func(t *testing.T, input []string) string {
		set, file := map[string]string{}, ""
		for _, line := range input[:len(input)-1] {
			what, rest, _ := strings.Cut(line, " ")
			if name, value, _ := strings.Cut(rest, "="); what == "set" {
				set[name] = value
			} else {
				file += rest + "\n"
			}
		}
		var nodes int
		var seed uint64
		last := input[len(input)-1]
		if _, err := fmt.Sscan(last, &nodes, &seed); err != nil {
			t.Fatal(err)
		}
		s := Spec{CS: Distribution{Mean: time.Millisecond, Exponential: true}}
		testkit.Set(t, &s, "", last[strings.Index(last, "{"):])
		kind, err := Lookup(s.Name)
		if err == nil {
			s.Options, err = dme.ResolveOptions(kind.Options, set)
		}
		if err != nil {
			return err.Error()
		}
		if file != "" {
			s.ReadFile = func(string) ([]byte, error) { return []byte(file), nil }
		}
		p, err := New(s, nodes, seed)
		if err != nil {
			return err.Error()
		}
		out := fmt.Sprintf("%d requests, %d steps, %v per second, stays %v, at most %v",
			p.Requests(), p.Steps(), p.OfferedRate(), p.MeanHold(), p.LongestHold())
		for k := 0; p.Drive() == Stepped && k < 3 && (p.Steps() < 0 || k < p.Steps()); k++ {
			out += fmt.Sprintf("\nstep %v", p.Step(k))
		}
		for id := dme.NodeID(1); int(id) <= min(nodes, 3); id++ {
			c := p.Client(id)
			times := all(c)
			out += fmt.Sprintf("\nnode %d: share %d, asks %d times %v, stays %v %v, reads %v %v", id, p.Share(id), len(times),
				times[:min(3, len(times))], c.Hold(), c.Hold(), c.Reads(), c.Reads())
		}
		return out
	})
}
