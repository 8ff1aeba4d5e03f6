package check

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"dmebench/algorithms/catalog"
	"dmebench/algorithms/lamport"
	"dmebench/algorithms/raymond"
	"dmebench/algorithms/ricartagrawala"
	"dmebench/dme"
	"dmebench/internal/testkit"
)

// Each option is refused from its limit on, for the reason that it has.
func TestLimitsOfOptions(t *testing.T) {
	for _, x := range []struct {
		name    string
		change  func(*Options)
		refused string // "" where it is taken
	}{
		{"as they are", func(*Options) {}, ""},
		{"no nodes", func(o *Options) { o.Nodes = 0 }, "0 nodes: there must be at least 1 and at most 1000"},
		{"a node", func(o *Options) { o.Nodes = 1 }, ""},
		{"no requests", func(o *Options) { o.Requests = 0 }, "0 requests"}, {"one", func(o *Options) { o.Requests = 1 }, ""},
		{"node 0 asks", func(o *Options) { o.Requesters = []dme.NodeID{0, 1} }, "node 0 shall ask: there are nodes 1 to 3"},
		{"node 4 asks", func(o *Options) { o.Requesters = []dme.NodeID{4} }, "node 4 shall ask: there are nodes 1 to 3"},
		{"nodes 1 and 3 ask", func(o *Options) { o.Requesters = []dme.NodeID{3, 1} }, ""},
		{"node 2 asks twice", func(o *Options) { o.Requesters = []dme.NodeID{2, 1, 2} }, "node 2 shall ask: it is named twice"},
		{"one asks, and who varies", func(o *Options) { o.Requesters, o.Vary = []dme.NodeID{2}, true }, "choose one"},
		{"all ask, and who varies", func(o *Options) { o.Vary = true }, ""},
		{"one asks, without end", func(o *Options) { o.Requesters, o.Unlimited, o.Requests = []dme.NodeID{2}, true, 0 }, "choose one"},
		{"messages to lose", func(o *Options) { o.Lose = -1 }, "-1 messages to lose"}, {"one", func(o *Options) { o.Lose = 1 }, ""},
		{"faults", func(o *Options) { o.Faults = -1 }, "-1 faults"},
		{"no bypass", func(o *Options) { o.Bypass = -1 }, "a bypass of -1"}, {"one", func(o *Options) { o.Bypass = 1 }, ""},
		{"without end", func(o *Options) { o.Unlimited, o.Requests = true, 0 }, ""},
		{"without end, and so many", func(o *Options) { o.Unlimited = true }, "3 requests: a search for liveness lets"},
		{"without end, of 32", func(o *Options) { o.Unlimited, o.Requests, o.Nodes = true, 0, 32 }, ""},
		{"without end, of 33", func(o *Options) { o.Unlimited, o.Requests, o.Nodes = true, 0, 33 },
			"33 nodes: a search for liveness takes at most 32"},
		{"without end, twice", func(o *Options) { o.Unlimited, o.Requests, o.Duplicate = true, 0, true },
			"links that deliver every message once"},
		{"without end, lost", func(o *Options) { o.Unlimited, o.Requests, o.Lose = true, 0, 1 }, "links that deliver every message once"},
		{"without end, faulty", func(o *Options) { o.Unlimited, o.Requests, o.Faults = true, 0, 1 }, "nodes that do not fail"},
		{"without end, bounded", func(o *Options) { o.Unlimited, o.Requests, o.Bypass = true, 0, 1 }, "no bound on overtaking"},
		{"in flight", func(o *Options) { o.InFlight = -1 }, "-1 messages in flight"},
		{"in flight, with an end", func(o *Options) { o.InFlight = 1 }, "messages in flight are bounded in a search for liveness alone"},
		{"in flight, without", func(o *Options) { o.Unlimited, o.Requests, o.InFlight = true, 0, 1 }, ""},
		{"schedules", func(o *Options) { o.Schedules = -1 }, "-1 schedules"}, {"one", func(o *Options) { o.Schedules = 1 }, ""},
		{"bits", func(o *Options) { o.Bitstate = -1 }, "-1 bytes for the bits of states"}, {"some", func(o *Options) { o.Bitstate = 1 }, ""},
		{"no room", func(o *Options) { o.Bitstate, o.Memory = 9, 9 }, "leave room for the rest"},
		{"room", func(o *Options) { o.Bitstate, o.Memory = 8, 9 }, ""},
		{"memory", func(o *Options) { o.Memory = -1 }, "a limit of -1 bytes of memory"}, {"a byte", func(o *Options) { o.Memory = 1 }, ""},
		{"time", func(o *Options) { o.Time = -1 }, "a time of -1ns"}, {"a second", func(o *Options) { o.Time = time.Second }, ""},
		{"patience", func(o *Options) { o.Patience = -1 }, "patience -1, 0 workers"}, {"some", func(o *Options) { o.Patience = 1 }, ""},
		{"workers", func(o *Options) { o.Workers = -1 }, "patience 0, -1 workers"}, {"one", func(o *Options) { o.Workers = 1 }, ""},
		{"chance", func(o *Options) { o.Adversary = Chance }, ""}, {"an adversary", func(o *Options) { o.Adversary = Adversarial }, ""},
		{"another", func(o *Options) { o.Adversary = "fate" }, `unknown adversary "fate"`},
	} {
		o := Options{Nodes: 3, Requests: 3}
		x.change(&o)
		_, err := New(ricartagrawala.Algorithm(), o)
		switch {
		case x.refused == "" && err != nil:
			t.Errorf("%s: %v", x.name, err)
		case x.refused != "" && (err == nil || !strings.Contains(err.Error(), x.refused) || strings.Contains(err.Error(), "\n")):
			t.Errorf("%s: %v, want %q alone", x.name, err, x.refused)
		}
	}
}

