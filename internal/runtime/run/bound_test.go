package run

import (
	"slices"
	"strings"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/runs"
)

// patient needs a bound on delays, for which a user may vouch.
func patient() *dme.Algorithm {
	return &dme.Algorithm{
		Name: "patient", Kinds: []string{"A"}, Needs: dme.Always(dme.Needs{Reliable: true, BoundedDelay: true}),
		Options: []dme.Option{{
			Name: "bound", Default: "auto", Words: []string{"auto"}, Forms: []string{"DURATION"}, Valid: func(string) error { return nil },
		}},
		Prepare: func(c dme.Config) (dme.System, error) { return prepared{c}, nil },
	}
}

func TestBounds(t *testing.T) {
	const lacking = "a bound on message delay, which"
	for _, x := range []struct {
		name  string
		spec  runs.Spec
		set   map[string]string
		bound time.Duration // what the algorithm is told of the network
		fault string        // "" for none
	}{
		{"a simulation knows", runs.Spec{Transport: runs.Sim}, nil, 2 * time.Millisecond, ""},
		{"whatever its T", runs.Spec{Transport: runs.Sim}, map[string]string{"t": "5ms", "delay": "uniform"},
			10 * time.Millisecond, ""},
		{"there is none", runs.Spec{Transport: runs.Sim}, map[string]string{"delay": "exponential"}, 2 * time.Millisecond, lacking},
		{"whatever one says", runs.Spec{Transport: runs.Sim}, map[string]string{"delay": "exponential", "bound": "1h"},
			2 * time.Millisecond, lacking},
		{"true", runs.Spec{Transport: runs.Sim}, map[string]string{"bound": "1ms"}, 2 * time.Millisecond, ""},
		{"false", runs.Spec{Transport: runs.Sim}, map[string]string{"bound": "999us"},
			2 * time.Millisecond, "a message takes up to 1ms there, more than bound=999µs"},
		{"true of uniform delays", runs.Spec{Transport: runs.Sim}, map[string]string{"delay": "uniform", "bound": "1500us"},
			2 * time.Millisecond, ""},
		{"false of uniform delays", runs.Spec{Transport: runs.Sim}, map[string]string{"delay": "uniform", "bound": "1499us"},
			2 * time.Millisecond, "up to 1.5ms"},
		{"nor in a tail", runs.Spec{Transport: runs.Sim}, map[string]string{"delay": "pareto:3"}, 2 * time.Millisecond, lacking},
		{"links add to it", runs.Spec{Transport: runs.Sim}, map[string]string{"jitter": "3ms", "links": "1-2:delay=4ms"},
			9 * time.Millisecond, ""},
		{"and are taken into account", runs.Spec{Transport: runs.Sim}, map[string]string{"jitter": "3ms", "bound": "3ms"},
			5 * time.Millisecond, "a message takes up to 4ms there"},
		{"links may have none", runs.Spec{Transport: runs.Sim}, map[string]string{"links": "1-2:bandwidth=1000"},
			2 * time.Millisecond, lacking},
		{"a real network knows nothing", runs.Spec{Transport: "tcp"}, nil, 0, "vouch for one with --set bound=DURATION"},
		{"a person may", runs.Spec{Transport: "tcp"}, map[string]string{"bound": "50ms"}, 0, ""},
		{"longer than one's patience", runs.Spec{Transport: "tcp"}, map[string]string{"bound": "5s"},
			0, "let --stall-after be more than 10s"},
		{"with more patience", runs.Spec{Transport: "tcp", StallAfter: runs.Duration(11 * time.Second)},
			map[string]string{"bound": "5s"},
			0, ""},
	} {
		x.spec.Algorithm, x.spec.Nodes, x.spec.Set = "patient", 3, x.set
		_, err := Resolve(x.spec, Catalog{patient()}, nil)
		if (err == nil) != (x.fault == "") || err != nil && !strings.Contains(err.Error(), x.fault) {
			t.Errorf("%s: %v, want %q", x.name, err, x.fault)
		}
		x.spec.AllowMismatch, x.spec.StallAfter = true, runs.Duration(10*time.Hour)
		j, err := Resolve(x.spec, Catalog{patient()}, nil)
		if err != nil {
			t.Errorf("%s: with a mismatch allowed: %v", x.name, err)
			continue
		}
		if bound := j.System.(prepared).Bound; bound != x.bound {
			t.Errorf("%s: told of a bound of %v, want %v", x.name, bound, x.bound)
		}
		if missing := x.fault != "" && !strings.Contains(x.fault, "stall"); missing != (len(j.Missing) == 1) {
			t.Errorf("%s: missing %v", x.name, j.Missing)
		}
	}
}

