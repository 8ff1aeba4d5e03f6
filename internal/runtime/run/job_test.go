package run

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"strings"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/runs"
	"dmebench/transport"
)

// prepared is a system that remembers what it was prepared from.
type prepared struct{ dme.Config }

func (prepared) Node(dme.NodeID) dme.Node { return nil }

func catalog() Catalog {
	prepare := func(c dme.Config) (dme.System, error) { return prepared{c}, nil }
	return Catalog{
		{
			Name: "plain", Kinds: []string{"A"}, Needs: dme.Always(dme.Needs{Reliable: true}), Prepare: prepare,
			Options: []dme.Option{{Name: "mode", Default: "calm", Words: []string{"calm", "wild"}}},
			ValidNodes: func(n int, _ dme.Options) error {
				if n%2 == 0 {
					return fmt.Errorf("%d nodes: want an odd number", n)
				}
				return nil
			},
			Perpetual: func(o dme.Options) bool { return o.Get("mode") == "wild" },
		},
		{
			Name: "ordered", Kinds: []string{"A"}, Prepare: prepare,
			Needs: dme.Always(dme.Needs{Reliable: true, FIFO: true, BoundedDelay: true}),
		},
		{
			Name: "circulating", Kinds: []string{"A"}, Needs: dme.Always(dme.Needs{}), Prepare: prepare,
			Options:   []dme.Option{{Name: "mode", Default: "perpetual", Words: []string{"perpetual", "demand"}}},
			Perpetual: func(o dme.Options) bool { return o.Get("mode") == "perpetual" },
			Stepped:   map[string]string{"mode": "demand"},
		},
		{
			Name: "pensive", Kinds: []string{"A"}, Needs: dme.Always(dme.Needs{}), Prepare: prepare,
			Options: []dme.Option{{Name: "think", Default: "0", Words: []string{"0", "1"}}},
		},
	}
}

func TestFaultsOfASpec(t *testing.T) {
	set := func(pairs ...string) map[string]string {
		m := make(map[string]string)
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i]] = pairs[i+1]
		}
		return m
	}
	for _, x := range []struct {
		name string
		spec runs.Spec
		want []string
	}{
		{"no algorithm", runs.Spec{Nodes: 3}, []string{"which algorithm? 'dmebench list' shows what there is"}},
		{"unknown names", runs.Spec{Algorithm: "magic", Nodes: 3, Transport: "pigeon", Workload: "rush"}, []string{
			`unknown algorithm "magic"`, `unknown transport "pigeon"; there are tcp`, `unknown workload "rush"; there are saturate`,
		}},
		{"no nodes", runs.Spec{Algorithm: "plain"}, []string{"0 nodes: there must be at least 1"}},
		{"less than none", runs.Spec{Algorithm: "plain", Nodes: -3}, []string{"-3 nodes: there must be at least 1"}},
		{"too many", runs.Spec{Algorithm: "plain", Nodes: 1 << 30}, []string{"1073741824 nodes", "at most 1048576"}},
		{"negative numbers", runs.Spec{Algorithm: "plain", Nodes: 3, NodesPerWorker: -1, Duration: -1, Warmup: "-1"}, []string{
			"-1 nodes per worker", "a duration must not be negative", `warm-up "-1": want auto or a number of entries`,
		}},
		{"negative requests", runs.Spec{Algorithm: "plain", Nodes: 3, Requests: -1}, []string{"must not be negative"}},
		{"a stall that is never noticed", runs.Spec{Algorithm: "plain", Nodes: 3, StallAfter: -1}, []string{
			"a duration must not be negative",
		}},
		{"warm-up in words", runs.Spec{Algorithm: "plain", Nodes: 3, Warmup: "some"}, []string{`warm-up "some"`}},
		{"an odd critical section", runs.Spec{Algorithm: "plain", Nodes: 3, CS: "long"}, []string{
			`critical section "long": not a duration; want a duration such as 100us or exp:100us`,
		}},
		{"an N that the algorithm has no use for", runs.Spec{Algorithm: "plain", Nodes: 4}, []string{
			"plain: 4 nodes: want an odd number",
		}},
		{"unknown options", runs.Spec{Algorithm: "plain", Nodes: 3, Set: set("zeal", "9", "mod", "wild")}, []string{
			"--set mod, zeal: no option of plain, saturate, tcp; known here: mode, think, readers, gomaxprocs",
		}},
		{"an option of two parts", runs.Spec{Algorithm: "pensive", Nodes: 3, Set: set("think", "1")}, []string{
			"option think of pensive is also one of saturate; they cannot be combined",
		}},
		{"unknown values", runs.Spec{Algorithm: "plain", Nodes: 3, Transport: runs.Sim,
			Set: set("mode", "odd", "think", "-1s", "delay", "none", "t", "0s", "fifo", "maybe")}, []string{
			"plain: mode=odd: want calm|wild", "think=-1s",
			"delay=none: no such distribution (want constant|uniform|exponential|pareto:INDEX)",
			"t=0s", "fifo=maybe: want true|false",
		}},
		{"a delay beyond the clock", runs.Spec{Algorithm: "plain", Nodes: 3, Transport: runs.Sim, Set: set("t", "1000h")}, []string{
			"t=1000h", "at most 1h",
		}},
		{"faults of several parts", runs.Spec{Algorithm: "plain", Nodes: 4, Workload: "poisson"}, []string{
			"poisson: needs a rate", "plain: 4 nodes",
		}},
		{"an option of another network", runs.Spec{Algorithm: "plain", Nodes: 3, Set: set("delay", "uniform")}, []string{"--set delay"}},
		{"links that do not do", runs.Spec{Algorithm: "ordered", Nodes: 3, Transport: runs.Sim,
			Set: set("delay", "exponential", "fifo", "false")}, []string{
			"ordered needs FIFO links and a bound on message delay, which sim with delay=exponential fifo=false does not have",
			"--allow-mismatch",
		}},
		{"steps without silence", runs.Spec{Algorithm: "plain", Nodes: 3, Workload: "serial", Set: set("mode", "wild")}, []string{
			"never does; choose another workload",
		}},
		{"steps without silence, said so", runs.Spec{Algorithm: "circulating", Nodes: 3, Workload: "burst",
			Set: set("mode", "perpetual")}, []string{
			"choose --set mode=demand",
		}},
	} {
		j, err := Resolve(x.spec, catalog(), nil)
		if err == nil {
			t.Errorf("%s: accepted as %+v", x.name, j.Spec)
			continue
		}
		for _, want := range x.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q does not say %q", x.name, err, want)
			}
		}
	}
}