// What is not said has a default; what is said stays.
func TestWhatIsNotSaid(t *testing.T) {
	s := searchOf(t, lamport.Algorithm(), Options{Nodes: 10, Requests: 3})
	if s.Schedules != 10_000 || s.States != 100_000_000 || s.Workers < 1 || s.Patience != 20_000 || s.Watched() != "" {
		t.Errorf("%+v", s.Options)
	}
	s = searchOf(t, lamport.Algorithm(), Options{Nodes: 10, Requests: 3, Schedules: 7, States: 8, Workers: 9, Patience: 6})
	if s.Schedules != 7 || s.States != 8 || s.Workers != 9 || s.Patience != 6 {
		t.Errorf("%+v", s.Options)
	}
	s = searchOf(t, lamport.Algorithm(), Options{Nodes: 3, Requests: 3, Requesters: []dme.NodeID{3, 1}, Watch: true})
	if !slices.Equal(s.Requesters, []dme.NodeID{1, 3}) || s.Askers() != 2 || s.starves {
		t.Errorf("nodes %v ask, %d of them; one is starved: %v", s.Requesters, s.Askers(), s.starves)
	}
	if s = searchOf(t, lamport.Algorithm(), Options{Nodes: 3, Requests: 3, Watch: true}); s.Askers() != 3 || !s.starves {
		t.Errorf("%d nodes ask; one is starved: %v", s.Askers(), s.starves)
	}
	s = searchOf(t, lamport.Algorithm(), Options{Nodes: 3, Requests: 3, Watch: true, Bypass: 5})
	if got := s.Watched(); s.bound != 5 || got != "at most 5 entries of others between a request and its entry, as told" {
		t.Errorf("%q, a bound of %d", got, s.bound)
	}
	if s = searchOf(t, lamport.Algorithm(), Options{Nodes: 3, Requests: 3, Bypass: 1}); s.bound != 1 {
		t.Errorf("a bound of %d, want 1 as told", s.bound)
	}
	if s = searchOf(t, lamport.Algorithm(), Options{Nodes: 3, Requests: 3, WithoutInvariants: true}); len(s.Invariants()) > 0 {
		t.Error("invariants are looked at where they are not to be")
	}
}

// Where options are wrong the links are the best; [New] says what is wrong.
func TestDefaultsOfWrongOptions(t *testing.T) {
	set := map[string]string{"no": "such"}
	o := Defaults(raymond.Algorithm(), 3, set)
	if o.Unordered || o.Duplicate || o.Lose != 0 || o.Requests != 15 || !o.Vary || !o.Watch {
		t.Errorf("%+v", o)
	}
	if _, err := New(raymond.Algorithm(), o); err == nil {
		t.Error("wrong options are taken")
	}
	if o := Defaults(raymond.Algorithm(), 0, nil); o.Requests != 1 {
		t.Errorf("%d requests of no nodes", o.Requests)
	}
}

// smallest is the least number of nodes on which a literal text fails: exhaustive
// searches of fewer find nothing.
var smallest = map[string]int{
	"maekawa-as-published":           4,
	"chaudhuri-karaata-as-published": 3, "lodha-kshemkalyani-as-published": 3,
}

// The literal texts, which are all wrong, are found to be so without a word of advice,
// from the least number of nodes on.
func TestLiteralTextsAreFound(t *testing.T) {
	seeds, most := uint64(1), 7
	switch {
	case testkit.Full():
		seeds = 5
	case testing.Short():
		most = 4
	}
	for _, a := range catalog.All() {
		if !a.AsPublished {
			continue
		}
		t.Run(a.Name, func(t *testing.T) {
			for n := max(2, smallest[a.Name]); n <= most; n++ {
				for k := range seeds {
					o := Defaults(a, n, nil)
					o.Seed = 1 + 1_000_000*k
					s, err := New(a, o)
					if err != nil {
						t.Fatal(err)
					}
					// Without a trace, which would have to be shortened.
					p := s.Part(t.Context(), 0, s.Schedules)
					if !p.Broken {
						t.Errorf("N=%d, seed %d: nothing in %d schedules", n, o.Seed, p.Done)
					}
					t.Logf("N=%d, seed %d: %d schedules", n, o.Seed, p.Done)
				}
			}
		})
	}
}

