package experiment

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"dmebench/internal/runtime/run"
	"dmebench/internal/testkit"
	"dmebench/runs"
)

const small = `
schema_version: 1
name: small
algorithms: [ricart-agrawala, {name: maekawa, set: {quorum: grid}}]
nodes: [3, 6]
repetitions: 2
`

func sweep(t *testing.T, text string, opt Options) Summary {
	t.Helper()
	s, err := Sweep(t.Context(), parse(t, text), opt)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSweepRunsEverythingOnce(t *testing.T) {
	var b bench
	opt := options(t, &b)
	s := sweep(t, small, opt)
	if s.Planned != 8 || s.Ran != 8 || s.Found != 0 || s.Missing() != 0 || s.Outcome() != runs.Held {
		t.Errorf("summary %+v, exit %d", s, s.Outcome())
	}
	if want := filepath.Join(opt.Out, "small", "2026-11-20T12-30-06Z"); s.Dir != want {
		t.Errorf("results in %s; want %s", s.Dir, want)
	}
	if target, err := os.Readlink(filepath.Join(opt.Out, "small", "latest")); target != "2026-11-20T12-30-06Z" {
		t.Errorf("latest leads to %q (%v)", target, err)
	}
	r := read(t, filepath.Join(opt.Out, "small"))
	h := r.Header
	if want := time.Date(2026, 11, 20, 12, 30, 6, 0, time.UTC); !h.Started.Equal(want) {
		t.Errorf("begun at %v; want %v", h.Started, want)
	}
	if r.Name() != s.Dir || h.Planned != 8 || r.Missing() != 0 || h.File != small || h.Environment["cpus"] != "2" {
		t.Errorf("read back %+v", r)
	}
	if !reflect.DeepEqual(h.Experiment, parse(t, small).Experiment) {
		t.Errorf("read back %+v", h.Experiment)
	}
	for i, c := range expand(t, small).Cells {
		if !reflect.DeepEqual(b.jobs[i].Spec, c.Spec) {
			t.Errorf("run %d was %+v; want %s", i, b.jobs[i].Spec, c)
		}
		got := r.Runs[i]
		if got.Key() != c.Key() || !reflect.DeepEqual(got.Result.Spec, c.Spec) {
			t.Errorf("result %d is %+v; want that of %s", i, got, c)
		}
	}
	if s := sweep(t, small, opt); s.Ran != 0 || s.Found != 8 || len(b.jobs) != 8 {
		t.Errorf("a second sweep ran %d, found %d", s.Ran, s.Found)
	}
}

func TestSweepRepeatsOnlyWhatIsMissingOrFailed(t *testing.T) {
	b := bench{answer: func(i int, job *run.Job) (*runs.Result, error) {
		switch i {
		case 1:
			return resultOf(job, runs.Failed), nil
		case 3:
			return nil, errors.New("no worker would start")
		case 4:
			return resultOf(job, runs.Violated), nil
		case 5:
			return resultOf(job, runs.Stalled), nil
		}
		return resultOf(job, runs.OK), nil
	}}
	opt := options(t, &b)
	var out bytes.Buffer
	opt.Progress = &out
	var lasts []bool
	opt.Between = func(_ *runs.Set, last bool) { lasts = append(lasts, last) }
	s := sweep(t, small, opt)
	if len(lasts) != 1+8 || slices.Index(lasts, true) != 8 {
		t.Errorf("which was the last: %v", lasts)
	}
	want := map[runs.Status]int{runs.OK: 4, runs.Failed: 2, runs.Violated: 1, runs.Stalled: 1}
	if !reflect.DeepEqual(s.Counts, want) || s.Missing() != 2 || s.Outcome() != runs.Broken {
		t.Errorf("summary %+v, missing %d, exit %d", s, s.Missing(), s.Outcome())
	}
	if !strings.Contains(out.String(), "failed (no worker would start)") {
		t.Errorf("the error is not told:\n%s", &out)
	}
	r := read(t, s.Dir)
	if len(r.Runs) != 8 || r.Missing() != 2 || r.Runs[3].Result.Error != "no worker would start" {
		t.Errorf("read back %d runs, %d missing", len(r.Runs), r.Missing())
	}

	plan := expand(t, small)
	there := lines(t, s)
	rewrite(t, s, slices.Delete(there, 7, 8)) // that of the seventh run
	again := bench{}
	opt.Run = again.run
	s = sweep(t, small, opt)
	var repeated []runs.Spec
	for _, j := range again.jobs {
		repeated = append(repeated, j.Spec)
	}
	if want := []runs.Spec{plan.Cells[1].Spec, plan.Cells[3].Spec, plan.Cells[6].Spec}; !reflect.DeepEqual(repeated, want) {
		t.Errorf("repeated %+v; want %+v", repeated, want)
	}
	// What was violated stays so, although nothing of it was run now.
	if s.Found != 5 || s.Ran != 3 || s.Missing() != 0 || s.Outcome() != runs.Broken {
		t.Errorf("summary %+v, exit %d", s, s.Outcome())
	}
}

func TestOutcomeOfSweeps(t *testing.T) {
	broadcast := strings.Replace(small, "[ricart-agrawala,", "[ricart-agrawala-broadcast,", 1) + "allow_mismatch: true\n"
	for _, test := range []struct {
		name, text string
		status     runs.Status
		only       string // the algorithm that meets with it
		want       runs.Outcome
	}{
		{"ok", small, runs.OK, "", runs.Held},
		{"failed", small, runs.Failed, "maekawa", runs.Unknown},
		{"violated", small, runs.Violated, "maekawa", runs.Broken},
		{"stalled over good links", small, runs.Stalled, "maekawa", runs.Broken},
		{"stalled over links that lack something", broadcast, runs.Stalled, "ricart-agrawala-broadcast", runs.Unknown},
		{"violated over links that lack something", broadcast, runs.Violated, "ricart-agrawala-broadcast", runs.Broken},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := bench{answer: func(_ int, job *run.Job) (*runs.Result, error) {
				if job.Spec.Algorithm == test.only {
					return resultOf(job, test.status), nil
				}
				return resultOf(job, runs.OK), nil
			}}
			if s := sweep(t, test.text, options(t, &b)); s.Outcome() != test.want {
				t.Errorf("outcome %d; want %d", s.Outcome(), test.want)
			}
		})
	}
}

