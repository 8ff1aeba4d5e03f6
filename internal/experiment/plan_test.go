package experiment

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"dmebench/algorithms/catalog"
	"dmebench/runs"
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

func TestExpandExample(t *testing.T) {
	p := expand(t, example)
	if want := 3 * 3 * 1 * 2 * 6; len(p.Cells) != want {
		t.Fatalf("%d cells; want %d", len(p.Cells), want)
	}
	keys := make(map[runs.RunKey]bool)
	for _, c := range p.Cells {
		keys[c.Key()] = true
		if c.Spec.Workload == "saturate" && c.Spec.Requests != 50*c.Spec.Nodes {
			t.Errorf("%s: %d requests; want 50 for each node", c, c.Spec.Requests)
		}
		if c.Spec.Workload == "poisson" && c.Spec.Requests != 0 {
			t.Errorf("%s: %d requests; want no limit but the duration", c, c.Spec.Requests)
		}
		if want := uint64(1 + c.Repetition); c.Spec.Seed != want {
			t.Errorf("%s: seed %d; want %d", c, c.Spec.Seed, want)
		}
		if !c.LinksMet {
			t.Errorf("%s: TCP is said to lack something", c)
		}
	}
	if len(keys) != len(p.Cells) {
		t.Errorf("%d keys for %d cells", len(keys), len(p.Cells))
	}
}

func TestExpandOrder(t *testing.T) {
	p := expand(t, `
schema_version: 1
name: x
algorithms: [ricart-agrawala, maekawa]
nodes: [7, 3]
transports: [tcp, sim]
repetitions: 2
seed: 5
`)
	var got []string
	for _, c := range p.Cells {
		got = append(got, fmt.Sprintf("%d:%d %s %d %s", c.Repetition, c.Spec.Seed, c.Transport, c.Spec.Nodes, c.Label))
	}
	want := []string{
		"0:5 tcp 7 ricart-agrawala", "0:5 tcp 7 maekawa", "0:5 tcp 3 ricart-agrawala", "0:5 tcp 3 maekawa",
		"0:5 sim 7 ricart-agrawala", "0:5 sim 7 maekawa", "0:5 sim 3 ricart-agrawala", "0:5 sim 3 maekawa",
		// The second repetition begins in the middle.
		"1:6 sim 7 ricart-agrawala", "1:6 sim 7 maekawa", "1:6 sim 3 ricart-agrawala", "1:6 sim 3 maekawa",
		"1:6 tcp 7 ricart-agrawala", "1:6 tcp 7 maekawa", "1:6 tcp 3 ricart-agrawala", "1:6 tcp 3 maekawa",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestMaxNodesLeavesOutLargerSystems(t *testing.T) {
	p := expand(t, `
schema_version: 1
name: x
algorithms: [ricart-agrawala, {name: maekawa, max_nodes: 3}]
nodes: [3, 7, 1000]
transports: [{name: tcp, max_nodes: 7}, sim]
repetitions: 1
`)
	var got []string
	for _, c := range p.Cells {
		got = append(got, fmt.Sprintf("%s %d %s", c.Transport, c.Spec.Nodes, c.Label))
	}
	want := []string{
		"tcp 3 ricart-agrawala", "tcp 3 maekawa", "tcp 7 ricart-agrawala",
		"sim 3 ricart-agrawala", "sim 3 maekawa", "sim 7 ricart-agrawala", "sim 1000 ricart-agrawala",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q; want %q", got, want)
	}
}

func TestSkipInvalidLeavesOutWhatCannotRun(t *testing.T) {
	p := expand(t, `
schema_version: 1
name: x
algorithms: [maekawa, ricart-agrawala-broadcast, ricart-agrawala]
nodes: [3, 6]
workloads: [saturate, serial]
repetitions: 1
skip_invalid: true
`)
	var got []string
	for _, c := range p.Cells {
		got = append(got, fmt.Sprintf("%s %d %s", c.Workload, c.Spec.Nodes, c.Label))
	}
	want := []string{
		"saturate 3 maekawa", "saturate 3 ricart-agrawala", "saturate 6 ricart-agrawala",
		"serial 3 maekawa", "serial 3 ricart-agrawala", "serial 6 ricart-agrawala",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q; want %q", got, want)
	}
	left := strings.Join(p.LeftOut, "\n")
	if len(p.LeftOut) != 3 || !strings.Contains(left, "maekawa, 6 nodes, tcp: maekawa: there is no plane of 6 points") {
		t.Errorf("left out:\n%s", left)
	}
}

// A workload's faults come after the experiment's; what an algorithm knows nothing
// of is refused, or left out.
func TestFaultsOfRuns(t *testing.T) {
	const text = `
schema_version: 1
name: x
algorithms: [ricart-agrawala-robust, ricart-agrawala]
nodes: [3]
transports: [sim]
faults: [kill holder @entry:5]
workloads:
  - {name: saturate, faults: [restart holder @+1s]}
  - {name: saturate, label: stays}
repetitions: 1
`
	_, err := parse(t, text).Expand(catalog.All(), nil)
	wantRefused(t, err, BadFile,
		`test.yaml:4: ricart-agrawala, saturate: fault "restart holder @+1s": nodes of ricart-agrawala cannot restart`,
		"choose another algorithm or other faults, or set skip_invalid: true")

	p, err := parse(t, text+"skip_invalid: true\n").Expand(catalog.All(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range p.Cells {
		got = append(got, fmt.Sprintf("%s %s: %s", c.Label, c.Workload, strings.Join(c.Spec.Faults, "; ")))
	}
	want := []string{
		"ricart-agrawala-robust saturate: kill holder @entry:5; restart holder @+1s",
		"ricart-agrawala-robust stays: kill holder @entry:5", "ricart-agrawala stays: kill holder @entry:5",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q; want %q", got, want)
	}
	if len(p.LeftOut) != 1 || !strings.Contains(p.LeftOut[0], "ricart-agrawala cannot restart") {
		t.Errorf("left out %q", p.LeftOut)
	}
	var table strings.Builder
	if err := p.write(&table, 0, "results", "", p.Cells); err != nil {
		t.Fatal(err)
	}
	if dry := `faults="kill holder @entry:5; restart holder @+1s"`; !strings.Contains(table.String(), dry) {
		t.Errorf("the dry run does not show %s:\n%s", dry, &table)
	}
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
