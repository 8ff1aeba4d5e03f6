package experiment

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"dmebench/internal/runtime/run"
	"dmebench/runs"
)

// mixed has simulations before and after runs over a real network.
const mixed = `
schema_version: 1
name: mixed
algorithms: [ricart-agrawala, {name: maekawa, set: {quorum: grid}}]
nodes: [3, 6, 9]
transports: [sim, tcp]
repetitions: 3
`

// others carries out simulations on hosts that do not exist: they are held until all that
// can be under way are, and then finished in the opposite order.
type others struct {
	mu      sync.Mutex
	waiting []func()
	expect  []int // how many are under way at a time
}

func (o *others) run(_ context.Context, s runs.Spec) (*runs.Result, error) {
	free := make(chan struct{})
	o.mu.Lock()
	o.waiting = append(o.waiting, func() { close(free) })
	if len(o.waiting) == o.expect[0] {
		for _, f := range slices.Backward(o.waiting) {
			f()
		}
		o.waiting, o.expect = nil, o.expect[1:]
	}
	o.mu.Unlock()
	<-free
	return resultOf(&run.Job{Spec: s}, runs.OK), nil
}

// stored returns what a sweep has stored, but for the line that says when it was begun.
func stored(t *testing.T, s Summary) string {
	t.Helper()
	return strings.Join(lines(t, s)[1:], "")
}

// Simulations that are carried out elsewhere are stored as they would be from here, in the
// order of the plan; and no run over a real network goes on beside one.
func TestElsewhere(t *testing.T) {
	var b bench
	want := stored(t, sweep(t, mixed, options(t, &b)))

	elsewhere := others{expect: []int{6, 2, 4, 6}} // repetitions begin at other cells; those over tcp are between
	b = bench{answer: func(_ int, job *run.Job) (*runs.Result, error) {
		elsewhere.mu.Lock()
		defer elsewhere.mu.Unlock()
		if len(elsewhere.waiting) > 0 {
			t.Errorf("%d simulations go on beside a run over %s", len(elsewhere.waiting), job.Spec.Transport)
		}
		return resultOf(job, runs.OK), nil
	}}
	opt := options(t, &b)
	opt.Elsewhere = elsewhere.run
	s := sweep(t, mixed, opt)
	if got := stored(t, s); got != want {
		t.Errorf("stored\n%s\nwant\n%s", got, want)
	}
	if len(b.jobs) != 18 || slices.ContainsFunc(b.jobs, func(j *run.Job) bool { return !j.Network.Real() }) || s.Ran != 36 {
		t.Errorf("%d runs here, %d in all", len(b.jobs), s.Ran)
	}
}

// Small simulations go on side by side here, one on each core, and are stored as they would be if
// each began when the one before is over; what is large, or over a real network, goes on alone.
func TestSideBySide(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	many := mixed + "workloads: [saturate, {name: saturate, label: long, requests: 1048577}, {name: saturate, label: hour, duration: 1h}]\n"
	var b bench
	want := stored(t, sweep(t, many, options(t, &b)))
	for k, c := range expand(t, many).Cells { // what waits for its turn is not begun before others
		if is := b.jobs[k].Spec; is.Seed != c.Spec.Seed || is.Nodes != c.Spec.Nodes || is.Algorithm != c.Spec.Algorithm {
			t.Errorf("run %d is of %s on %d nodes, seed %d; want %s", k, is.Algorithm, is.Nodes, is.Seed, c)
		}
	}

	runtime.GOMAXPROCS(2)
	var going, most atomic.Int64
	pair := make(chan bool) // each waits here for another one
	opt := options(t, &b)
	opt.Run = func(ctx context.Context, job *run.Job, _ func(*runs.Result) error) (*runs.Result, error) {
		now := going.Add(1)
		defer going.Add(-1)
		most.Store(max(most.Load(), now))
		if SideBySide(job.Spec) {
			select {
			case pair <- true:
			case <-pair:
			case <-time.After(10 * time.Second):
				t.Errorf("%s on %d nodes goes on alone", job.Spec.Algorithm, job.Spec.Nodes)
			}
		} else if now > 1 {
			t.Errorf("%s on %d nodes over %s, %d requests, %v, goes on beside another",
				job.Spec.Algorithm, job.Spec.Nodes, job.Spec.Transport, job.Spec.Requests, job.Spec.Duration)
		}
		return resultOf(job, runs.OK), nil
	}
	s := sweep(t, many, opt)
	if got := stored(t, s); got != want || s.Ran != 108 || most.Load() != 2 {
		t.Errorf("%d runs, %d at once; stored\n%s\nwant\n%s", s.Ran, most.Load(), got, want)
	}
}

