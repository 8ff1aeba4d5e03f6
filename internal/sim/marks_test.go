package sim

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"

	"dmebench/algorithms/maekawa"
	"dmebench/algorithms/naimitrehel"
	"dmebench/algorithms/raymond"
	"dmebench/algorithms/ricartagrawala"
	"dmebench/algorithms/ricartagrawalatoken"
	"dmebench/dme"
	"dmebench/internal/record/recording"
	"dmebench/internal/runtime/noderun"
	"dmebench/runs"
)

// What a run tells of its steady part is what the events between the two exits say,
// counted one by one.
func TestSteadyTwin(t *testing.T) {
	const nodes, warmup = 7, 14
	for _, a := range []*dme.Algorithm{ricartagrawala.Algorithm(), maekawa.Algorithm(), raymond.Algorithm(), naimitrehel.Algorithm()} {
		for _, load := range []string{"saturate", "serial", "burst", "poisson"} {
			spec := runs.Spec{
				Nodes: nodes, Workload: load, Requests: 40 * nodes, Warmup: strconv.Itoa(warmup), Set: map[string]string{"delay": "exponential"},
			}
			if load == "poisson" {
				spec.TotalRate = 300
			}
			var kept recording.Kept
			r, err := RunWith(context.Background(), resolve(t, spec, a), Options{
				Record: 1 << 22, Recorded: func(k recording.Kept) { kept = k },
			})
			if err != nil || kept.Dropped > 0 {
				t.Fatal(err, kept.Dropped)
			}
			s := r.Steady
			if s == nil || s.Entries < 8*nodes || load == "saturate" && s.Entries%nodes != 0 {
				t.Errorf("%s, %s: the steady part is %+v", a.Name, load, s)
				continue
			}
			twin := steadyTwin(t, a, kept, warmup, warmup+int(s.Entries))
			if !slices.Equal(sorted(s.ByKind), sorted(twin.ByKind)) || s.Messages != twin.Messages {
				t.Errorf("%s, %s: %d messages, %v; counted one by one %d, %v", a.Name, load, s.Messages, s.ByKind, twin.Messages, twin.ByKind)
			}
			for name, pair := range map[string][2]*float64{
				"response": {s.Response, twin.Response}, "throughput": {s.Throughput, twin.Throughput},
			} {
				if math.Abs(*pair[0]-*pair[1]) > 1e-9**pair[1] {
					t.Errorf("%s, %s: %s %v, counted one by one %v", a.Name, load, name, *pair[0], *pair[1])
				}
			}
		}
	}
}

type count struct {
	kind string
	n    uint64
}

func sorted(byKind map[string]uint64) (all []count) {
	for kind, n := range byKind {
		if n > 0 {
			all = append(all, count{kind, n})
		}
	}
	slices.SortFunc(all, func(a, b count) int { return cmp.Compare(a.kind, b.kind) })
	return all
}

// steadyTwin counts what was sent from the exit numbered from until that numbered to.
func steadyTwin(t *testing.T, a *dme.Algorithm, kept recording.Kept, from, to int) (s runs.Steady) {
	t.Helper()
	s.ByKind = make(map[string]uint64)
	exits, sum := 0, 0.0
	var begin, end int64
	asked := make(map[dme.NodeID]int64)
	for _, chunk := range kept.Streams[0] {
		for r, err := range recording.Decode(chunk) {
			if err != nil {
				t.Fatal(err)
			}
			switch r.What {
			case noderun.Asks:
				asked[r.Node] = r.At
			case noderun.Exits:
				exits++
				if exits == from {
					begin = r.At
				}
				if exits > from && exits <= to {
					sum += float64(r.At - asked[r.Node])
					end = r.At
				}
			case noderun.Sends:
				if m, err := r.Message(); err != nil {
					t.Fatal(err)
				} else if exits >= from && exits < to {
					s.ByKind[a.KindName(m.Kind)]++
					s.Messages++
				}
			}
		}
	}
	n := float64(to - from)
	response, throughput := sum/n, 1e9*n/float64(end-begin)
	s.Response, s.Throughput = &response, &throughput
	return s
}

// In a saturated system with equal delays everything repeats, round by round: the
// means of whole rounds are exactly the papers', which those of the whole run are not.
func TestSteadyRoundsAreExact(t *testing.T) {
	const n = 8
	r := simulate(t, runs.Spec{Nodes: n, Requests: 20 * n, CS: "100us", Warmup: strconv.Itoa(4 * n)}, ricartagrawalatoken.Algorithm())
	s := r.Steady
	// The first holder enters until the others' requests arrive, and so runs out early.
	if s == nil || s.Entries < 4*n || s.Entries%n != 0 {
		t.Fatalf("the steady part is %+v", s)
	}
	for _, x := range []struct {
		what             string
		whole, got, want float64
	}{
		{"messages per CS", *r.Messages.PerCS, float64(s.Messages) / float64(s.Entries), n},
		{"response time", r.ResponseTime.Mean, *s.Response, n * 1.1 * *r.T},
		{"synchronization delay", r.SyncDelay.Mean, *s.SyncDelay, *r.T},
		{"throughput", 0, *s.Throughput, 1e9 / (1.1 * *r.T)},
	} {
		if math.Abs(x.got-x.want) > 1e-9*x.want || math.Abs(x.whole-x.want) < 1e-4*x.want {
			t.Errorf("%s: %v in the steady part, want %v; of the whole run it is %v, and should be another", x.what, x.got, x.want, x.whole)
		}
	}
}

// Marks are as far apart as one another from the first on, however many are forgotten, and
// never more than may be; a run without warm-up has none.
func TestMarksAreEven(t *testing.T) {
	a := ricartagrawala.Algorithm()
	for requests, apart := range map[int]uint64{130: 1, 133: 1, 134: 2, 135: 2, 140: 2, 700: 8} {
		for warmup := uint64(6); warmup <= 8; warmup++ {
			job := resolve(t, runs.Spec{
				Nodes: 3, Workload: "serial", Requests: requests + int(warmup) - 6, Warmup: fmt.Sprint(warmup),
			}, a)
			o, err := observe(context.Background(), job, Options{})
			if err != nil {
				t.Fatal(err)
			}
			for i, m := range o.Marks {
				if want := warmup + uint64(i)*apart; m.Exits != want {
					t.Fatalf("%d requests, warm-up of %d: mark %d is at exit %d, want %d", requests, warmup, i, m.Exits, want)
				}
			}
			if n := len(o.Marks); n > 128 || n < 64 {
				t.Errorf("%d requests, warm-up of %d: %d marks", requests, warmup, n)
			}
		}
	}
	if r := simulate(t, runs.Spec{Nodes: 3, Requests: 90, Warmup: "0"}, a); r.Steady != nil {
		t.Errorf("without warm-up: %+v", r.Steady)
	}
}