func TestResolve(t *testing.T) {
	j, err := Resolve(runs.Spec{
		Algorithm: "plain", Nodes: 3, Transport: runs.Sim, Seed: 9, Warmup: "5", CS: "exp:2ms",
		Set: map[string]string{"mode": "wild", "think": "1ms", "delay": "uniform"},
	}, catalog(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if j.Options.Get("mode") != "wild" || j.NetOptions.Get("delay") != "uniform" || j.NetOptions.Get("t") != "1ms" {
		t.Errorf("options %v of the algorithm, %v of the network", j.Options, j.NetOptions)
	}
	if j.Warmup != 5 || j.Spec.Requests != 300 || j.Plan.Requests() != 300 || j.Plan.MeanHold() != 2*time.Millisecond {
		t.Errorf("job %+v", j)
	}
	if got := strings.Join(j.Settings(), " "); !strings.HasPrefix(got, "mode=wild t=1ms delay=uniform fifo=true ") ||
		!strings.HasSuffix(got, " think=1ms readers=0") {
		t.Errorf("settings %q", got)
	}
	if c := j.System.(prepared); c.Nodes != 3 || c.Seed != 9 || c.Options.Get("mode") != "wild" {
		t.Errorf("prepared from %+v", c)
	}
	if j.Network.Real() || !j.Guarantees().FIFO || !j.Guarantees().BoundedDelay || len(j.Missing) != 0 {
		t.Errorf("guarantees %+v, missing %v", j.Guarantees(), j.Missing)
	}
	if j, err = Resolve(runs.Spec{Algorithm: "plain", Nodes: 3}, catalog(), nil); err != nil || j.Warmup != -1 || !j.Network.Real() {
		t.Errorf("defaults: %+v, %v", j, err)
	}
	j, err = Resolve(runs.Spec{Algorithm: "circulating", Nodes: 3, Workload: "serial"}, catalog(), nil)
	if err != nil || j.Options.Get("mode") != "demand" {
		t.Errorf("under steps the token ought to move on demand: %v, %v", j, err)
	}
}

// A broadcast that is one datagram cannot be lost for one receiver and not for
// another by who sends it.
func TestMulticastGoesWithoutConditions(t *testing.T) {
	spec := runs.Spec{Algorithm: "plain", Nodes: 3, Transport: "udp", Set: map[string]string{MulticastOption: "true", "loss": "0.1"}}
	if _, err := Resolve(spec, catalog(), nil); err == nil || !strings.Contains(err.Error(), "multicast=true: loss=0.1") ||
		!strings.Contains(err.Error(), "leave one of them out") {
		t.Errorf("%v", err)
	}
	delete(spec.Set, "loss")
	j, err := Resolve(spec, catalog(), nil)
	if err != nil || !j.Guarantees().Broadcast || !strings.Contains(j.Network.Describe(j.NetOptions), "multicast=true") {
		t.Errorf("%v, %v", j, err)
	}
	spec.Set[MulticastOption] = "false"
	if j, err = Resolve(spec, catalog(), nil); err != nil || j.Guarantees().Broadcast {
		t.Errorf("%v, %v", j, err)
	}
}

func TestMismatchOnRequest(t *testing.T) {
	j, err := Resolve(runs.Spec{
		Algorithm: "ordered", Nodes: 3, Transport: runs.Sim, AllowMismatch: true,
		Set: map[string]string{"delay": "uniform", "fifo": "false"},
	}, catalog(), nil)
	if err != nil || len(j.Missing) != 1 || j.Missing[0] != "FIFO links" {
		t.Errorf("missing %v, %v", j, err)
	}
}

func TestFilesThatOptionsName(t *testing.T) {
	read := func(name string) ([]byte, error) {
		if name != "day.csv" {
			return nil, fs.ErrNotExist
		}
		return []byte("0,1\n1,3\n"), nil
	}
	spec := runs.Spec{Algorithm: "plain", Nodes: 3, Transport: runs.Sim, Workload: "trace", Set: map[string]string{"file": "day.csv"}}
	j, err := Resolve(spec, catalog(), read)
	if err != nil || j.Plan.Requests() != 2 {
		t.Fatalf("%v, %v", j, err)
	}
	spec.Set = map[string]string{"file": "night.csv"}
	if _, err := Resolve(spec, catalog(), read); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

func TestNetworksCheckThemselves(t *testing.T) {
	for _, n := range Networks() {
		for _, o := range n.Options {
			if err := o.Accepts(o.Default); err != nil {
				t.Errorf("%s: its default: %v", n.Name, err)
			}
		}
		opt, err := dme.ResolveOptions(n.Options, nil)
		if err != nil {
			t.Errorf("%s: %v", n.Name, err)
			continue
		}
		if g := n.Guarantees(opt); !g.Reliable || !g.FIFO {
			t.Errorf("%s: %+v by default", n.Name, g)
		}
		if n.Help == "" || n.Describe(opt) == "" || n.Real() != (n.Name != runs.Sim) {
			t.Errorf("%s is not described", n.Name)
		}
	}
}

// The simulated network takes the options of package link beside its own, and
// promises what is left.
func TestSimulatedLinks(t *testing.T) {
	base := transport.Guarantees{Reliable: true, FIFO: true, BoundedDelay: true, Broadcast: true, SequencedBroadcast: true}
	for _, x := range []struct {
		set  map[string]string
		want transport.Guarantees
		name string
	}{
		{nil, base, "sim with delay=constant fifo=true"},
		{map[string]string{"link-seed": "5"}, base, "sim with delay=constant fifo=true"},
		{map[string]string{"loss": "0.1"}, transport.Guarantees{FIFO: true, BoundedDelay: true},
			"sim with delay=constant fifo=true loss=0.1"},
		{map[string]string{"links": "1-2:reorder=0.1"}, transport.Guarantees{Reliable: true, BoundedDelay: true},
			"sim with delay=constant fifo=true links=1-2:reorder=0.1"},
		{map[string]string{"bandwidth": "1000", "delay": "uniform"}, transport.Guarantees{Reliable: true, FIFO: true},
			"sim with delay=uniform fifo=true bandwidth=1000"},
	} {
		j, err := Resolve(runs.Spec{Algorithm: "plain", Nodes: 3, Transport: runs.Sim, Set: x.set, AllowMismatch: true}, catalog(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := j.Guarantees(); got != x.want {
			t.Errorf("%v: %+v, want %+v", x.set, got, x.want)
		}
		if got := j.Network.Describe(j.NetOptions); got != x.name {
			t.Errorf("%v: %q, want %q", x.set, got, x.name)
		}
	}
	for _, network := range []string{runs.Sim, "tcp", "udp", "nats"} {
		spec := runs.Spec{Algorithm: "plain", Nodes: 3, Transport: network, Set: map[string]string{"links": "*-4:delay=1ms"}}
		_, err := Resolve(spec, catalog(), nil)
		if err == nil || !strings.Contains(err.Error(), "only the nodes 1 to 3") {
			t.Errorf("%s: a rule for a node that is not there: %v", network, err)
		}
	}
}

// What differs in case alone is taken for what is declared, and so it stands in
// the result.
func TestNamesInAnyCase(t *testing.T) {
	s := runs.Spec{Algorithm: "Plain", Nodes: 3, Transport: "SIM", Workload: "Serial",
		Set: map[string]string{"Delay": "UNIFORM", "requesters": "Each"}}
	j, err := Resolve(s, catalog(), nil)
	if err != nil {
		t.Fatal(err)
	}
	got := j.Spec
	if got.Algorithm != "plain" || got.Transport != "sim" || got.Workload != "serial" ||
		!maps.Equal(got.Set, map[string]string{"delay": "uniform", "requesters": "each"}) {
		t.Errorf("%+v", got)
	}
	s.Set = map[string]string{"dely": "uniform"}
	const want = "--set dely: no option of plain, serial, sim; did you mean 'delay'?"
	if _, err := Resolve(s, catalog(), nil); err == nil || !strings.Contains(err.Error(), want) {
		t.Error(err)
	}
}
