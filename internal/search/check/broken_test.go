package check

import (
	"slices"
	"strings"
	"testing"

	"dmebench/algorithms/catalog"
	"dmebench/dme"
	"dmebench/dme/vnet"
)

// Every property can be broken, and is found to be, by both searches; the
// schedules that show it are as short as can be.
func TestBrokenAlgorithmsAreCaught(t *testing.T) {
	for _, c := range []struct {
		alg        *dme.Algorithm
		o          Options
		property   vnet.Property
		verdict    string
		steps      int  // of the shortest schedule that shows it
		randomOnly bool // messages flow for ever
	}{
		{anarchy(), Options{Nodes: 3, Requests: 6}, vnet.Exclusion, "two nodes are in the critical section: ", 2, false},
		{silence(), Options{Nodes: 2, Requests: 1}, Progress, "stalled: node 1 waits", 1, false},
		{uninvited(), Options{Nodes: 2, Requests: 1}, vnet.Asked, "enters the critical section without a request", 2, false},
		{explosive(), Options{Nodes: 3, Requests: 6}, vnet.Sanity, "panics: one too many", 2, false},
		{favouritism(), Options{Nodes: 3, Requests: 9, Bypass: 3}, vnet.Overtaking,
			"is overtaken: 4 entries of others since it asked, more than 3", 0, false},
		{library(), Options{Nodes: 3, Requests: 6}, vnet.Exclusion, "two nodes are in the critical section: ", 2, false},
		{nonAtomic(), Options{Nodes: 2, Requests: 4}, Progress, "stalled: ", 0, false},
		{implicit(1), Options{Nodes: 2, Requests: 4}, vnet.Exclusion, "two nodes are in the critical section: 1 and 2", 0, false},
		{earlyBird(), Options{Nodes: 2, Requests: 1}, vnet.Asked, "node 1 enters the critical section without a request", 0, false},
		{chatter(), Options{Nodes: 3, Requests: 1, Patience: 200}, Liveness,
			"no entry: the last 3 steps repeat for ever, though node 1 waits", 0, true},
		{restlessToy(), Options{Nodes: 3, Requests: 1, Patience: 200}, Rest, "no rest: the last 3 steps repeat for ever", 0, true},
	} {
		t.Run(c.alg.Name, func(t *testing.T) {
			c.o.Schedules = 3000
			r, err := Random(t.Context(), c.alg, c.o)
			if err != nil {
				t.Fatal(err)
			}
			judge(t, r, c.property, c.verdict)
			if c.steps > 0 && len(r.Trace.Events) != c.steps {
				t.Errorf("%d steps, want %d:\n%s", len(r.Trace.Events), c.steps, strings.Join(r.Trace.Lines(), "\n"))
			}
			if c.randomOnly {
				return
			}
			x, err := Exhaustive(t.Context(), c.alg, c.o)
			if err != nil {
				t.Fatal(err)
			}
			judge(t, x, c.property, c.verdict)
			// The shortest schedule there is. A stall is met one layer later
			// than what a step breaks.
			if len(x.Trace.Events) > len(r.Trace.Events)+1 {
				t.Errorf("%d steps by exhaustive search, %d by a random one", len(x.Trace.Events), len(r.Trace.Events))
			}
		})
	}
}

func judge(t *testing.T, r Report, want vnet.Property, verdict string) {
	t.Helper()
	if r.Violation == nil {
		t.Fatalf("not caught in %d schedules or %d states (%s)", r.Schedules, r.States, r.Stopped)
	}
	if r.Violation.Property != want || !strings.Contains(r.Violation.Verdict, verdict) || r.Complete {
		t.Errorf("%s: %q, complete %v; want %s: %q", r.Violation.Property, r.Violation, r.Complete, want, verdict)
	}
	if r.Trace == nil || len(r.Trace.Lines()) < len(r.Trace.Events) || len(r.Trace.States) != r.Trace.Nodes {
		t.Fatalf("trace %+v", r.Trace)
	}
}

// What is right is found right, on the links that it needs.
func TestSoundOnes(t *testing.T) {
	for _, c := range []struct {
		alg *dme.Algorithm
		o   Options
	}{
		{implicit(2), Options{Nodes: 2, Requests: 4, Unordered: false}},
		{implicit(3), Options{Nodes: 2, Requests: 3}},
		{favouritism(), Options{Nodes: 3, Requests: 6}},
	} {
		r, err := Exhaustive(t.Context(), c.alg, c.o)
		if err != nil || r.Violation != nil || !r.Complete || r.States < 100 {
			t.Errorf("%s: %v, %v, %d states", c.alg.Name, r.Violation, err, r.States)
		}
		c.o.Schedules = 500
		r, err = Random(t.Context(), c.alg, c.o)
		if err != nil || r.Violation != nil || !r.Complete || r.Schedules != 500 || r.Entries != uint64(500*c.o.Requests) {
			t.Errorf("%s: %v, %v, %d schedules, %d entries", c.alg.Name, r.Violation, err, r.Schedules, r.Entries)
		}
	}
}