func TestViolationOutweighsAnError(t *testing.T) {
	b := bench{answer: func(_ int, job *run.Job) (*runs.Result, error) {
		return resultOf(job, runs.Violated), errors.New("and then the worker died")
	}}
	if s := sweep(t, small, options(t, &b)); s.Counts[runs.Violated] != 8 {
		t.Errorf("counts %v", s.Counts)
	}
}

// A sweep ends if a host is missing for good, keeps what is finished, and goes on from there.
func TestSweepEndsWithoutItsHost(t *testing.T) {
	b := bench{answer: func(i int, job *run.Job) (*runs.Result, error) {
		if i == 3 {
			return nil, fmt.Errorf("host b: gone; %w", ErrNoHost)
		}
		return resultOf(job, runs.OK), nil
	}}
	opt := options(t, &b)
	s, err := Sweep(t.Context(), parse(t, small), opt)
	wantRefused(t, err, Unavailable, "host b: gone; no run is possible without it; what is finished stays, and the same command continues")
	if r := read(t, s.Dir); s.Ran != 3 || len(r.Runs) != 3 || len(b.jobs) != 4 {
		t.Errorf("%+v, %d runs kept, %d begun", s, len(r.Runs), len(b.jobs))
	}
	var rest bench
	opt.Run = rest.run
	if s, err := Sweep(t.Context(), parse(t, small), opt); err != nil || s.Ran != 5 {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestInterruptedSweepKeepsWhatIsFinished(t *testing.T) {
	for _, cut := range []struct {
		name   string
		answer func(*run.Job) (*runs.Result, error)
		kept   int
	}{
		{"no result", func(*run.Job) (*runs.Result, error) { return nil, context.Canceled }, 3},
		{"a failed result", func(j *run.Job) (*runs.Result, error) { return resultOf(j, runs.Failed), nil }, 3},
		{"a stalled result", func(j *run.Job) (*runs.Result, error) { return resultOf(j, runs.Stalled), nil }, 3},
		{"a finished result", func(j *run.Job) (*runs.Result, error) { return resultOf(j, runs.OK), nil }, 4},
	} {
		t.Run(cut.name, func(t *testing.T) {
			ctx, interrupt := context.WithCancel(t.Context())
			b := bench{answer: func(i int, job *run.Job) (*runs.Result, error) {
				if i < 3 {
					return resultOf(job, runs.OK), nil
				}
				interrupt()
				return cut.answer(job)
			}}
			opt := options(t, &b)
			s, err := Sweep(ctx, parse(t, small), opt)
			if err != nil {
				t.Fatal(err)
			}
			if !s.Interrupted || s.Ran != cut.kept || len(b.jobs) != 4 {
				t.Errorf("summary %+v, exit %d, %d runs begun", s, s.Outcome(), len(b.jobs))
			}
			if r := read(t, s.Dir); len(r.Runs) != cut.kept || r.Missing() != 8-cut.kept {
				t.Errorf("read back %+v", r)
			}
			rest := bench{}
			opt.Run = rest.run
			if s := sweep(t, small, opt); s.Found != cut.kept || len(rest.jobs) != 8-cut.kept {
				t.Errorf("the next sweep found %d and ran %d", s.Found, len(rest.jobs))
			}
		})
	}
}

func TestChangedFileAndFreshStartNewFolders(t *testing.T) {
	var b bench
	opt := options(t, &b)
	first := sweep(t, small, opt)
	changed := sweep(t, small+"# a comment is a change too\n", opt)
	opt.Fresh = true
	fresh := sweep(t, small+"# a comment is a change too\n", opt)
	if first.Dir == changed.Dir || changed.Dir == fresh.Dir || len(b.jobs) != 24 {
		t.Errorf("folders %s, %s, %s; %d runs", first.Dir, changed.Dir, fresh.Dir, len(b.jobs))
	}
	if r := read(t, filepath.Join(opt.Out, "small", "latest")); filepath.Base(r.Name()) != filepath.Base(fresh.Dir) {
		t.Errorf("latest is %s; want %s", r.Name(), fresh.Dir)
	}
	if r := read(t, first.Dir); len(r.Runs) != 8 {
		t.Errorf("the first folder has %d runs", len(r.Runs))
	}
}

// Results of one file whose meaning has changed do not mix.
func TestChangedMeaningStartsANewFolder(t *testing.T) {
	text := strings.Replace(small, "set: {quorum: grid}", "set: {quorum: grid, wall: w.txt}", 1)
	var b bench
	opt := options(t, &b)
	var out bytes.Buffer
	opt.Progress = &out
	content := "a"
	opt.ReadFile = func(string) ([]byte, error) { return []byte(content), nil }
	first := sweep(t, text, opt)
	if again := sweep(t, text, opt); again.Dir != first.Dir {
		t.Error("the same contents start a new folder")
	}
	content = "b"
	if other := sweep(t, text, opt); other.Dir == first.Dir || other.Ran != 8 {
		t.Error("other contents continue the old folder")
	}
	if !strings.Contains(out.String(), first.Dir+" is left as it is: ") {
		t.Errorf("not told why:\n%s", &out)
	}
}

func TestSweepWarnsOfAnotherEnvironment(t *testing.T) {
	b := bench{answer: func(_ int, job *run.Job) (*runs.Result, error) { return resultOf(job, runs.Failed), nil }}
	opt := options(t, &b)
	var out bytes.Buffer
	opt.Progress = &out
	for _, load := range []string{"0.5", "0.9"} { // never the same twice
		opt.Environment = map[string]string{"cpus": "2", "load_average": load}
		sweep(t, small, opt)
	}
	if strings.Contains(out.String(), "environment") {
		t.Errorf("warned without a reason:\n%s", &out)
	}
	opt.Environment = map[string]string{"cpus": "64", "os": "plan9"}
	sweep(t, small, opt)
	if !strings.Contains(out.String(), "another environment (cpus, os)") {
		t.Errorf("not warned:\n%s", &out)
	}
}

func ExampleSummary_String() {
	fmt.Println(Summary{
		Dir: "results/x/2026-11-20T12-30-05Z", Planned: 180, Interrupted: true,
		Counts: map[runs.Status]int{runs.OK: 99, runs.Failed: 1},
	})
	// Output: interrupted; the same command continues. 180 runs: 99 ok, 1 failed, 80 not yet run; results in results/x/2026-11-20T12-30-05Z
}

// What a runner has kept is on the disk before the runner returns, and stands
// whatever happens to the runner afterwards.
func TestAResultIsKeptBeforeTheRunnerTearsDown(t *testing.T) {
	var b bench
	opt := options(t, &b)
	opt.Run = func(ctx context.Context, job *run.Job, keep func(*runs.Result) error) (*runs.Result, error) {
		r, err := b.run(ctx, job, nil)
		if err != nil {
			return r, err
		}
		if err := keep(r); err != nil {
			return r, err
		}
		if there := read(t, filepath.Join(opt.Out, "small")); len(there.Runs) != len(b.jobs) {
			t.Errorf("after %d runs, %d results are on the disk", len(b.jobs), len(there.Runs))
		}
		return r, nil
	}
	s, err := Sweep(t.Context(), parse(t, small), opt)
	if err != nil || s.Counts[runs.OK] != s.Planned || s.Ran != s.Planned {
		t.Errorf("%v, %v", s, err)
	}
}

func TestContinue(t *testing.T) {
	dir := t.TempDir()
	started := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	begin := func(plan string, fresh bool) int {
		t.Helper()
		started = started.Add(time.Minute)
		store, release, err := Continue(dir, runs.Header{Plan: plan, Started: started}, fresh)
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		if _, _, err := Continue(dir, runs.Header{Plan: plan}, fresh); err == nil || !strings.Contains(err.Error(), "another") {
			t.Errorf("a second one is let in: %v", err)
		}
		there := len(store.Runs)
		r := &runs.Result{SchemaVersion: runs.SchemaVersion, Algorithm: "a", Nodes: 3, Status: runs.OK}
		if err := store.Append(runs.Run{Label: "a", Repetition: there + 1, Result: r}); err != nil {
			t.Fatal(err)
		}
		return there
	}
	for i, x := range []struct {
		plan  string
		fresh bool
		there int
	}{{"one", false, 0}, {"one", false, 1}, {"one", false, 2}, {"one", true, 0}, {"two", false, 0}, {"two", false, 1}} {
		if there := begin(x.plan, x.fresh); there != x.there {
			t.Errorf("%d: %d runs were there, want %d", i, there, x.there)
		}
	}
	for name, made := range map[string]int{"runs-2026-11-01T12-01-00.000Z.jsonl": 3, "runs-2026-11-01T12-04-00.000Z.jsonl": 1} {
		kept, err := runs.OpenStore(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if kept.Close(); len(kept.Runs) != made {
			t.Errorf("%s keeps %d runs, want %d", name, len(kept.Runs), made)
		}
	}
	// A first line that was cut off is no reason to stop.
	if err := os.WriteFile(filepath.Join(dir, runs.StoreName), []byte(`{"schema`), 0o600); err != nil {
		t.Fatal(err)
	}
	if there := begin("two", false); there != 0 {
		t.Errorf("%d runs in a torn header", there)
	}
	// Nor is a store that cannot be read, if it is not to be continued.
	if err := os.WriteFile(filepath.Join(dir, runs.StoreName), []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Continue(dir, runs.Header{Plan: "two"}, false); err == nil {
		t.Error("what cannot be read is continued")
	}
	if there := begin("two", true); there != 0 {
		t.Errorf("%d runs in what cannot be read", there)
	}
}

func TestDryRun(t *testing.T) {
	const text = `
schema_version: 1
name: small
description: Two algorithms, for the test.
algorithms: [ricart-agrawala, {name: maekawa, label: on a plane}]
nodes: [3, 6]
transports: [sim]
workloads:
  - {name: saturate, requests_per_node: 5}
  - {name: poisson, total_rate: 50, cs: 1ms, duration: 2s, faults: [kill 2 @1s, kill 3 @entry:5]}
repetitions: 3
seed: 7
skip_invalid: true
`
	var b bench
	opt := options(t, &b)
	opt.DryRun, opt.Out = true, "testdata/none"
	var out bytes.Buffer
	opt.Progress = &out
	s := sweep(t, text, opt)
	if len(b.jobs) != 0 || s.Planned != 18 || s.Found != 0 {
		t.Errorf("%d runs; summary %+v", len(b.jobs), s)
	}
	if _, err := os.Stat(opt.Out); err == nil {
		t.Error("a dry run has written to the disk")
	}
	// Which options the simulated network has is told by others.
	sim, err := run.LookupNetwork("sim")
	if err != nil {
		t.Fatal(err)
	}
	var defaults []string
	for _, o := range sim.Options {
		defaults = append(defaults, o.Name+"="+o.Default)
	}
	got := strings.ReplaceAll(out.String(), strings.Join(defaults, " "), "(the defaults of sim)")
	testkit.FileMustBe(t, "testdata/dry-run.txt", []byte(got))
}

func TestDryRunKnowsWhatIsThere(t *testing.T) {
	timed := strings.Replace(small, "repetitions: 2", "repetitions: 2\nworkloads: [{name: poisson, rate: 5, duration: 1500ms}]", 1)
	b := bench{answer: func(i int, job *run.Job) (*runs.Result, error) {
		if i < 3 {
			return resultOf(job, runs.OK), nil
		}
		return resultOf(job, runs.Failed), nil
	}}
	opt := options(t, &b)
	sweep(t, timed, opt)
	var out bytes.Buffer
	opt.DryRun, opt.Progress = true, &out
	s := sweep(t, timed, opt)
	if s.Found != 3 || len(b.jobs) != 8 {
		t.Errorf("found %d of 3; %d runs", s.Found, len(b.jobs))
	}
	for _, want := range []string{"continues " + s.Dir, "8 runs, 3 there already, 5 to run; their durations alone add up to 7.5s"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("does not say %q:\n%s", want, &out)
		}
	}
}

func TestProgressLines(t *testing.T) {
	b := bench{answer: func(i int, job *run.Job) (*runs.Result, error) {
		if i == 2 {
			return nil, errors.New("no worker would start")
		}
		return resultOf(job, runs.OK), nil
	}}
	opt := options(t, &b)
	// Three readings for each run: two around it, one for its line.
	opt.Now = ticking(500 * time.Millisecond)
	var out bytes.Buffer
	opt.Progress = &out
	sweep(t, small, opt)
	want := strings.Join([]string{
		"1/8 ricart-agrawala, 3 nodes, tcp, saturate, repetition 1: ok in 500ms, about 3.5s left",
		"3/8 ricart-agrawala, 6 nodes, tcp, saturate, repetition 1: failed (no worker would start) in 500ms, about 2.5s left",
		"7/8 ricart-agrawala, 3 nodes, tcp, saturate, repetition 2: ok in 500ms, about 500ms left",
		"8/8 maekawa, 3 nodes, tcp, saturate, repetition 2: ok in 500ms",
		"",
	}, "\n")
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", &out, want)
	}
}

// The time left is told by configuration: a small system's runs say nothing of
// a large one's.
func TestEstimate(t *testing.T) {
	cells := []Cell{{config: 0}, {config: 1}, {config: 0}, {config: 1}, {config: 2}}
	e := newEstimate(cells)
	for _, step := range []struct {
		cell int
		took time.Duration
		left time.Duration
	}{
		{0, 1 * time.Second, 4 * time.Second},           // all like the first
		{1, 9 * time.Second, (1 + 9 + 5) * time.Second}, // the unknown one like the mean
		{2, 3 * time.Second, 13333 * time.Millisecond},
		{3, 9 * time.Second, 5500 * time.Millisecond},
		{4, 5 * time.Second, 0},
	} {
		e.add(cells[step.cell], step.took)
		if got := e.left(); (got - step.left).Abs() > time.Millisecond {
			t.Errorf("after cell %d: %v left; want %v", step.cell, got, step.left)
		}
	}
}
