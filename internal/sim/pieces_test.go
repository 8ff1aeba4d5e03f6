package sim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"dmebench/algorithms/raymond"
	"dmebench/algorithms/ricartagrawala"
	"dmebench/dme"
	"dmebench/internal/record/entrylog"
	"dmebench/internal/runtime/live"
	"dmebench/internal/runtime/localprocess"
	"dmebench/internal/runtime/noderun"
	"dmebench/internal/runtime/stall"
	"dmebench/runs"
	"dmebench/transport/link"
	"dmebench/workload/fault"
)

// begun is a simulation whose nodes have been started, and nothing else.
func begun(t *testing.T, s runs.Spec, a *dme.Algorithm) *simulation {
	t.Helper()
	x, err := newSimulation(context.Background(), resolve(t, s, a))
	if err != nil {
		t.Fatal(err)
	}
	x.build()
	x.each(func(p *localprocess.Process) { p.Start() })
	x.faults.begin()
	return x
}

// What a run saw is what its parts saw: a log that was full, the witness's count, the end of
// the duration, who stands still.
func TestWhatIsObserved(t *testing.T) {
	s, err := newSimulation(context.Background(), resolve(t, runs.Spec{Nodes: 3, Requests: 30}, ricartagrawala.Algorithm()))
	if err != nil {
		t.Fatal(err)
	}
	s.log = entrylog.NewLog(10)
	if err := s.run(); err != nil {
		t.Fatal(err)
	}
	if o := s.observation(); o.Dropped != 20 || len(o.Entries) != 10 || o.Nodes[0].Entries != 10 {
		t.Errorf("%d entries recorded, %d dropped", len(o.Entries), o.Dropped)
	}

	everybody := scripted(script{request: enter})
	o, err := observe(context.Background(), resolve(t, runs.Spec{Nodes: 3, Workload: "burst", Requests: 3, CS: "1ms"}, everybody), Options{})
	if err != nil || o.WitnessViolations != 2 {
		t.Errorf("three inside: %d violations, %v", o.WitnessViolations, err)
	}

	lasting := runs.Spec{Nodes: 3, CS: "7ms", Duration: runs.Duration(100 * ms)}
	o, err = observe(context.Background(), resolve(t, lasting, ricartagrawala.Algorithm()), Options{})
	if err != nil || o.Stop-o.Start != 100*ms {
		t.Errorf("a run of 100 ms ends after %v, %v", time.Duration(o.Stop-o.Start), err)
	}

	o, err = observe(context.Background(), resolve(t, runs.Spec{Nodes: 3, Requests: 3}, scripted(script{})), Options{})
	if err != nil || o.Standstill == nil || o.Standstill.Nodes != 3 || !slices.Equal(o.Standstill.Waiting, []dme.NodeID{1, 2, 3}) {
		t.Errorf("%+v, %v", o.Standstill, err)
	}
}

// Losses are told in the order of senders, then of receivers, then of kinds.
func TestLossesAreInOrder(t *testing.T) {
	s := begun(t, runs.Spec{Nodes: 3, Requests: 3, AllowMismatch: true, Set: map[string]string{"loss": "0.5"}}, scripted(script{}))
	want := []stall.Loss{
		{From: 1, To: 2, Kind: "A"}, {From: 1, To: 2, Kind: "B"}, {From: 1, To: 3, Kind: "A"},
		{From: 2, To: 1, Kind: "B"}, {From: 3, To: 1, Kind: "A"},
	}
	for _, l := range want {
		s.losses.seen[l] = struct{}{}
	}
	if got := s.standstill().Losses; !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
}

// A system that is never quiet is given up after ten rounds of all nodes and one more.
func TestHowLongSilenceIsWaitedFor(t *testing.T) {
	a := scripted(script{
		start:   func(s *script, out *dme.Outbox) { out.Send(s.id%s.nodes+1, dme.Message{Kind: 1}) },
		receive: pingPong,
		request: enter,
	})
	_, err := Run(context.Background(), resolve(t, runs.Spec{Nodes: 3, Workload: "serial", Requests: 3}, a))
	if err == nil || !strings.Contains(err.Error(), "but 40ms after the start of scripted 3 messages are in flight") {
		t.Errorf("%v", err)
	}
}

