package experiment

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"dmebench/internal/golden"
	"dmebench/internal/run"
	"dmebench/result"
)

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
  - {name: poisson, total_rate: 50, cs: 1ms, duration: 2s}
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
	golden.MustBe(t, "testdata/dry-run.txt", []byte(got))
}

func TestDryRunKnowsWhatIsThere(t *testing.T) {
	timed := strings.Replace(small, "repetitions: 2", "repetitions: 2\nworkloads: [{name: poisson, rate: 5, duration: 1500ms}]", 1)
	b := bench{answer: func(i int, job *run.Job) (*result.Result, error) {
		if i < 3 {
			return resultOf(job, result.OK), nil
		}
		return resultOf(job, result.Failed), nil
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
	b := bench{answer: func(i int, job *run.Job) (*result.Result, error) {
		if i == 2 {
			return nil, errors.New("no worker would start")
		}
		return resultOf(job, result.OK), nil
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

func TestProgressLine(t *testing.T) {
	var b bench
	opt := options(t, &b)
	var out bytes.Buffer
	opt.Progress, opt.Interactive = &out, true
	sweep(t, small, opt)
	for _, want := range []string{"\r8 of 8 runs"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the line does not show %s:\n%q", want, &out)
		}
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
