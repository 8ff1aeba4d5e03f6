package validate_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"dmebench/algorithms"
	"dmebench/algorithms/centralized"
	"dmebench/algorithms/lamport"
	"dmebench/algorithms/maekawa"
	"dmebench/algorithms/ricartagrawala"
	"dmebench/algorithms/suzukikasami"
	"dmebench/claims"
	"dmebench/dme"
	"dmebench/internal/experiment/validate"
	"dmebench/internal/runtime/run"
	"dmebench/internal/sim"
	"dmebench/internal/testkit"
	"dmebench/runs"
)

// wrong is by how much what mutants send or measure is off.
const wrong = 0.03

// judged returns the verdicts on some claims of an algorithm.
func judged(
	t *testing.T, a *dme.Algorithm, carryOut func(context.Context, *run.Job) (*runs.Result, error), ids []string,
) *claims.Document {
	t.Helper()
	var asked []string
	for _, id := range ids {
		asked = append(asked, a.Name+"/"+id)
	}
	d, err := validate.Run(context.Background(), validate.Options{
		Catalog: run.Catalog{a}, Claims: asked, Mode: validate.Quick, Run: carryOut, Parallel: 2, Budget: time.Hour,
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// mustBeRefuted compares the verdicts on an algorithm with those on its mutant: what
// agrees of the one does not agree anywhere of the other, and the verdict says so.
func mustBeRefuted(t *testing.T, of, by *claims.Document) {
	t.Helper()
	sound, mutant := of.Claims, by.Claims
	if len(sound) == 0 || len(sound) != len(mutant) {
		t.Fatalf("%d verdicts, and on the mutant %d", len(sound), len(mutant))
	}
	for i, v := range sound {
		m := mutant[i]
		if v.Verdict != claims.Holds || len(v.Tolerances) > 0 {
			t.Errorf("%s: %s", v.ID, v.Text)
		}
		if m.Verdict != claims.Fails {
			t.Errorf("%s of a mutant that is wrong by 3%%: %s", m.ID, m.Text)
		}
		for _, p := range m.Points {
			if p.Agrees {
				t.Errorf("%s of a mutant that is wrong by 3%% agrees under %s for N = %d: %s", m.ID, p.Condition, p.Nodes, p.How)
			}
		}
	}
}

// scaled carries out a job in a simulation that measures every mean 3% too large.
func scaled(ctx context.Context, j *run.Job) (*runs.Result, error) {
	r, err := sim.Run(ctx, j)
	if err != nil {
		return r, err
	}
	larger := func(all ...*float64) {
		for _, x := range all {
			if x != nil {
				*x *= 1 + wrong
			}
		}
	}
	count := func(x uint64) uint64 { return uint64(float64(x)*(1+wrong) + 0.5) }
	counts := func(m map[string]uint64) {
		for k, n := range m {
			m[k] = count(n)
		}
	}
	larger(r.Messages.PerCS, r.Messages.SteadyPerCS, r.Throughput, r.SyncDelayOverT)
	counts(r.Messages.ByKind)
	r.Messages.Transmissions = count(r.Messages.Transmissions)
	for _, q := range []*runs.Quantiles{r.ResponseTime, r.WaitingTime, r.SyncDelay} {
		if q != nil {
			larger(&q.Mean)
		}
	}
	if s := r.Steady; s != nil {
		larger(s.Throughput, s.Response, s.Waiting, s.SyncDelay)
		s.Messages, s.Transmissions = count(s.Messages), count(s.Transmissions)
		counts(s.ByKind)
	}
	return r, nil
}

// A measurement that is wrong by 3% is seen by claims about means, of times and of
// counts, where runs are all the same and where they scatter.
func TestAMeanWrongByThreePercentIsSeen(t *testing.T) {
	for _, x := range []struct {
		algorithm *dme.Algorithm
		claims    []string
	}{
		{centralized.Algorithm(), []string{"messages-per-cs/light/mean", "response-time/light/mean", "request-per-cs/light/mean"}},
		{lamport.Algorithm(), []string{"response-time/saturated/mean", "sync-delay/saturated/mean", "throughput/saturated/mean"}},
		{suzukikasami.Algorithm(), []string{"messages-per-cs/light/mean", "response-time/light/mean"}},
		{ricartagrawala.CarvalhoRoucairol(), []string{"messages-per-cs/light/mean", "response-time/saturated/mean"}},
		{maekawa.Algorithm(), []string{"response-time/light/mean"}},
	} {
		sound := judged(t, x.algorithm, sim.Run, x.claims)
		mustBeRefuted(t, sound, judged(t, x.algorithm, scaled, x.claims))
	}
}

// Every verdict that rests on a tolerance names it, and no other does. With DMEBENCH_TESTS=full it is
// every verdict there is.
func TestEveryToleranceIsNamed(t *testing.T) {
	o := validate.Options{
		Catalog: algorithms.All(), Claims: []string{"maekawa/work-spread", "maekawa/response-time"},
		Mode: validate.Quick, Run: sim.Run, Parallel: 2, Budget: time.Hour,
	}
	if testkit.Full() {
		o.Claims = nil
	}
	d, err := validate.Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, v := range d.Claims {
		rests := false
		for _, p := range v.Points {
			rests = rests || p.Tolerance > 0
		}
		for _, f := range v.Fits {
			rests = rests || f.Tolerance > 0
		}
		if v.Verdict == claims.Holds && strings.Contains(v.Text, "never in the interval") {
			t.Errorf("%s: %q", v.ID, v.Text)
		}
		judged := v.Verdict == claims.Holds || v.Verdict == claims.Partly || v.Verdict == claims.Undecided
		if said := strings.Contains(v.Text, "with a tolerance of "); said != (rests && judged) || said != (len(v.Tolerances) > 0) {
			t.Errorf("%s: rests on a tolerance: %v; %v named in %q", v.ID, rests, v.Tolerances, v.Text)
		}
		if rests && judged {
			named++
		}
	}
	if named == 0 {
		t.Error("no verdict rests on a tolerance: this shows nothing")
	}
}