// A node that panics as it starts is the one that is named.
func TestPanicAtTheStart(t *testing.T) {
	for _, bad := range []dme.NodeID{1, 2, 3} {
		r := simulate(t, runs.Spec{Nodes: 3, Requests: 3}, scripted(script{request: enter, start: func(s *script, _ *dme.Outbox) {
			if s.id == bad {
				panic("no")
			}
		}}))
		if r.Status != runs.Failed || !slices.Equal(r.FailedNodes, []int{int(bad)}) {
			t.Errorf("node %d: %s, %v", bad, r.Status, r.FailedNodes)
		}
	}
}

// A broadcast is a message to each of the others, and takes the delays that these take.
func TestABroadcastIsAMessageToEach(t *testing.T) {
	receipts := func(broadcast bool) (all []string) {
		var s *simulation
		s = begun(t, runs.Spec{Nodes: 4, Requests: 4, Set: map[string]string{"delay": "exponential", "fifo": "true"}}, scripted(script{
			receive: func(x *script, from dme.NodeID, m dme.Message, _ *dme.Outbox) {
				all = append(all, fmt.Sprint(x.id, from, m.Num, s.now))
			},
		}))
		for k := range uint64(20) {
			m := dme.Message{Kind: 1, Num: k}
			from := dme.NodeID(k%2 + 1)
			if broadcast {
				s.Broadcast(from, &m)
			}
			for to := range dme.Others(4, from) {
				if !broadcast {
					s.Send(from, to, &m)
				}
			}
		}
		for more := true; more; {
			more, _ = s.step()
		}
		return all
	}
	one, each := receipts(true), receipts(false)
	if len(one) != 60 || !slices.Equal(one, each) {
		t.Errorf("%d receipts of broadcasts, %d of messages to each:\n%v\n%v", len(one), len(each), one, each)
	}
}

// A request that is to come when its node crashes comes at its time, if the node is back
// by then; nobody asks for what was due while it was down.
func TestRequestsOfNodesThatAreBack(t *testing.T) {
	for back, want := range map[string]uint64{"3ms": 2, "20ms": 1} {
		r := struck(t, watchfulAlgorithm(), 2, "0.010,2\n0.030,2\n", "kill 2 @1ms", "restart 2 @"+back)
		if r.Status != runs.OK || r.Entries != want || r.Lateness == nil || r.Lateness.Max != 0 {
			t.Errorf("back at %s: %s (%s), %d entries, late by %+v", back, r.Status, r.Error, r.Entries, r.Lateness)
		}
	}
}

// Who is told to leave while it leaves is not told twice.
func TestLeavingOnce(t *testing.T) {
	r := struck(t, watchfulAlgorithm(), 3, "0.001,1\n0.001,2\n", "leave 2 @1500us", "leave 2 @2500us")
	if len(r.Faults) != 1 || !strings.Contains(r.Error, `"leave 2 @2.5ms" never came to pass: the node was down or leaving`) {
		t.Errorf("%s (%s), %+v, %q", r.Status, r.Error, r.Faults, r.Warnings)
	}
}

// News go to those who are there. What was on its way to a node goes with it.
func TestNewsOfNodesThatAreBack(t *testing.T) {
	s := begun(t, runs.Spec{Nodes: 4, Requests: 40, Faults: []string{"kill 2 @1s", "kill 3 @2s", "restart 2 @3s"}}, watchfulAlgorithm())
	for _, l := range []link.Link{{From: 1, To: 2}, {From: 1, To: 4}, {From: 4, To: 2}} {
		s.Send(l.From, l.To, &dme.Message{Kind: kindYes})
	}
	s.SetTimer(2, 1, time.Second)
	s.SetTimer(4, 1, time.Second)
	f := s.faults
	must(t, s)
	if s.timers.n != 1 || len(s.timers.armed) != 1 {
		t.Errorf("%d timers are set, %d of them live; want that of node 4 alone", s.timers.n, len(s.timers.armed))
	}
	if s.flight.n != 1+3 { // to node 4, and news to three
		t.Errorf("%d messages are on their way", s.flight.n)
	}
	must(t, s)
	if s.flight.n != 1+2+2 { // that of node 2 went with node 3; news of it to two
		t.Errorf("%d messages are on their way", s.flight.n)
	}
	must(t, s)
	if s.lastMove[1] != int64(3*time.Second) || s.watch.standing[1].activity != noderun.Idle {
		t.Errorf("node 2 moved at %d and is %v", s.lastMove[1], s.watch.standing[1].activity)
	}
	for l, want := range map[link.Link]int{
		{From: 2, To: 1}: 2, {From: 2, To: 4}: 2, {From: 2, To: 3}: 0, {From: 3, To: 2}: 1, {From: 1, To: 2}: 0, {From: 3, To: 1}: 1,
	} {
		if got := f.news[l]; got != want {
			t.Errorf("news from %d to %d: %d, want %d", l.From, l.To, got, want)
		}
	}
}

