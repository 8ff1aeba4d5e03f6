package run

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"dmebench/algorithms/centralized"
	"dmebench/algorithms/chaudhurikaraata"
	"dmebench/algorithms/lamport"
	"dmebench/algorithms/maekawa"
	"dmebench/algorithms/raymond"
	"dmebench/algorithms/suzukikasami"
	"dmebench/internal/platform/environment"
	"dmebench/runs"
)

func estimated() Catalog {
	return Catalog{
		centralized.Algorithm(), lamport.Algorithm(), maekawa.Algorithm(), chaudhurikaraata.Algorithm(), raymond.Algorithm(),
		suzukikasami.Algorithm(),
	}
}

// TestFootprint compares what is foretold of a large system with one that is
// made.
func TestFootprint(t *testing.T) {
	const nodes = 4 * sampleNodes
	for _, a := range estimated() {
		j, err := outline(runs.Spec{Algorithm: a.Name, Nodes: nodes, Transport: runs.Sim}, estimated(), nil)
		if err != nil {
			t.Fatal(err)
		}
		foretold := j.measured()
		made, err := j.sample(nodes)
		if err != nil {
			t.Fatal(err)
		}
		bytes := func(f footprint) float64 { return f.system + nodes*f.each }
		if ratio := bytes(foretold) / bytes(made); !(ratio > 0.4 && ratio < 2.5) {
			t.Errorf("%s: %.0f bytes foretold, %.0f taken", a.Name, bytes(foretold), bytes(made))
		}
		if ratio := foretold.messages / made.messages; !(ratio > 0.9 && ratio < 1.1) {
			t.Errorf("%s: a request of %v messages foretold, it has %v", a.Name, foretold.messages, made.messages)
		}
	}
}

// TestEstimates looks at how what a run needs grows.
func TestEstimates(t *testing.T) {
	of := func(algorithm, transport string, nodes, per int) Estimate {
		return EstimateOf(runs.Spec{Algorithm: algorithm, Nodes: nodes, Transport: transport, NodesPerWorker: per}, estimated(), nil)
	}
	for _, x := range []struct {
		algorithm   string
		nodes, per  int
		workers     int
		descriptors uint64
	}{
		{"lamport", 100, 1, 100, ownDescriptors + 4*100},   // of the coordinator
		{"lamport", 5000, 50, 100, ownDescriptors + 4*100}, // one connection serves all of two processes
		{"raymond", 5000, 1, 5000, ownDescriptors + 4*5000},
	} {
		e := of(x.algorithm, "tcp", x.nodes, x.per)
		if e.Workers != x.workers || e.Descriptors != x.descriptors ||
			e.Threads < 5*uint64(x.workers) || e.Memory < workerMemory*uint64(x.workers) {
			t.Errorf("%+v: %+v", x, e)
		}
	}
	// All pairs of 2,000 nodes talk in one, few in the other.
	all, few := of("lamport", "tcp", 2000, 1), of("raymond", "tcp", 2000, 1)
	if all.Memory < 3*few.Memory || all.RequestSet < 1990 || few.RequestSet != 1 {
		t.Errorf("%+v, %+v", all, few)
	}
	if broker := of("raymond", "nats", 100, 1); broker.Descriptors != ownDescriptors+5*100 {
		t.Errorf("%+v", broker)
	}
	// In a simulation in which all ask at once N·K messages are on their way.
	big := of("lamport", runs.Sim, 100_000, 1)
	if big.Workers != 0 || big.Threads != 0 || float64(big.Memory) < 0.99*1e5*1e5*messageMemory {
		t.Errorf("%+v", big)
	}
	// Where a first request goes to one or two, it does at any size.
	if mesh := of("chaudhuri-karaata", runs.Sim, 1_000_000, 1); mesh.RequestSet > 2 || mesh.Memory < 1<<29 || mesh.Memory > 4<<30 {
		t.Errorf("%+v", mesh)
	}
	small := EstimateOf(runs.Spec{
		Algorithm: "lamport", Nodes: 100_000, Transport: runs.Sim, Workload: "serial", Requests: 5,
	}, estimated(), nil)
	if small.Memory > big.Memory/20 {
		t.Errorf("%+v; of one request at a time %+v", big, small)
	}
	// The time grows with the messages of an entry, by the claims, and with the requests.
	long := func(algorithm string, nodes, requests int) time.Duration {
		return EstimateOf(runs.Spec{Algorithm: algorithm, Nodes: nodes, Transport: runs.Sim, Requests: requests}, estimated(), nil).Time
	}
	if lamport, raymond := long("lamport", 100, 1e6), long("raymond", 100, 1e6); lamport < 10*raymond || raymond <= 0 ||
		long("lamport", 100, 1e7) < 9*lamport {
		t.Errorf("lamport takes %v, raymond %v", lamport, raymond)
	}
	if k := of("maekawa", "tcp", 133, 1).RequestSet; k != 11 {
		t.Errorf("a request set of %d others on 133 nodes, want 11", k)
	}
	for _, s := range []runs.Spec{{}, {Algorithm: "none", Nodes: 1 << 19}, {Algorithm: "lamport", Nodes: 1 << 30}} {
		if e := EstimateOf(s, estimated(), nil); e != (Estimate{}) {
			t.Errorf("%+v of what cannot be resolved", e)
		}
	}
}