// From a shortened schedule no single step can be left out.
func TestShortened(t *testing.T) {
	for _, c := range []struct {
		alg *dme.Algorithm
		o   Options
	}{
		{nonAtomic(), Options{Nodes: 4, Requests: 12}},
		{favouritism(), Options{Nodes: 4, Requests: 16, Bypass: 4}},
		{anarchy(), Options{Nodes: 6, Requests: 12}},
	} {
		search, err := New(c.alg, c.o)
		if err != nil {
			t.Fatal(err)
		}
		r := search.random(search.model, nil)
		for seed := search.Seed + 1; r.Violation == nil; seed++ {
			other, err := search.model.WithSeed(seed)
			if err != nil {
				t.Fatal(err)
			}
			r = search.random(other, nil)
		}
		short := search.shrink(plan{model: r.Model}, r.taken, r.Violation.Property)
		if short.Violation.Property != r.Violation.Property || len(short.Events) > len(r.taken)+1 {
			t.Errorf("%s: %d steps to %v become %d to %v", c.alg.Name, len(r.taken), r.Violation, len(short.Events), &short.Violation)
		}
		steps := short.Steps()
		again, _ := search.replay(r.Model, steps, false)
		if again.Violation.Verdict != short.Violation.Verdict {
			t.Errorf("%s: replayed: %v, want %v", c.alg.Name, &again.Violation, &short.Violation)
		}
		for i := range steps {
			less := append(append([]vnet.Step(nil), steps[:i]...), steps[i+1:]...)
			if again, _ := search.replay(r.Model, less, false); again.Violation.Property == short.Violation.Property {
				t.Errorf("%s: step %d of %d, %v, can be left out", c.alg.Name, i+1, len(steps), steps[i])
			}
		}
	}
}

// What random search shows of the literal texts is hardly longer than the shortest
// schedule there is.
func TestCounterexamplesAreShort(t *testing.T) {
	for _, c := range []struct {
		name            string
		nodes, requests int // in which exhaustive search finds the same
	}{
		{"maekawa-as-published", 4, 4}, {"maekawa-textbook-as-published", 3, 3}, {"agrawal-el-abbadi-as-published", 5, 5},
		{"chaudhuri-karaata-as-published", 4, 4}, {"singhal-as-published", 5, 5}, {"lodha-kshemkalyani-as-published", 3, 3},
		{"ricart-agrawala-bounded-as-published", 3, 4}, {"ricart-agrawala-robust-as-published", 2, 4},
	} {
		of := catalog.All()
		a := of[slices.IndexFunc(of, func(a *dme.Algorithm) bool { return a.Name == c.name })]
		o := Defaults(a, c.nodes, nil)
		random, err := Random(t.Context(), a, o)
		if err != nil || random.Trace == nil {
			t.Fatal(random, err)
		}
		o.Requests, o.Vary, o.Watch = c.requests, false, false
		all, err := Exhaustive(t.Context(), a, o)
		if err != nil || all.Trace == nil {
			t.Fatal(all, err)
		}
		got, least := len(random.Trace.Events), len(all.Trace.Events)
		t.Logf("%s on %d nodes: %d steps, the shortest has %d", c.name, c.nodes, got, least)
		if 4*got > 5*least {
			t.Errorf("%s on %d nodes: %d steps, the shortest has %d", c.name, c.nodes, got, least)
		}
	}
}

// A search for safety alone goes on behind a standstill, and comes to an end where messages
// flow for ever.
func TestSafetyOnly(t *testing.T) {
	// Node 1 is never served, and the others enter as they like.
	unfair := scripted("unfair", script{request: func(s *script, out *dme.Outbox) {
		if s.id != 1 {
			out.Enter(dme.Stamp{})
		}
	}})
	for _, x := range []struct {
		name       string
		a          *dme.Algorithm
		found      vnet.Property // by a search for everything
		unsafe     vnet.Property // by one for safety alone
		exhaustive bool
		bits       Bytes
	}{
		{"unfair, every state", unfair, Progress, vnet.Exclusion, true, 0},
		{"unfair, bits of every state", unfair, "", vnet.Exclusion, true, 1 << 20},
		{"silence, every state", silence(), Progress, "", true, 0},
		{"silence, random", silence(), Progress, "", false, 0},
		{"chatter, random", chatter(), Liveness, "", false, 0},
	} {
		for _, only := range []bool{false, true} {
			o := Options{Nodes: 3, Requests: 3, Schedules: 20, Seed: 1, SafetyOnly: only, Bitstate: x.bits, Patience: 1000}
			s := searchOf(t, x.a, o)
			var report Report
			if x.exhaustive {
				var err error
				if report, err = s.Exhaustive(t.Context()); err != nil {
					t.Fatal(err)
				}
			} else {
				report = s.Random(t.Context())
			}
			want := x.found
			if only {
				want = x.unsafe
			}
			got := vnet.Property("")
			if report.Violation != nil {
				got = report.Violation.Property
			}
			if got != want && (only || want != "") {
				t.Errorf("%s, safety only %v: %q; want %q", x.name, only, got, want)
			}
			if only && want == "" && !report.Complete {
				t.Errorf("%s: not complete: %s", x.name, report.Stopped)
			}
		}
	}
}
