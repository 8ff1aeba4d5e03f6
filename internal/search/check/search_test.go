package check

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dmebench/algorithms/lamport"
	"dmebench/algorithms/ricartagrawala"
	"dmebench/algorithms/suzukikasami"
	"dmebench/dme"
	"dmebench/dme/vnet"
)

// outline is what a report says whatever the speed and the number of workers.
func outline(r Report) []string {
	if r.Violation == nil {
		return nil
	}
	return append(append([]string{r.Violation.Verdict}, r.Trace.Lines()...), r.Trace.States...)
}

func TestRandomIsAFunctionOfItsSeed(t *testing.T) {
	o := Options{Nodes: 4, Requests: 3, Unordered: true, Seed: 5, Schedules: 500, Workers: 1}
	first, err := Random(t.Context(), lamport.Algorithm(), o)
	if err != nil || first.Violation == nil || first.Schedules < 5 {
		t.Fatal(first.Violation, first.Schedules, err)
	}
	for _, workers := range []int{1, 2, 5} {
		o.Workers = workers
		r, err := Random(t.Context(), lamport.Algorithm(), o)
		got := r
		got.Elapsed, got.Workers, got.Trace, got.Violation = first.Elapsed, first.Workers, first.Trace, first.Violation
		if err != nil || !reflect.DeepEqual(outline(r), outline(first)) || !reflect.DeepEqual(got, first) {
			t.Errorf("with %d workers\n%+v\nwith one\n%+v", workers, r, first)
		}
	}
	o.Seed, o.Schedules = first.Seed, 1
	r, err := Random(t.Context(), lamport.Algorithm(), o)
	if err != nil || !reflect.DeepEqual(outline(r), outline(first)) {
		t.Errorf("by its seed alone: %v\nwant %v", outline(r), outline(first))
	}
	o.Seed++
	if r, _ := Random(t.Context(), lamport.Algorithm(), o); r.Steps == first.Steps && reflect.DeepEqual(outline(r), outline(first)) {
		t.Error("the next seed gives the same schedule")
	}
}

// Every mode of choosing finds the fault of reordering links.
func TestAdversaries(t *testing.T) {
	for _, adversary := range []Adversary{Chance, Adversarial, Mixed} {
		r, err := Random(t.Context(), lamport.Algorithm(), Options{Nodes: 3, Requests: 6, Unordered: true, Adversary: adversary, Schedules: 2000})
		if err != nil || r.Violation == nil {
			t.Errorf("%q: %v, %v", adversary, r.Violation, err)
		}
	}
	// On the links that it needs, none finds one.
	for _, adversary := range []Adversary{Chance, Adversarial} {
		r, err := Random(t.Context(), lamport.Algorithm(), Options{Nodes: 3, Requests: 9, Adversary: adversary, Schedules: 300})
		if err != nil || r.Violation != nil || r.Entries != 300*9 {
			t.Errorf("%q: %v, %v, %d entries", adversary, r.Violation, err, r.Entries)
		}
	}
}

func TestExhaustiveIsTheSameForAnyNumberOfWorkers(t *testing.T) {
	o := Options{Nodes: 3, Requests: 4}
	o.Workers = 1
	one, err := Exhaustive(t.Context(), ricartagrawala.Algorithm(), o)
	if err != nil || !one.Complete {
		t.Fatal(one.Violation, err)
	}
	for _, workers := range []int{2, 5} {
		o.Workers = workers
		r, err := Exhaustive(t.Context(), ricartagrawala.Algorithm(), o)
		if err != nil || r.States != one.States || r.Steps != one.Steps || r.Depth != one.Depth {
			t.Errorf("%d workers: %d states, %d steps, depth %d, %v; one has %d, %d, %d",
				workers, r.States, r.Steps, r.Depth, err, one.States, one.Steps, one.Depth)
		}
	}
	o = Options{Nodes: 3, Requests: 3, Lose: 1}
	var want []string
	for workers := 1; workers <= 3; workers++ {
		o.Workers = workers
		r, err := Exhaustive(t.Context(), suzukikasami.Algorithm(), o)
		if err != nil || r.Violation == nil {
			t.Fatal(r.Violation, err)
		}
		if want == nil {
			want = outline(r)
		}
		if !reflect.DeepEqual(outline(r), want) {
			t.Errorf("%d workers show\n%v\none shows\n%v", workers, outline(r), want)
		}
	}
}

