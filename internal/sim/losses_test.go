package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"dmebench/algorithms/catalog"
	"dmebench/algorithms/raymond"
	"dmebench/algorithms/ricartagrawala"
	"dmebench/algorithms/suzukikasami"
	"dmebench/algorithms/tokenring"
	"dmebench/dme"
	"dmebench/internal/runtime/run"
	"dmebench/runs"
	"dmebench/transport/link"
)

// A stalled run says what became of the token: whether it was lost on a link, or
// died with its holder or with whom it was on its way to; and which message was
// lost where nobody had it.
func TestWhatBecameOfTheToken(t *testing.T) {
	for _, x := range []struct {
		name, trace, fault, want string
	}{
		// Node 1 has the token. A REQUEST sent at 1 ms is answered at 2 ms.
		{"lost on a link", "0.001,2\n", "partition 1|2 @1500us", "it was lost with PRIVILEGE 1→2"},
		{"died on its way", "0.001,2\n0.004,1\n", "kill 2 @2500us", "it died with node 2"},
		{"sent to the dead", "0.001,2\n0.004,1\n", "kill 2 @1500us", "it died with node 2"},
		{"died with its holder", "0.001,2\n0.004,1\n", "kill 2 @3500us", "it died with node 2"},
		{"died idle", "0.002,2\n", "kill 1 @1ms", "it died with node 1"},
		{"is where it was", "0.001,2\n", "partition 1|2 @500us", "lost on the link REQUEST 2→1"},
	} {
		// Node 3 is down as well, and has nothing to do with it.
		r := struck(t, raymond.Algorithm(), 3, x.trace, x.fault, "kill 3 @0s")
		why := strings.Join(r.Liveness.Why, "; ")
		if r.Status != runs.Stalled || !strings.Contains(why, x.want) {
			t.Errorf("%s: %s: %q; want %q", x.name, r.Status, why, x.want)
		}
	}
}

// A node that gives the token away and asks again at once sends a REQUEST in the same
// step, which does not carry it.
func TestRequestsCarryNoToken(t *testing.T) {
	r := simulate(t, runs.Spec{Nodes: 8, Faults: []string{"partition 1-4|5-8 @20ms-40ms"}}, suzukikasami.Algorithm())
	if why := strings.Join(r.Liveness.Why, "; "); !strings.Contains(why, "it was lost with TOKEN 4→5") {
		t.Errorf("%s: %q", r.Status, why)
	}
}

// On links that lose there is no fault to blame.
func TestTokenLostOnALink(t *testing.T) {
	for seed := uint64(1); seed < 20; seed++ {
		r := simulate(t, runs.Spec{
			Nodes: 2, Requests: 200, Seed: seed, AllowMismatch: true, Set: map[string]string{"loss": "0.02"},
		}, raymond.Algorithm())
		why := strings.Join(r.Liveness.Why, "; ")
		if strings.Contains(why, "lost with REQUEST") {
			t.Errorf("seed %d: a REQUEST carries no token: %q", seed, why)
		}
		token, request := strings.Contains(why, "it was lost with PRIVILEGE"), strings.Contains(why, "lost on the link REQUEST")
		if r.Status == runs.Stalled && !token && !request {
			t.Errorf("seed %d: %q", seed, why)
		}
	}
}

// The k-th message of a link meets what the k-th frame of that link meets over a
// real transport.
func TestMessagesMeetTheFateOfFrames(t *testing.T) {
	const n = 5000
	var x stream
	s := x.run(t, n, 100*time.Microsecond, map[string]string{
		"loss": "0.1", "dup": "0.2", "reorder": "0.1", "jitter": "500us", "bandwidth": "100000", "link-seed": "7",
		"links": "1-2@100ms-200ms:delay=exp:2ms,loss=0.5", "partition": "1|2@300ms-310ms",
	})
	type receipt struct {
		at     int64
		number uint64
	}
	var got, want []receipt
	for i, number := range x.numbers {
		got = append(got, receipt{x.sent[i] + x.at[i], number})
	}
	config := s.job.Links()
	conditioner := config.Conditioner(link.Link{From: 1, To: 2})
	for k := range uint64(n) {
		at := time.Duration(k) * 100 * time.Microsecond
		m := dme.Message{Kind: 1, Num: k + 1, Clock: uint64(at)}
		f := conditioner.Next(at, dme.MessageSize(&m))
		if !f.Lost {
			want = append(want, receipt{int64(f.Departure) + ms, m.Num})
		}
		if !f.Lost && f.Repeated {
			want = append(want, receipt{int64(f.Repeat) + ms, m.Num})
		}
	}
	order := func(a, b receipt) int { return int(a.at-b.at)*n + int(a.number) - int(b.number) }
	slices.SortFunc(got, order)
	slices.SortFunc(want, order)
	if !slices.Equal(got, want) {
		t.Errorf("%d receipts, want the %d on which package link decides", len(got), len(want))
	}
}

