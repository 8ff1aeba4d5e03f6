package validate_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"dmebench/algorithms/carvalhoroucairol"
	"dmebench/algorithms/catalog"
	"dmebench/algorithms/centralized"
	"dmebench/algorithms/lamport"
	"dmebench/algorithms/maekawa"
	"dmebench/algorithms/ricartagrawala"
	"dmebench/algorithms/ricartagrawalatoken"
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
		{carvalhoroucairol.Algorithm(), []string{"messages-per-cs/light/mean", "response-time/saturated/mean"}},
		{maekawa.Algorithm(), []string{"response-time/light/mean"}},
	} {
		sound := judged(t, x.algorithm, sim.Run, x.claims)
		mustBeRefuted(t, sound, judged(t, x.algorithm, scaled, x.claims))
	}
}

// chatty is an algorithm that at random sends 3% of its messages with another behind
// them that nobody needs.
func chatty(a *dme.Algorithm) *dme.Algorithm {
	prepare := a.Prepare
	a.Kinds = append(slices.Clone(a.Kinds), "IDLE TALK")
	kind := dme.Kind(len(a.Kinds))
	a.Prepare = func(c dme.Config) (dme.System, error) {
		inner, err := prepare(c)
		return chattySystem{inner, kind, c.Seed, dme.NodeID(c.Nodes)}, err
	}
	return a
}

type chattySystem struct {
	dme.System
	kind  dme.Kind
	seed  uint64
	nodes dme.NodeID
}

func (s chattySystem) Node(id dme.NodeID) dme.Node {
	return &chattyNode{Node: s.System.Node(id), id: id, system: s, rng: rand.New(rand.NewPCG(s.seed, uint64(id)))}
}

type chattyNode struct {
	dme.Node
	id     dme.NodeID
	system chattySystem
	rng    *rand.Rand
}

// talk sends something more behind some of the messages that have been sent.
func (n *chattyNode) talk(out *dme.Outbox) {
	sent := 0
	for _, e := range out.Effects() {
		switch e.Kind {
		case dme.EffectSend:
			sent++
		case dme.EffectBroadcast:
			sent += int(n.system.nodes) - 1
		}
	}
	for range sent {
		if n.rng.Float64() < wrong {
			out.Send(n.id%n.system.nodes+1, dme.Message{Kind: n.system.kind})
		}
	}
}

func (n *chattyNode) Request(out *dme.Outbox) {
	n.Node.Request(out)
	n.talk(out)
}

func (n *chattyNode) Release(out *dme.Outbox) {
	n.Node.Release(out)
	n.talk(out)
}

func (n *chattyNode) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	if m.Kind != n.system.kind {
		n.Node.Receive(from, m, out)
		n.talk(out)
	}
}

// An algorithm that sends 3% more messages than its paper says does not get away with
// it, though it does so at random.
func TestThreePercentMoreMessagesAreSeen(t *testing.T) {
	for _, x := range []struct {
		algorithm func() *dme.Algorithm
		claims    []string
	}{
		{centralized.Algorithm, []string{"messages-per-cs/light/mean"}},
		{suzukikasami.Algorithm, []string{"messages-per-cs/light/mean"}},
		{ricartagrawalatoken.Algorithm, []string{"messages-per-cs/light/mean"}},
		{ricartagrawala.Algorithm, []string{"messages-per-cs/any/exact"}},
	} {
		sound, mutant := judged(t, x.algorithm(), sim.Run, x.claims), judged(t, chatty(x.algorithm()), sim.Run, x.claims)
		mustBeRefuted(t, sound, mutant)
		want := false
		if strings.HasSuffix(x.claims[0], "exact") {
			want = true
		}
		if a, b := sound.Counts.ExactFailed, mutant.Counts.ExactFailed; a != 0 || (b > 0) != want {
			t.Errorf("%s: %d and %d exact claims failed", x.claims, a, b)
		}
	}
}

// Every verdict that rests on a tolerance names it, and no other does. With DMEBENCH_TESTS=full it is
// every verdict there is.
func TestEveryToleranceIsNamed(t *testing.T) {
	o := validate.Options{
		Catalog: catalog.All(), Claims: []string{"maekawa/work-spread", "maekawa/response-time"},
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