// Links on which a message takes longer than a run may stand still are refused; a
// simulation has the patience for them.
func TestDelaysThatWouldSeemAStall(t *testing.T) {
	for _, x := range []struct {
		transport, option, value string
		ok                       bool
	}{
		{"tcp", "delay", "20s", false},
		{"nats", "delay", "uniform:1s:12s", false},
		{"tcp", "delay", "exp:11s", false},
		{"tcp", "links", "1-2:delay=20s", false},
		{"tcp", "delay", "9s", true},
		{"tcp", "bandwidth", "100", true},
		{"sim", "t", "20s", true},
	} {
		spec := runs.Spec{Algorithm: "plain", Nodes: 3, Transport: x.transport, Set: map[string]string{x.option: x.value}}
		_, err := Resolve(spec, catalog(), nil)
		want := "after 10s that is taken for a stall; let --stall-after be more than "
		if (err == nil) != x.ok || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s %s=%s: %v", x.transport, x.option, x.value, err)
		}
		if spec.StallAfter = runs.Duration(2 * time.Minute); x.ok {
			continue
		}
		if _, err := Resolve(spec, catalog(), nil); err != nil {
			t.Errorf("%s %s=%s, with more patience: %v", x.transport, x.option, x.value, err)
		}
	}
}

// shares is a node that knows readers.
type shares struct{ dme.Node }

func (shares) RequestShared(*dme.Outbox) {}

type sharing struct{}

func (sharing) Node(dme.NodeID) dme.Node { return shares{} }

func TestReadersNeedAnAlgorithmThatKnowsThem(t *testing.T) {
	knows := patient()
	knows.Name = "knows"
	knows.Needs = dme.Always(dme.Needs{Reliable: true})
	knows.Prepare = func(dme.Config) (dme.System, error) { return sharing{}, nil }
	both := append(catalog(), knows)
	for _, x := range []struct {
		algorithm, readers string
		ok                 bool
	}{{"knows", "0.5", true}, {"knows", "0", true}, {"plain", "0", true}, {"plain", "0.5", false}} {
		_, err := Resolve(runs.Spec{Algorithm: x.algorithm, Nodes: 3, Set: map[string]string{"readers": x.readers}}, both, nil)
		if (err == nil) != x.ok || err != nil && !strings.Contains(err.Error(), "plain knows no readers") {
			t.Errorf("readers=%s of %s: %v", x.readers, x.algorithm, err)
		}
	}
}

func TestFaultsAreChecked(t *testing.T) {
	plain := &dme.Algorithm{
		Name: "plain", Kinds: []string{"A"}, Needs: dme.Always(dme.Needs{Reliable: true}),
		Prepare: func(dme.Config) (dme.System, error) { return prepared{}, nil },
	}
	for _, c := range []struct {
		spec runs.Spec
		want string // "" where it is fine
	}{
		{runs.Spec{Faults: []string{"kill 3 @2s", "pause 1 @1s-2s"}}, ""},
		{runs.Spec{Faults: []string{"kill 3 @2s", "burn 1 @1s"}}, `"burn" cannot be done`},
		{runs.Spec{Faults: []string{"kill 9 @2s"}}, "there are only 4 nodes"},
		{runs.Spec{Faults: []string{"restart 3 @2s"}}, "nodes of plain cannot restart"},
		{runs.Spec{Faults: []string{"kill 3 @2s"}, NodesPerWorker: 2}, "which hosts 2 nodes"},
		{runs.Spec{Faults: []string{"kill 3 @2s"}, NodesPerWorker: 2, Transport: "sim"}, ""},
		{runs.Spec{Faults: []string{"partition 1 @2s"}, NodesPerWorker: 2}, ""},
		{runs.Spec{Faults: []string{"partition 1 @2s"}, Transport: "udp", Set: map[string]string{"multicast": "true"}}, "datagram to all"},
	} {
		c.spec.Algorithm, c.spec.Nodes = "plain", 4
		j, err := Resolve(c.spec, Catalog{plain}, nil)
		switch {
		case c.want == "" && (err != nil || len(j.Faults) != len(c.spec.Faults)):
			t.Errorf("%v: %v", c.spec.Faults, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%v: %v; want an error with %q", c.spec.Faults, err, c.want)
		}
	}
}

// joiners are nodes that can join; what they are told is kept.
type joiners struct{ dme.Node }

func (joiners) Join(*dme.Outbox)   {}
func (joiners) Depart(*dme.Outbox) {}

func TestWhoJoinsIsAbsentFirst(t *testing.T) {
	var config dme.Config
	a := &dme.Algorithm{
		Name: "joiners", Kinds: []string{"HELLO"}, Needs: dme.Always(dme.Needs{}),
		Prepare: func(c dme.Config) (dme.System, error) {
			config = c
			return dme.Unshared(func(int, dme.NodeID) dme.Node { return joiners{} })(c)
		},
	}
	_, err := Resolve(runs.Spec{Algorithm: "joiners", Nodes: 5, Faults: []string{"join 4 @2s", "join 2 @1s"}}, Catalog{a}, nil)
	if err != nil || !slices.Equal(config.Absent, []dme.NodeID{2, 4}) {
		t.Errorf("absent %v (%v)", config.Absent, err)
	}
}
