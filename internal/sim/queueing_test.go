package sim

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"dmebench/algorithms/centralized"
	"dmebench/dme"
	"dmebench/result"
)

// The node with the resource is a server, so that queueing theory says how long
// requests wait on average: M/D/1, and M/G/1 where critical sections are
// exponential. The interval over the seeds holds what it says. There are many
// nodes with few requests each: if each made its share of them, the load would
// taper off, and the mean come out 3% short at a low rate and 18% at a high one.
func TestWaitingIsThatOfAQueue(t *testing.T) {
	const (
		nodes      = 1000
		requests   = 40 * nodes
		seeds      = 10
		confidence = 0.99
	)
	a := centralized.Algorithm()
	for _, cs := range []string{"1ms", "exp:1ms"} {
		for _, busy := range []float64{0.3, 0.6, 0.9} {
			t.Run(fmt.Sprintf("%s at %v", cs, busy), func(t *testing.T) {
				t.Parallel()
				spec := result.Spec{Nodes: nodes, Workload: "poisson", CS: cs, Requests: requests, TotalRate: busy / 3e-3, Warmup: "0"}
				s := resolve(t, spec, a).Setting()
				s.T = time.Millisecond
				i := slices.IndexFunc(a.Claims, func(c dme.Claim) bool {
					_, made := c.Prediction(s)
					return c.Quantity == dme.WaitingTime && made
				})
				if i < 0 {
					t.Fatal("nothing is claimed")
				}
				want, _ := a.Claims[i].Prediction(s)
				var means []float64
				for spec.Seed = 1; spec.Seed <= seeds; spec.Seed++ {
					r := simulate(t, spec, a)
					if r.Entries != requests {
						t.Fatalf("%d entries", r.Entries)
					}
					means = append(means, r.WaitingTime.Mean/1e9)
				}
				mean, deviation := stat.MeanStdDev(means, nil)
				half := distuv.StudentsT{Sigma: 1, Nu: seeds - 1}.Quantile((1+confidence)/2) * deviation / math.Sqrt(seeds)
				if math.Abs(mean-want) > half {
					t.Errorf("%.6f ± %.6f s, want %.6f", mean, half, want)
				}
				if half > 0.1*want {
					t.Errorf("± %.0f%% says nothing", 100*half/want)
				}
				t.Logf("%.4f ± %.4f of what is predicted", mean/want, half/want)
			})
		}
	}
}