// TestConditionsDoWhatTheySay counts what comes out of each condition alone.
func TestConditionsDoWhatTheySay(t *testing.T) {
	const n, us = 20_000, time.Microsecond
	for _, x := range []struct {
		option, value string
		inOrder       bool
		lost, twice   float64       // probabilities
		mean          time.Duration // delay of what arrives
		error         time.Duration // by which it may differ: five standard errors
	}{
		{"loss", "0.3", true, 0.3, 0, 1000 * us, 0},
		{"loss", "1", true, 1, 0, 0, 0},
		{"dup", "0.2", false, 0, 0.2, 1083 * us, 10 * us}, // a sixth of the receipts, 500 µs later
		{"reorder", "0.1", false, 0, 0, 1050 * us, 7 * us},
		{"jitter", "100us", true, 0, 0, 1050 * us, us},
		{"links", "1-2:delay=uniform:100us:200us", true, 0, 0, 1150 * us, us},
		{"links", "2-1:loss=1", true, 0, 0, 1000 * us, 0},
		{"links", "1-2@0s-1s:loss=1", true, 0.5, 0, 1000 * us, 0}, // of the two that it takes
		{"partition", "1|2@500ms-1500ms", true, 0.5, 0, 1000 * us, 0},
	} {
		var got stream
		s := got.run(t, n, 100*us, map[string]string{x.option: x.value}) // the seed is fixed, so that chance has no say
		want := n * (1 - x.lost + x.twice)
		scatter := 5 * math.Sqrt(n*(x.lost*(1-x.lost)+x.twice*(1-x.twice)))
		if math.Abs(float64(len(got.numbers))-want) > scatter {
			t.Errorf("%s=%s: %d receipts, want %v±%.0f", x.option, x.value, len(got.numbers), want, scatter)
		}
		if slices.IsSorted(got.numbers) != x.inOrder {
			t.Errorf("%s=%s: in order: %v", x.option, x.value, !x.inOrder)
		}
		if off := time.Duration(s.meanDelay()) - x.mean; off.Abs() > x.error {
			t.Errorf("%s=%s: mean delay %v, want %v±%v", x.option, x.value, time.Duration(s.meanDelay()), x.mean, x.error)
		}
		sum := 0.0
		for _, at := range got.at {
			sum += float64(at)
		}
		if mean := sum / float64(max(1, len(got.at))); math.Abs(mean-s.meanDelay()) > 1 {
			t.Errorf("%s=%s: the mean delay is said to be %v, and was %v", x.option, x.value, s.meanDelay(), mean)
		}
	}
}

func TestBandwidthIsPassedOneAfterTheOther(t *testing.T) {
	const n, rate = 1000, 1e6
	var x stream
	s := x.run(t, n, 0, map[string]string{"bandwidth": "1000000"})
	passed := time.Duration(x.sent[n-1] + x.at[n-1] - ms)
	want := time.Duration(float64(s.counters[0].Bytes.Load()) / rate * float64(time.Second))
	if !slices.IsSorted(x.numbers) || (passed-want).Abs() > n*time.Nanosecond {
		t.Errorf("the last of %d messages has passed after %v, want %v", n, passed, want)
	}
}

