package check

import (
	"slices"
	"strings"
	"testing"
	"time"

	"dmebench/algorithms/lamport"
	"dmebench/algorithms/raymond"
	"dmebench/algorithms/ricartagrawala"
	"dmebench/dme"
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