// A run that was finished before its turn stays when the sweep is interrupted.
func TestFinishedStay(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var b bench
	var ahead atomic.Int64
	opt := options(t, &b)
	opt.Run = func(ctx context.Context, job *run.Job, _ func(*runs.Result) error) (*runs.Result, error) {
		if job.Spec.Nodes == 3 && job.Spec.Seed == 1 {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		if ahead.Add(1) == 2 { // it has the place of one that is finished
			cancel()
		}
		return resultOf(job, runs.OK), nil
	}
	nine := strings.NewReplacer("[sim, tcp]", "[sim]", ", {name: maekawa, set: {quorum: grid}}", "").Replace(mixed)
	s, err := Sweep(ctx, parse(t, nine), opt)
	if err != nil || !s.Interrupted || s.Ran == 0 || s.Counts[runs.OK] != s.Ran || len(lines(t, s)) != 1+s.Ran {
		t.Errorf("%+v, %v, %d lines", s, err, len(lines(t, s)))
	}
	opt.Run = b.run
	kept := s.Ran
	if s = sweep(t, nine, opt); s.Found != kept || s.Counts[runs.OK] != 9 {
		t.Errorf("%+v of which %d were kept", s, kept)
	}
}

// Where nobody is left to carry out simulations, the sweep ends, keeps what comes before,
// and goes on from there. So it does when it is interrupted.
func TestElsewhereEnds(t *testing.T) {
	var b bench
	only := strings.Replace(mixed, "[sim, tcp]", "[sim]", 1)
	want := stored(t, sweep(t, only, options(t, &b)))

	opt := options(t, &b)
	gone := errors.New("no agent is left")
	fifth := func(s runs.Spec) bool { return s.Nodes == 9 && s.Algorithm == "ricart-agrawala" && s.Seed == 1 }
	opt.Elsewhere = func(_ context.Context, s runs.Spec) (*runs.Result, error) {
		if fifth(s) {
			return nil, gone
		}
		return resultOf(&run.Job{Spec: s}, runs.OK), nil
	}
	s, err := Sweep(t.Context(), parse(t, only), opt)
	wantRefused(t, err, Unavailable, "no agent is left; what is finished stays, and the same command continues")
	if s.Ran != 4 || len(lines(t, s)) != 5 {
		t.Errorf("%+v, %d lines", s, len(lines(t, s)))
	}

	ctx, cancel := context.WithCancel(t.Context())
	opt.Elsewhere = func(ctx context.Context, s runs.Spec) (*runs.Result, error) {
		if s.Seed > 1 {
			cancel()
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return resultOf(&run.Job{Spec: s}, runs.OK), nil
	}
	s, err = Sweep(ctx, parse(t, only), opt)
	if err != nil || !s.Interrupted || s.Found != 4 {
		t.Errorf("%+v, %v", s, err)
	}
	opt.Elsewhere = func(_ context.Context, s runs.Spec) (*runs.Result, error) {
		if s.Seed == 3 && s.Nodes == 3 {
			return runs.Failure(s, errors.New("a task that failed")), nil
		}
		return resultOf(&run.Job{Spec: s}, runs.OK), nil
	}
	s, err = Sweep(t.Context(), parse(t, only), opt)
	if err != nil || s.Counts[runs.Failed] != 2 || s.Missing() != 2 || s.Outcome() != runs.Unknown {
		t.Errorf("%+v, %v", s, err)
	}
	// Failed ones are run again, after the others.
	opt.Elsewhere = nil
	s = sweep(t, only, opt)
	if s.Counts[runs.OK] != 18 || s.Ran != 2 {
		t.Errorf("%+v", s)
	}
	got := slices.DeleteFunc(lines(t, s)[1:], func(line string) bool { return strings.Contains(line, `"failed"`) })
	slices.Sort(got)
	sorted := slices.Sorted(strings.Lines(want))
	if !slices.Equal(got, sorted) {
		t.Errorf("stored\n%s\nwant\n%s", strings.Join(got, ""), strings.Join(sorted, ""))
	}
}