func TestRoom(t *testing.T) {
	plenty := environment.Limit{Left: environment.Unlimited}
	limits := func(memory, threads, descriptors uint64) environment.Limits {
		return environment.Limits{
			Memory: environment.Limit{Left: memory, By: "MemAvailable"}, Threads: environment.Limit{Left: threads, By: "pids.max"},
			Descriptors: environment.Limit{Left: descriptors, By: "RLIMIT_NOFILE"},
		}
	}
	e := Estimate{what: "x on 9 nodes over tcp", Workers: 9, Threads: 90, Descriptors: 50, Memory: 5e9}
	for _, x := range []struct {
		l    environment.Limits
		want []string // nil where it fits
	}{
		{environment.Limits{Memory: plenty, Threads: plenty, Descriptors: plenty}, nil},
		{limits(5e9, 90, 50), nil},
		{limits(5e9-1, 90, 50), []string{"x on 9 nodes over tcp needs about 5 GB of memory (left: 5 GB, MemAvailable)",
			"choose fewer nodes or more --nodes-per-worker, or go on with --force"}},
		{limits(5e9, 89, 50), []string{"90 threads (left: 89, pids.max)", "(ulimit -u, pids.max), which --force cannot exceed"}},
		{limits(5e9, 90, 49), []string{"50 descriptors in one process (left: 49,", "ulimit -n 50"}},
		{limits(1, 2, 3), []string{"5 GB of memory (left: 1 bytes", "and 90 threads (left: 2", "and 50 descriptors in one process (left: 3"}},
	} {
		err := e.Check(x.l)
		if (err == nil) != (x.want == nil) || err != nil && !errors.Is(err, ErrTooLarge) {
			t.Errorf("%+v: error %v", x.l, err)
			continue
		}
		for _, want := range x.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%+v: %q does not say %q", x.l, err, want)
			}
		}
	}
	if e.Hopeless(limits(0, 90, 0)) || !e.Hopeless(limits(9e9, 89, 99)) || (Estimate{}).Hopeless(limits(0, 0, 0)) {
		t.Error("hope is lost at another point")
	}
	if (Estimate{}).Check(limits(0, 0, 0)) != nil {
		t.Error("nothing does not fit")
	}
	if e.Crowded(1) || !(Estimate{Workers: 201}).Crowded(2) || (Estimate{Workers: 200}).Crowded(2) {
		t.Error("crowds are counted wrongly")
	}
	if whole(math.Inf(1)) != 1<<62 {
		t.Error("too much is not enough")
	}
}

// More processes than processors can be expected to carry are refused, whatever
// memory there is, with a number of nodes for each that would do.
func TestTooManyProcesses(t *testing.T) {
	e := Estimate{what: "plain on 100000 nodes over tcp", nodes: 100000, Workers: 100000}
	err := e.CheckProcesses(2)
	if !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "100000 processes, more than 500 for each of 2 processors") ||
		!strings.Contains(err.Error(), "--nodes-per-worker 100)") {
		t.Error(err)
	}
	if e.Workers = 1000; e.CheckProcesses(2) != nil || e.CheckProcesses(1) == nil {
		t.Errorf("%v, %v", e.CheckProcesses(2), e.CheckProcesses(1))
	}
}