func TestLimits(t *testing.T) {
	big := Options{Nodes: 4, Requests: 40}
	big.States = 5000
	r, err := Exhaustive(t.Context(), ricartagrawala.Algorithm(), big)
	if err != nil || r.Complete || r.Stopped != "limit of 5000 states" || r.States < 5000 {
		t.Errorf("%+v, %v", r, err)
	}
	big.States = 0
	ctx, cancel := context.WithCancel(t.Context())
	var calls atomic.Int64
	big.Progress = func(done uint64) {
		if calls.Add(1); done > 2000 {
			cancel()
		}
	}
	r, err = Exhaustive(ctx, ricartagrawala.Algorithm(), big)
	if err != nil || r.Complete || r.Stopped != "interrupted" || r.States <= 2000 || calls.Load() == 0 {
		t.Errorf("%+v, %v", r, err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	many := Options{Nodes: 4, Requests: 8, Schedules: 1 << 40, Progress: func(done uint64) {
		if done > 100 {
			cancel()
		}
	}}
	r, err = Random(ctx, ricartagrawala.Algorithm(), many)
	if err != nil || r.Complete || r.Stopped != "interrupted" || r.Schedules <= 100 {
		t.Errorf("%+v, %v", r, err)
	}
	many.Progress, many.Time = nil, time.Millisecond
	for name, f := range map[string]func(context.Context, *dme.Algorithm, Options) (Report, error){
		"random": Random, "exhaustive": Exhaustive,
	} {
		many.Requests = 400
		if r, err := f(t.Context(), ricartagrawala.Algorithm(), many); err != nil || r.Complete || r.Stopped != "out of time" {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

func TestOptionsAreChecked(t *testing.T) {
	a := ricartagrawala.Algorithm()
	_, err := New(a, Options{
		Nodes: -1, Lose: -1, Bypass: -2, Schedules: -3, Time: -4, Patience: -5, Adversary: "x", Set: map[string]string{"no": "such"},
	})
	for _, want := range []string{
		"-1 nodes", "0 requests", "-1 messages to lose", "a bypass of -2", "-3 schedules", "a time of", "patience -5",
		`adversary "x"`, `unknown option "no"`,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
	a.ValidNodes = func(int, dme.Options) error { return errors.New("not so many") }
	if _, err := New(a, Options{Nodes: 2, Requests: 1}); err == nil || !strings.Contains(err.Error(), "not so many") {
		t.Error(err)
	}
	if _, err := New(a, Options{Nodes: MaxNodes + 1, Requests: 1}); err == nil || !strings.Contains(err.Error(), "at most 1000") {
		t.Error(err)
	}
}

func TestShares(t *testing.T) {
	s, err := New(ricartagrawala.Algorithm(), Options{Nodes: 3, Requests: 8})
	if err != nil {
		t.Fatal(err)
	}
	if s.share(1) != 3 || s.share(2) != 3 || s.share(3) != 2 {
		t.Errorf("%d, %d, %d", s.share(1), s.share(2), s.share(3))
	}
}

func TestNotes(t *testing.T) {
	notes := func(a *dme.Algorithm, o Options) string {
		o.Nodes, o.Requests = 2, 2
		s, err := New(a, o)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(s.Notes(), "\n")
	}
	if got := notes(lamport.Algorithm(), Options{}); got != "" {
		t.Error(got)
	}
	for want, got := range map[string]string{
		"lamport needs links that keep order; these do not":                      notes(lamport.Algorithm(), Options{Unordered: true}),
		"ricart-agrawala does not need links that keep order":                    notes(ricartagrawala.Algorithm(), Options{}),
		"lamport needs links that do not duplicate; these do":                    notes(lamport.Algorithm(), Options{Duplicate: true}),
		"lamport needs links that lose nothing; these lose up to 2":              notes(lamport.Algorithm(), Options{Lose: 2}),
		"implicit relies on bounded delay: timers fire only after the messages ": notes(implicit(2), Options{}),
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
}

// A timer set to twice the bound waits for an answer to what was on the way
// when it was set, and not for an answer to that.
func TestTimersWaitForChains(t *testing.T) {
	for _, c := range []struct {
		delay time.Duration
		after int // messages of the chain that must have arrived
	}{{9 * time.Millisecond, 0}, {10 * time.Millisecond, 1}, {25 * time.Millisecond, 2}, {35 * time.Millisecond, 3}} {
		a := metronome() // answers Num times
		a.Prepare = func(cfg dme.Config) (dme.System, error) {
			return toySystem{cfg.Nodes, func(id dme.NodeID, n int) dme.Node {
				return &script{
					id: id, n: n,
					request: func(s *script, out *dme.Outbox) {
						out.Broadcast(dme.Message{Kind: 1})
						out.SetTimer(1, c.delay)
					},
					receive: func(s *script, from dme.NodeID, m dme.Message, out *dme.Outbox) {
						out.Send(from, dme.Message{Kind: 1})
					},
					timeout: func(*script, dme.TimerID, *dme.Outbox) {},
				}
			}}, nil
		}
		search, err := New(a, Options{Nodes: 2, Requests: 1})
		if err != nil {
			t.Fatal(err)
		}
		s := vnet.New(search.model)
		s.Do(vnet.Step{Kind: vnet.Ask, Node: 1})
		fire := vnet.Step{Kind: vnet.Fire, Node: 1, Timer: 1}
		for arrived := range 4 {
			if got, want := s.Possible(fire), arrived >= c.after; got != want {
				t.Errorf("%v, after %d arrivals: may fire %v, want %v", c.delay, arrived, got, want)
			}
			to := dme.NodeID(2 - arrived%2)
			s.Do(vnet.Step{Kind: vnet.Deliver, Node: to, From: 3 - to})
		}
	}
}

func TestVisitedIsASet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, twin := newVisited(rapid.IntRange(1, 2).Draw(t, "goroutines"), new(account)), map[vnet.Hash]bool{}
		// Few different halves, so that shards and places collide, some at the end.
		half := rapid.Custom(func(t *rapid.T) uint64 {
			return rapid.Uint64Range(0, 40).Draw(t, "bits") << rapid.SampledFrom([]int{0, 8, 58, 60}).Draw(t, "shift")
		})
		hash := rapid.Custom(func(t *rapid.T) vnet.Hash { return vnet.Hash{A: half.Draw(t, "a"), B: half.Draw(t, "b")} })
		for _, hashes := range rapid.SliceOfN(rapid.SliceOfN(hash, 1, 100), 0, 12).Draw(t, "adds") {
			shards := make(map[int][]int32)
			got, want := make([]bool, len(hashes)), make([]bool, len(hashes))
			for i, h := range hashes {
				if h != (vnet.Hash{}) && h != (vnet.Hash{A: 1}) { // one and the same here
					shards[v.shardOf(h)] = append(shards[v.shardOf(h)], int32(i))
					want[i], twin[h] = !twin[h], true
				}
			}
			for i, which := range shards {
				v.shards[i].add(hashes, which, got)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("of %v, %v are new and not %v", hashes, got, want)
			}
		}
	})
	v := newVisited(1, new(account))
	first, second := make([]bool, 2), make([]bool, 2)
	v.shards[0].add(make([]vnet.Hash, 2), []int32{0, 1}, first)
	v.shards[0].add(make([]vnet.Hash, 2), []int32{0, 1}, second)
	if !first[0] || first[1] || second[0] || second[1] {
		t.Error("the zero hash is not remembered")
	}
}

func TestAncestry(t *testing.T) {
	var a ancestry
	first, block := a.block()
	if first != 0 || block[0] != 0 {
		t.Fatalf("the first state is %d, from %v", first, block[0])
	}
	second, other := a.block()
	block[3] = originOf(0, 5)
	other[9] = originOf(3, 1<<moveBits-1)
	if got := a.path(second + 9); fmt.Sprint(got) != fmt.Sprint([]int{5, 1<<moveBits - 1}) {
		t.Errorf("path %v", got)
	}
	other[blockSize-1] = originOf(second+9, 0)
	if got := a.path(second + blockSize - 1); len(got) != 3 || got[2] != 0 || got[1] != 1<<moveBits-1 {
		t.Errorf("path to the last of a block %v", got)
	}
	if got := a.path(0); len(got) != 0 {
		t.Errorf("path to the beginning %v", got)
	}
}

// Who asks shares the requests in ascending order; the others never ask.
func TestRequesters(t *testing.T) {
	o := Options{Nodes: 5, Requests: 5, Requesters: []dme.NodeID{4, 2}}
	s, err := New(ricartagrawala.Algorithm(), o)
	if err != nil {
		t.Fatal(err)
	}
	var shares []int
	for id := range dme.NodeID(6) {
		shares = append(shares, s.share(id))
	}
	if want := []int{0, 0, 3, 0, 2, 0}; !slices.Equal(shares, want) {
		t.Errorf("%v, want %v", shares, want)
	}
	r := s.Random(t.Context())
	if r.Violation != nil || r.Entries != 5*r.Schedules {
		t.Errorf("%d entries in %d schedules, %v", r.Entries, r.Schedules, r.Violation)
	}
	for _, wrong := range [][]dme.NodeID{{0}, {6}, {2, 4, 2}} {
		o.Requesters = wrong
		if _, err := New(ricartagrawala.Algorithm(), o); err == nil || !strings.Contains(err.Error(), "shall ask") {
			t.Errorf("%v: %v", wrong, err)
		}
	}
}

// A search ends with the step that breaks a property.
func TestNoStepAfterTheViolation(t *testing.T) {
	hasty := scripted("hasty", script{request: func(*script, *dme.Outbox) { panic("at once") }})
	r, err := Exhaustive(t.Context(), hasty, Options{Nodes: 3, Requests: 3, Workers: 1})
	if err != nil || r.Violation == nil || r.Steps != 1 || r.States != 1 {
		t.Errorf("%v, %v, %d steps from %d states, want one of each", err, r.Violation, r.Steps, r.States)
	}
}

// What is said to repeat for ever does: the network goes on by the same steps, also
// where the turn of a timer comes once in many.
func TestCyclesRepeat(t *testing.T) {
	again := func(s *script, out *dme.Outbox) { out.SetTimer(1, time.Second) }
	a := scripted("chatter with a timer", script{
		request: func(s *script, out *dme.Outbox) {
			ping(s, out)
			again(s, out)
		},
		receive: func(s *script, _ dme.NodeID, _ dme.Message, out *dme.Outbox) { ping(s, out) },
		timeout: func(s *script, _ dme.TimerID, out *dme.Outbox) { again(s, out) },
	})
	for _, a := range []*dme.Algorithm{a, chatter(), procrastinator()} {
		for nodes := 2; nodes <= 3; nodes++ {
			s := searchOf(t, a, Options{Nodes: nodes, Requests: 1})
			r := newRun(s, plan{model: s.model}, nil)
			cycle := r.repeat([]vnet.Step{{Kind: vnet.Ask, Node: 1}}, true)
			if cycle == 0 {
				t.Errorf("%s on %d nodes: no cycle, %v", a.Name, nodes, r.Violation)
				continue
			}
			if v := r.Violation; v == nil || v.Property != Liveness || !strings.Contains(v.Verdict, fmt.Sprintf("the last %d steps repeat", cycle)) {
				t.Errorf("%s on %d nodes: a cycle of %d steps, and %v", a.Name, nodes, cycle, v)
			}
			loop := r.taken[len(r.taken)-cycle:]
			for i := range 2 * cycle {
				x, ok := r.plainStep()
				if want := loop[i%cycle]; !ok || x != want {
					t.Errorf("%s on %d nodes: after %d steps of a cycle of %d comes %v, want %v", a.Name, nodes, i, cycle, x, want)
					break
				}
				r.Do(x)
			}
		}
	}
}

// A search says of crashes what the algorithm promises, and what its nodes can.
func TestNotesOnCrashes(t *testing.T) {
	note := func(a *dme.Algorithm, survives bool) string {
		a.Survives = nil
		if survives {
			a.Survives = dme.SurvivesAny
		}
		notes := searchOf(t, a, Options{Nodes: 2, Requests: 2, Faults: 1, Unordered: true}).Notes()
		return strings.Join(notes, "\n")
	}
	for _, c := range []struct{ got, want string }{
		{note(phoenix(), true), "phoenix goes on without them where it says so, and they may come back at any moment"},
		{note(anarchy(), true), "anarchy goes on without them where it says so; they do not come back"},
		{note(phoenix(), false), "they may come back at any moment, and phoenix waits for them"},
		{note(anarchy(), false), "anarchy does not say that it survives a crash"},
	} {
		if want := "up to 1 nodes crash, at any moment; " + c.want; c.got != want {
			t.Errorf("%q, want %q", c.got, want)
		}
	}
}

func searchOf(t *testing.T, a *dme.Algorithm, o Options) *Search {
	t.Helper()
	s, err := New(a, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A link fills where nothing acknowledges what it carries.
func TestBacklog(t *testing.T) {
	backlog := func(a *dme.Algorithm, nodes int) int {
		s, err := New(a, Options{Nodes: nodes, Unlimited: true})
		if err != nil {
			t.Fatal(err)
		}
		return s.Backlog(20)
	}
	if most := backlog(suzukikasami.Algorithm(), 3); most != 20 {
		t.Errorf("suzuki-kasami: %d messages on a link; nothing acknowledges a REQUEST", most)
	}
	// The other asks and is not answered, while its REQUEST waits. So do a reply and a
	// RELEASE that were on their way.
	if most := backlog(lamport.Algorithm(), 3); most < 2 || most > 4 {
		t.Errorf("lamport: %d messages on a link", most)
	}
	if most := backlog(suzukikasami.Algorithm(), 2); most < 1 || most > 3 {
		t.Errorf("suzuki-kasami, two nodes: %d messages on a link: who is not heard gets no token", most)
	}
}

// opener sends messages at the start: node 1 kinds 1 and 3 to node 2, and node 3 kind 2.
// Node 2 breaks down if it asks after it has received them in the order 1, 2, 3.
type opener struct{ script }

func (o *opener) Start(out *dme.Outbox) {
	switch o.id {
	case 1:
		out.Send(2, dme.Message{Kind: 1})
		out.Send(2, dme.Message{Kind: 3})
	case 3:
		out.Send(2, dme.Message{Kind: 2})
	}
}

// A reduced search takes account of what is on its way at the start.
func TestReductionBeginsWithWhatIsOnItsWay(t *testing.T) {
	a := toy("opener", func(id dme.NodeID, n int) dme.Node {
		return &opener{script{
			id: id, n: n,
			request: func(s *script, out *dme.Outbox) {
				if s.x == 3 {
					panic("in order")
				}
				enter(s, out)
			},
			receive: func(s *script, _ dme.NodeID, m dme.Message, _ *dme.Outbox) {
				if s.x+1 == uint64(m.Kind) {
					s.x++
				} else if m.Kind == 3 {
					s.x = 9
				}
			},
		}}
	}, "ONE", "TWO", "THREE")
	for _, bits := range []Bytes{0, 1 << 16} {
		s := searchOf(t, a, Options{Nodes: 3, Requests: 1, Requesters: []dme.NodeID{2}, Reduce: true, Bitstate: bits})
		r, err := s.Exhaustive(t.Context())
		if err != nil || r.Violation == nil || r.Violation.Property != vnet.Sanity {
			t.Errorf("%d bytes of bits: %+v, %v", bits, r, err)
		}
	}
}

// In a shortened schedule only those ask who may: node 1 would break down at once.
func TestOnlyRequestersAskInShortenedSchedules(t *testing.T) {
	a := scripted("second time", script{request: func(s *script, out *dme.Outbox) {
		if s.x++; s.id == 1 || s.x == 2 {
			panic("no")
		}
		enter(s, out)
	}})
	s := searchOf(t, a, Options{Nodes: 2, Requests: 2, Requesters: []dme.NodeID{2}})
	steps := []vnet.Step{{Kind: vnet.Ask, Node: 2}, {Kind: vnet.Exit, Node: 2}, {Kind: vnet.Ask, Node: 2}}
	trace := s.shrink(plan{model: s.model}, steps, vnet.Sanity)
	if len(trace.Events) != 3 || trace.Violation.Property != vnet.Sanity {
		t.Errorf("%v: %v", &trace.Violation, trace.Lines())
	}
}

// Schedules that were run after one that was not count where the search was ended, and not
// where one of those before has broken something.
func TestSchedulesAheadOfOthers(t *testing.T) {
	for _, broken := range []bool{false, true} {
		s := searchOf(t, anarchy(), Options{Nodes: 2, Requests: 2, Schedules: 9})
		r := &randomSearch{Search: s, ahead: make(map[int64]Part)}
		r.failed.Store(9)
		r.add(Part{First: 0, Done: 1, Steps: 5, Entries: 1})
		r.add(Part{First: 2, Done: 1, Steps: 70, Entries: 3})
		want := uint64(75)
		if broken {
			r.report.Violation = stalled([]dme.NodeID{1})
			want = 5
		}
		if got := r.finish(t.Context(), time.Now()); got.Steps != want {
			t.Errorf("broken %v: %d steps, want %d", broken, got.Steps, want)
		}
	}
}

// What the common tables keep is the states' components and what a reduction knows.
func TestReductionsAreOnTheAccount(t *testing.T) {
	x := searchOf(t, noisy(), Options{Nodes: 3, Requests: 3, Reduce: true}).reduced(t.Context())
	if x == nil || x.byClass {
		t.Fatal("no reduction")
	}
	if got := x.sharedFootprint() - x.space.Footprint(); got != x.reduction.Footprint() || got <= 0 {
		t.Errorf("the reduction takes %d bytes, and %d are on the account", x.reduction.Footprint(), got)
	}
}