// Conditions leave a run a function of its job; another seed of the links is
// another run.
func TestConditionedRunsAreDeterministic(t *testing.T) {
	outcome := func(seed string) []byte {
		r := simulate(t, runs.Spec{Nodes: 5, Requests: 200, Set: map[string]string{
			"delay": "uniform", "jitter": "1ms", "reorder": "0.2", "bandwidth": "100000", "links": "*-2:delay=pareto:1ms:1.5", "link-seed": seed,
		}}, ricartagrawala.Algorithm())
		if r.Status != runs.OK || *r.Messages.PerCS != 8 {
			t.Errorf("status %s (%s), %v messages per entry", r.Status, r.Error, *r.Messages.PerCS)
		}
		r.Spec.Set = nil
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	if first := outcome("1"); !bytes.Equal(first, outcome("1")) || bytes.Equal(first, outcome("2")) {
		t.Error("the outcome does not follow the seed of the links")
	}
}

func TestLostMessagesAreAStall(t *testing.T) {
	spec := runs.Spec{Algorithm: "ricart-agrawala", Nodes: 5, Transport: runs.Sim, Set: map[string]string{"loss": "0.01"}}
	if _, err := run.Resolve(spec, run.Catalog{ricartagrawala.Algorithm()}, nil); err == nil ||
		!strings.Contains(err.Error(), "needs reliable links, which sim with delay=constant fifo=true loss=0.01 does not have") {
		t.Errorf("error %v, want a refusal", err)
	}
	spec.AllowMismatch = true
	r := simulate(t, spec, ricartagrawala.Algorithm())
	if r.Status != runs.Stalled || r.Liveness.Pending == 0 {
		t.Errorf("status %s (%s), %d pending", r.Status, r.Error, r.Liveness.Pending)
	}
}

func TestTwoTokensAreAViolation(t *testing.T) {
	r := simulate(t, runs.Spec{Nodes: 5, AllowMismatch: true, Set: map[string]string{"dup": "0.1"}}, tokenring.Algorithm())
	if r.Status != runs.Violated || r.Safety.Violations == 0 {
		t.Errorf("status %s (%s), %d violations", r.Status, r.Error, r.Safety.Violations)
	}
}

func TestMultiplyingMessagesAreAFailure(t *testing.T) {
	a := scripted(script{
		request: func(s *script, out *dme.Outbox) {
			if s.id == 1 {
				out.Send(2, dme.Message{Kind: 1, Vec: []uint64{1}})
			}
		},
		receive: func(s *script, from dme.NodeID, m dme.Message, out *dme.Outbox) {
			m.Vec[0]++ // it is the receiver's own, of a duplicate too
			s.n = max(s.n, m.Vec[0])
			out.Send(from, m)
		},
	})
	r := simulate(t, runs.Spec{Nodes: 2, AllowMismatch: true, Set: map[string]string{"dup": "1"}}, a)
	if r.Status != runs.Failed || !strings.Contains(r.Error, "multiply") || r.Messages.Total > 1<<18 {
		t.Errorf("status %s (%s) after %d messages", r.Status, r.Error, r.Messages.Total)
	}
}

// Over links that differ a broadcast is as many messages, and has no place in an
// order of all; the form that needs one is refused, and stalls if it is run.
func TestBroadcastsOverConditionedLinks(t *testing.T) {
	set := map[string]string{"jitter": "1ms"}
	r := simulate(t, runs.Spec{Nodes: 6, Requests: 60, Set: set}, ricartagrawala.Broadcast())
	if r.Status != runs.OK || r.Messages.Transmissions != r.Messages.Total {
		t.Errorf("status %s (%s), %d messages by %d transmissions", r.Status, r.Error, r.Messages.Total, r.Messages.Transmissions)
	}
	set["form"] = "sequenced"
	spec := runs.Spec{Algorithm: "ricart-agrawala-broadcast", Nodes: 6, Requests: 60, Transport: runs.Sim, Set: set}
	if _, err := run.Resolve(spec, run.Catalog{ricartagrawala.Broadcast()}, nil); err == nil ||
		!strings.Contains(err.Error(), "sequenced broadcast") {
		t.Errorf("error %v, want a refusal", err)
	}
	spec.AllowMismatch = true
	if r := simulate(t, spec, ricartagrawala.Broadcast()); r.Status == runs.OK {
		t.Error("a sequenced form runs where nothing is sequenced")
	}
}

// Whatever links do, every run of every algorithm ends by itself.
func TestEveryRunEnds(t *testing.T) {
	for _, a := range catalog.All() {
		for _, conditions := range []map[string]string{
			{"loss": "0.02"},
			{"dup": "0.05"},
			{"reorder": "0.2", "jitter": "3ms"},
			{"loss": "0.02", "dup": "0.1", "reorder": "0.1"},
			{"partition": "1|2-9@20ms-40ms"},
		} {
			for seed := range uint64(3) {
				nodes := slices.IndexFunc([]int{0, 0, 0, 0, 4, 5, 6, 7, 8}, func(n int) bool {
					return n > 0 && a.CheckNodes(n, defaults(t, a)) == nil
				})
				spec := runs.Spec{Nodes: nodes, Requests: 40, Seed: seed + 1, AllowMismatch: true, Set: conditions,
					StallAfter: runs.Duration(time.Second)}
				r := simulate(t, spec, a)
				if r.Status == runs.OK && r.Entries != 40 {
					t.Errorf("%s, %v: ok after %d entries", a.Name, conditions, r.Entries)
				}
			}
		}
	}
}

func defaults(t *testing.T, a *dme.Algorithm) dme.Options {
	opt, err := a.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return opt
}

// BenchmarkConditioned is what it costs to ask package link about each message.
func BenchmarkConditioned(b *testing.B) {
	job := resolve(b, runs.Spec{Nodes: 64, Requests: 16000, Set: map[string]string{"jitter": "1ms"}}, ricartagrawala.Algorithm())
	var messages uint64
	for b.Loop() {
		o, err := observe(context.Background(), job, Options{})
		if err != nil {
			b.Fatal(err)
		}
		messages += o.Wire.Frames
	}
	b.ReportMetric(float64(messages)/b.Elapsed().Seconds(), "msgs/s")
}

// must does the next thing of the schedule, which is to be done at its time.
func must(t *testing.T, s *simulation) {
	t.Helper()
	s.now = s.faults.director.Next()
	if did, err := s.faults.director.Step(s.now); !did || err != nil {
		t.Fatalf("nothing was done at %v: %v", time.Duration(s.now), err)
	}
}

// Who is told to leave and dies before it has left is waited for no longer, and who dies
// without having been told never was.
func TestDyingWhileLeaving(t *testing.T) {
	s := begun(t, runs.Spec{Nodes: 4, Requests: 40, Faults: []string{"kill 3 @1s", "leave 2 @2s", "kill 2 @3s"}}, watchfulAlgorithm())
	f := s.faults
	must(t, s)
	if f.leaving() {
		t.Error("somebody is waited for after a death")
	}
	s.process(2).Arrive(0) // its request has to be served first
	must(t, s)
	if !f.leaving() || !f.moved(2) || f.moved(4) {
		t.Error("who was told to leave is not waited for alone")
	}
	must(t, s)
	if f.leaving() || f.moved(2) {
		t.Error("who was told to leave is waited for after it died")
	}
}

// What waits for a node that stands still goes with it when it dies.
func TestDyingWhilePaused(t *testing.T) {
	s := begun(t, runs.Spec{
		Nodes: 4, Requests: 40, Faults: []string{"pause 2 @1s-9s", "pause 2-3 @2s-9s", "kill 2 @3s"},
	}, watchfulAlgorithm())
	must(t, s)
	must(t, s)
	if e := s.agenda.next(exit, s.now, 2); !s.faults.holds(e) || !s.faults.holding() {
		t.Error("nothing waits for the node that stands still")
	}
	must(t, s)
	if one, both := s.faults.strikes[0].Ended, s.faults.strikes[1].Ended; one != s.now || both != 0 {
		t.Errorf("the pause of one node ended at %d, that of two at %d", one, both)
	}
	if s.faults.holding() {
		t.Error("something waits for a node that is dead")
	}
	if e := s.agenda.next(exit, s.now, 3); !s.faults.holds(e) || !s.faults.holding() {
		t.Error("nothing waits for the node that stands still")
	}
}

// News of a death wait for what the dead had sent, and for nobody else's messages.
func TestNewsWaitForTheSender(t *testing.T) {
	s := begun(t, runs.Spec{Nodes: 3, Requests: 30, Faults: []string{"kill 2 @1s"}}, watchfulAlgorithm())
	s.deliver(int64(time.Hour), 1, 3, &dme.Message{Kind: kindYes})
	s.deliver(int64(time.Minute), 2, 1, &dme.Message{Kind: kindYes})
	must(t, s)
	for _, e := range s.agenda.heap {
		if x := s.flight.at(e.what); x.msg.Kind != kindNews {
			continue
		} else if x.to == 1 && e.at < int64(time.Minute) || x.to == 3 && e.at > s.now+2*ms {
			t.Errorf("node %d hears of it after %v", x.to, time.Duration(e.at))
		}
	}
}

// In a slow system a hundred turns of all nodes may pass before it is said to stand still:
// of 10 nodes, with 2 s for a message and 1 s for a critical section, 3000 s.
func TestPatienceOfASlowSystem(t *testing.T) {
	s := begun(t, runs.Spec{Nodes: 10, Requests: 30, CS: "1s", Set: map[string]string{"t": "2s"}}, watchfulAlgorithm())
	if got := time.Duration(s.patience()); got != 3000*time.Second {
		t.Errorf("%v", got)
	}
}
