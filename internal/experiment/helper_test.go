package experiment

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/internal/runtime/run"
	"dmebench/runs"
)

// few lists algorithms that resolve as real ones do and are never started.
func few() run.Catalog {
	prepare := func(c dme.Config) (dme.System, error) {
		if file := c.Options["wall"]; file != "" {
			if _, err := c.ReadFile(file); err != nil {
				return nil, fmt.Errorf("wall=%s: %w", file, err)
			}
		}
		return bare{}, nil
	}
	anything := func(string) error { return nil }
	return run.Catalog{
		{
			Name: "ricart-agrawala", Needs: dme.Always(dme.Needs{Reliable: true}),
			Prepare: prepare,
		},
		{
			Name: "maekawa", Needs: dme.Always(dme.Needs{Reliable: true, FIFO: true}),
			Options: []dme.Option{
				{Name: "quorum", Default: "plane", Words: []string{"plane", "grid"}, Help: "how quorums are made"},
				{Name: "wall", Forms: []string{"FILE"}, Help: "a file", Valid: anything},
			},
			ValidNodes: func(n int, opt dme.Options) error {
				if opt.Get("quorum") == "plane" && n != 3 && n != 7 && n != 13 {
					return fmt.Errorf("there is no plane of %d points; use 3, 7 or 13 nodes, or quorum=grid", n)
				}
				return nil
			},
			Prepare: prepare,
		},
		{
			Name: "ricart-agrawala-broadcast", Prepare: prepare,
			Needs: dme.Always(dme.Needs{Reliable: true, SequencedBroadcast: true}),
		},
		{
			Name: "two-speed", Prepare: prepare, Needs: dme.Always(dme.Needs{}),
			Options: []dme.Option{{Name: "t", Default: "1", Words: []string{"1", "2"}, Help: "clashes with the simulated network's"}},
		},
	}
}

// bare is a system whose nodes can do no more than every node: they are not run.
type bare struct{}

func (bare) Node(dme.NodeID) dme.Node { return nil }

func parse(t *testing.T, text string) File {
	t.Helper()
	f, err := Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func expand(t *testing.T, text string) *Plan {
	t.Helper()
	p, err := parse(t, text).Expand(few(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// bench is a runner that obeys orders and remembers its runs.
type bench struct {
	mu   sync.Mutex
	jobs []*run.Job

	// answer decides what becomes of run i, counted from 0; nil lets all be ok.
	answer func(i int, job *run.Job) (*runs.Result, error)
}

func (b *bench) run(_ context.Context, job *run.Job, _ func(*runs.Result) error) (*runs.Result, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.jobs = append(b.jobs, job)
	if b.answer != nil {
		return b.answer(len(b.jobs)-1, job)
	}
	return resultOf(job, runs.OK), nil
}

func resultOf(job *run.Job, status runs.Status) *runs.Result {
	return &runs.Result{
		SchemaVersion: runs.SchemaVersion, Status: status, Spec: job.Spec,
		Algorithm: job.Spec.Algorithm, Nodes: job.Spec.Nodes, Seed: job.Spec.Seed,
	}
}

// ticking returns a clock that advances by step at each reading.
func ticking(step time.Duration) func() time.Time {
	now := time.Date(2026, 11, 20, 12, 30, 5, 0, time.UTC)
	return func() time.Time {
		now = now.Add(step)
		return now
	}
}

func options(t *testing.T, b *bench) Options {
	return Options{
		Out: filepath.Join(t.TempDir(), "results"), Catalog: few(), Run: b.run,
		Environment: map[string]string{"cpus": "2"}, Now: ticking(time.Second),
	}
}

func wantRefused(t *testing.T, err error, cause Cause, texts ...string) {
	t.Helper()
	var refused *Refused
	if !errors.As(err, &refused) || refused.Cause != cause {
		t.Fatalf("error %v; want a refusal for %d", err, cause)
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("error %q does not say %q", err, text)
		}
	}
}
