package experiment

import (
	"fmt"
	"strings"
	"testing"

	"dmebench/dme"
	"dmebench/internal/runtime/run"
	"dmebench/internal/testkit"

	"dmebench/algorithms"
)

// The example of the documentation: three algorithms on three sizes under two
// workloads, six times.
const example = `
schema_version: 1
name: quickstart
algorithms: [ricart-agrawala, {name: maekawa, set: {quorum: plane}}, {name: maekawa, set: {quorum: grid}, label: maekawa-grid}]
nodes: [3, 7, 13]
transports: [tcp]
workloads: [{name: saturate, cs: 100us, requests_per_node: 50}, {name: poisson, total_rate: 200, cs: 100us, duration: 3s}]
repetitions: 6
seed: 1
`

// What files come to: the experiment with its defaults and labels, its runs in their order,
// and what is left out.
func TestPlans(t *testing.T) {
	testkit.Cases(t, "testdata/plans.txt", func(t *testing.T, input []string) string {
		f, err := Parse("x.yaml", []byte("schema_version: 1\nname: x\n"+strings.Join(input, "\n")+"\n"))
		if err != nil {
			return err.Error()
		}
		p, err := f.Expand(algorithms.All(), nil)
		if err != nil {
			return err.Error()
		}
		out := testkit.Lines(t, f.Experiment, 9)
		for _, c := range p.Cells {
			s := c.Spec
			out = append(out, fmt.Sprintf("run %s: seed %d, %d requests in %v, links met %v, faults %q",
				c, s.Seed, s.Requests, s.Duration, c.LinksMet, s.Faults))
		}
		for _, line := range p.LeftOut {
			out = append(out, "left out: "+line)
		}
		return strings.Join(out, "\n")
	})
}

// The plan's digest lets a sweep continue. When this test fails, sweeps that were
// begun with earlier versions can no longer be: change it only if that is meant.
func TestPlanIsStable(t *testing.T) {
	const want = "e8d46e2192a497de61e1590dfadef3ac8aeb20f2e42671ab53b0a2a977c801da"
	if got := expand(t, example).digest(); got != want {
		t.Errorf("digest %s; want %s", got, want)
	}
}

// Files that mean the same have the same plan, however they write it; others have
// another one.
func TestPlanIsIdentity(t *testing.T) {
	const base = "schema_version: 1\nname: x\nalgorithms: [ricart-agrawala]\nnodes: [3]\nrepetitions: 1\n"
	plan := func(text string) string { return expand(t, text).digest() }
	want := plan(base)
	for what, same := range map[string]string{
		"another name": strings.Replace(base, "name: x", "name: y", 1),
		"defaults written out": base + "transports: [{name: tcp, label: tcp}]\n" +
			"workloads: [{name: saturate, cs: 100us, requests_per_node: 100}]\n" +
			"seed: 1\nwarmup: auto\nstall_after: 10s\nnodes_per_worker: 1\nallow_mismatch: false\n",
		"settings as mapping":   strings.Replace(base, "[ricart-agrawala]", "[{name: ricart-agrawala, set: {}}]", 1),
		"a limit it is within":  strings.Replace(base, "[ricart-agrawala]", "[{name: ricart-agrawala, max_nodes: 3}]", 1),
		"a different file path": base + "# and a comment\n",
	} {
		if plan(same) != want {
			t.Errorf("%s makes another plan", what)
		}
	}
	seen := map[string]string{want: "the original"}
	for what, other := range map[string]string{
		"label":           strings.Replace(base, "[ricart-agrawala]", "[{name: ricart-agrawala, label: ra}]", 1),
		"transport":       base + "transports: [sim]\n",
		"transport label": base + "transports: [{name: tcp, label: loopback}]\n",
		"transport set":   base + "transports: [{name: sim, set: {t: 2ms}}]\n",
		"workload":        base + "workloads: [serial]\n",
		"workload label":  base + "workloads: [{name: saturate, label: heavy}]\n",
		"workload set":    base + "workloads: [{name: saturate, set: {think: 1ms}}]\n",
		"cs":              base + "workloads: [{name: saturate, cs: 1ms}]\n",
		"requests":        base + "workloads: [{name: saturate, requests: 5}]\n",
		"duration":        base + "workloads: [{name: saturate, duration: 1s}]\n",
		"rate":            base + "workloads: [{name: poisson, rate: 1, requests: 5}]\n",
		"total rate":      base + "workloads: [{name: poisson, total_rate: 1, requests: 5}]\n",
		"seed":            base + "seed: 2\n",
		"warm-up":         base + "warmup: 5\n",
		"stall":           base + "stall_after: 5s\n",
		"workers":         base + "nodes_per_worker: 3\n",
		"others beside":   strings.Replace(base, "[3]", "[7, 3]", 1),
		"mismatch":        base + "allow_mismatch: true\n",
		"faults":          base + "faults: [kill 1 @1s]\n",
		"faults at once":  base + "faults: [kill 1 @1s]\nworkloads: [{name: saturate, faults: [kill 2 @1s]}]\n",
		"their order":     base + "faults: [kill 2 @1s]\nworkloads: [{name: saturate, faults: [kill 1 @1s]}]\n",
	} {
		p := plan(other)
		if with, ok := seen[p]; ok {
			t.Errorf("another %s has the plan of %s", what, with)
		}
		seen[p] = what
	}
}

// What all nodes share is prepared once for a configuration, not for each of its repetitions:
// of a million nodes that can take a minute.
func TestAPlanPreparesOnce(t *testing.T) {
	prepared := 0
	a := *algorithms.All()[0]
	prepare := a.Prepare
	a.Prepare = func(c dme.Config) (dme.System, error) { prepared++; return prepare(c) }
	f, err := Parse("x.yaml", fmt.Appendf(nil, "schema_version: 1\nname: x\nalgorithms: [%s]\nnodes: [3, 5]\nrepetitions: 8\n", a.Name))
	if err != nil {
		t.Fatal(err)
	}
	p, err := f.Expand(run.Catalog{&a}, nil)
	if err != nil || len(p.Cells) != 16 || prepared != 2 {
		t.Errorf("%d runs, prepared %d times: %v", len(p.Cells), prepared, err)
	}
}