// A delay that is no time is an error, and not a delay of 0.
func TestDelaysThatAreNone(t *testing.T) {
	job := resolve(t, runs.Spec{Nodes: 2}, scripted(script{request: enter}))
	job.NetOptions = dme.Options{"t": "soon", "delay": "constant", "fifo": "true"}
	if d, err := newDelays(job); err == nil || d != nil || !strings.Contains(err.Error(), "t=soon") {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := Run(context.Background(), job); err == nil {
		t.Error("the job has a result")
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

// Before anybody asks all are idle, and nobody waits or is inside.
func TestRolesAtTheStart(t *testing.T) {
	s := begun(t, runs.Spec{Nodes: 3, Requests: 30, Faults: []string{"kill 2 @1s"}}, raymond.Algorithm())
	for role, want := range map[fault.Role]int{
		fault.Idle: 3, fault.Waiting: 0, fault.Holder: 0, fault.Token: 1,
	} {
		n := 0
		for id := dme.NodeID(1); id <= 3; id++ {
			if s.faults.plays(role, id) {
				n++
			}
		}
		if n != want {
			t.Errorf("%d nodes are %s, want %d", n, role, want)
		}
	}
	// Nobody has given the token away: neither who has it nor who never had it.
	for id := dme.NodeID(1); id <= 3; id++ {
		if s.losses.gave(id) {
			t.Errorf("node %d gave the token", id)
		}
	}
}

// Who looks at a run is told how long it is to last.
func TestLooksTellTheDuration(t *testing.T) {
	job := resolve(t, runs.Spec{Nodes: 3, Duration: runs.Duration(100 * ms)}, ricartagrawala.Algorithm())
	var seen live.State
	if _, err := RunWith(context.Background(), job, Options{Progress: func(look func() live.State) { seen = look() }}); err != nil {
		t.Fatal(err)
	}
	if seen.Duration != 100*time.Millisecond || seen.Of != 0 {
		t.Errorf("%+v", seen)
	}
}

// What a seed's delays are does not change: those of the generator's stream 0xd1 in the
// highest byte, which is none of the workload's.
func TestDelaysOfASeed(t *testing.T) {
	spec := runs.Spec{Nodes: 2, Seed: 9, Set: map[string]string{"delay": "exponential", "t": "1ms"}}
	job := resolve(t, spec, scripted(script{request: enter}))
	d, err := newDelays(job)
	if err != nil {
		t.Fatal(err)
	}
	twin := rand.New(rand.NewPCG(9, 0xd100_0000_0000_0000))
	for range 5 {
		if got, want := d.draw(), int64(twin.ExpFloat64()*1e6); got != want {
			t.Errorf("%d, want %d", got, want)
		}
	}
}

// A writer and anybody else, inside at once, are a violation; readers are none.
func TestTheWitness(t *testing.T) {
	for _, c := range []struct {
		inside []bool // whether who is inside reads
		reads  bool
		want   uint64
	}{
		{nil, false, 0}, {nil, true, 0}, {[]bool{true}, true, 0}, {[]bool{true}, false, 1}, {[]bool{true, true}, false, 1},
		{[]bool{false}, true, 1}, {[]bool{false}, false, 1},
	} {
		var w witness
		for _, reads := range c.inside {
			w.enter(reads)
		}
		if order := w.enter(c.reads); order != uint64(len(c.inside)+1) || w.violations != c.want {
			t.Errorf("%v inside, then %v: entry %d, %d violations; want %d", c.inside, c.reads, order, w.violations, c.want)
		}
	}
}