// Links are as bad as an algorithm says that it bears them.
func TestWeakestLinks(t *testing.T) {
	for want, got := range map[string]Options{
		"true false 0":  Defaults(raymond.Algorithm(), 3, nil),
		"false false 0": Defaults(lamport.Algorithm(), 3, nil),
		"true true 2":   Defaults(indifferent(), 3, nil),
	} {
		if got := fmt.Sprint(got.Unordered, got.Duplicate, got.Lose); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	// What gives broadcasts one order keeps the order of messages.
	if l := Weakest(dme.Needs{SequencedBroadcast: true}); l != (Links{}) {
		t.Errorf("%+v", l)
	}
	o := Defaults(ricartagrawala.Broadcast(), 3, map[string]string{"form": "sequenced"})
	if s, err := New(ricartagrawala.Broadcast(), o); err != nil || !s.Sequenced() {
		t.Errorf("%v", err)
	}
}

// indifferent declares that it needs nothing of links.
func indifferent() *dme.Algorithm {
	a := anarchy()
	a.Needs = dme.Always(dme.Needs{})
	return a
}

// Schedules whose requests vary make at most so many, and some each number of nodes ask.
func TestVariedRequests(t *testing.T) {
	s, err := New(raymond.Algorithm(), Options{Nodes: 5, Requests: 12, Vary: true})
	if err != nil {
		t.Fatal(err)
	}
	asked, least, most := map[int]bool{}, 12, 0
	for seed := range uint64(300) {
		p, err := s.plan(seed)
		if err != nil {
			t.Fatal(err)
		}
		asking, sum := 0, 0
		for id := range p.model.IDs() {
			if n := p.model.Requests(id); n > 0 {
				asking, sum = asking+1, sum+n
			}
		}
		asked[asking], least, most = true, min(least, sum), max(most, sum)
		if r := s.draw(p, nil); r.Entries != uint64(sum) {
			t.Errorf("seed %d: %d entries of %d requests", seed, r.Entries, sum)
		}
	}
	if len(asked) != 5 || asked[0] || least != 1 || most != 12 {
		t.Errorf("%v nodes ask, %d to %d times", asked, least, most)
	}
}

// postponed: node 2 serves node 1 at once and itself when a timer fires, which it
// sets anew whenever node 1 is through, if it is postponing. A timer that fires while
// node 1 is served has node 2 enter next.
func postponed(postponing bool) *dme.Algorithm {
	const wait = 1 // the timer
	const request, reply, release = 1, 2, 3
	const idle, waiting, due = 0, 1, 2 // x, of node 2
	const free, served, held = 0, 1, 2 // y, of node 2: node 1 is served; its request is held
	return scripted("postponed", script{
		request: func(s *script, out *dme.Outbox) {
			if s.id == 1 {
				out.Send(2, dme.Message{Kind: request})
				return
			}
			s.x = waiting
			out.SetTimer(wait, time.Second)
		},
		release: func(s *script, out *dme.Outbox) {
			if s.id == 1 {
				out.Send(2, dme.Message{Kind: release})
			} else if s.x = idle; s.y == held {
				s.y = served
				out.Send(1, dme.Message{Kind: reply})
			}
		},
		receive: func(s *script, from dme.NodeID, m dme.Message, out *dme.Outbox) {
			switch {
			case m.Kind == reply:
				out.Enter(dme.Stamp{})
			case m.Kind == request && s.x == due:
				s.y = held
			case m.Kind == request:
				s.y = served
				out.Send(from, dme.Message{Kind: reply})
			case s.x == due:
				s.y = free
				out.Enter(dme.Stamp{})
			default:
				if s.y = free; s.x == waiting && postponing {
					out.SetTimer(wait, time.Second)
				}
			}
		},
		timeout: func(s *script, _ dme.TimerID, out *dme.Outbox) {
			if s.x = due; s.y == free {
				out.Enter(dme.Stamp{})
			}
		},
	}, "REQUEST", "REPLY", "RELEASE")
}

// A timer need not fire where it is set anew again and again. Else it does.
func TestWhoSetsATimerAnewMayStarve(t *testing.T) {
	if r := livenessOf(t, postponed(true), Options{Nodes: 2}); r.Verdict != Starved || r.Node != 2 {
		t.Errorf("set anew: %s of node %d, %s", r.Verdict, r.Node, r.Stopped)
	}
	if r := livenessOf(t, postponed(false), Options{Nodes: 2}); !r.Proven {
		t.Errorf("set once: %s of node %d, %v", r.Verdict, r.Node, r.Lasso)
	}
}
