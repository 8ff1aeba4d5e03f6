package sim

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"
	"testing"

	"dmebench/algorithms/maekawa"
	"dmebench/algorithms/naimitrehel"
	"dmebench/algorithms/raymond"
	"dmebench/algorithms/ricartagrawala"
	"dmebench/dme"
	"dmebench/internal/record/recording"
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
			switch r.Kind {
			case dme.Request:
				asked[r.Node] = r.At
			case dme.Exit:
				exits++
				if exits == from {
					begin = r.At
				}
				if exits > from && exits <= to {
					sum += float64(r.At - asked[r.Node])
					end = r.At
				}
			case dme.Send:
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

// Marks are as far apart as one another from the first on, however many are forgotten, and
// never more than may be.
func TestMarksAreEven(t *testing.T) {
	for requests, apart := range map[int]uint64{133: 1, 134: 2, 700: 8} {
		job := resolve(t, runs.Spec{Nodes: 3, Workload: "serial", Requests: requests, Warmup: "6"}, ricartagrawala.Algorithm())
		o, err := observe(context.Background(), job, Options{})
		if n := len(o.Marks); err != nil || n > mostMarks || n < mostMarks/2 {
			t.Errorf("%d requests: %d marks, %v", requests, n, err)
		}
		for i, m := range o.Marks {
			if want := 6 + uint64(i)*apart; m.Exits != want {
				t.Fatalf("%d requests: mark %d is at exit %d, want %d", requests, i, m.Exits, want)
			}
		}
	}
}
