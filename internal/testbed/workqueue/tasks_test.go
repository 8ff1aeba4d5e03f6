package workqueue

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dmebench/internal/search/check"
	"dmebench/runs"
)

// A task that ends its process, and one that ends its agent, do not get lost, do not keep
// others from being done, and say what became of them.
func TestTasksThatKill(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	startAgent(t, b.url(), 1)
	q := b.queue()
	tasks := []Task{simulation("panics", 3, 9, 1), simulation("maekawa", 7, 70, 1)}
	answers := all(t, q, tasks)
	wantText(t, answers[0].Error, "given to agents 5 times; at last, on host-", "exit status 2", "panic: as it was told to")
	if got, want := text(t, answers[1]), here(t, tasks[1]); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}

	// From now on an agent lives until it is killed.
	ctx, enough := context.WithCancel(t.Context())
	var group sync.WaitGroup
	group.Go(func() {
		for ctx.Err() == nil {
			a := startAgent(t, b.url(), 1)
			stop := context.AfterFunc(ctx, func() { a.stdin.Close() })
			a.once.Do(func() { _ = a.cmd.Wait() })
			stop()
		}
	})
	tasks[0] = simulation("kills", 3, 9, 1)
	answers = all(t, q, tasks)
	enough()
	group.Wait()
	wantText(t, answers[0].Error, "was given to agents 5 times, and none answered")
	if got, want := text(t, answers[1]), here(t, tasks[1]); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// A task that lasts stays with its agent: its owner is told of it more than once in every
// lease, and no more when it is over.
func TestLongTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var times atomic.Int64
		go repeat(ctx, func() { times.Add(1) })
		for range 100 {
			before := times.Load()
			time.Sleep(time.Second) // in the time of the test
			synctest.Wait()
			if n := times.Load() - before; n < 2 || n > 5 {
				t.Fatalf("reminded %d times in a lease of a second", n)
			}
		}
		cancel()
		synctest.Wait()
		before := times.Load()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if times.Load() != before {
			t.Error("reminded when it is over")
		}
	})
}

// A task that an agent has begun, and says nothing of, is given to another; not while the
// server cannot be reached.
func TestSilentAgents(t *testing.T) {
	start := time.Now()
	q := &Queue{opt: Options{Lease: time.Second}, tasks: map[string]*handedIn{"1": {answer: make(chan Answer, 1), tries: 1, until: start}}}
	q.takeBack(start.Add(time.Hour), false)
	q.takeBack(start.Add(time.Hour+time.Second), true)
	if len(q.waiting) > 0 {
		t.Error("too early")
	}
	q.takeBack(start.Add(time.Hour+time.Second+1), true)
	if len(q.waiting) != 1 {
		t.Error("its agent keeps it")
	}
}

// A task has nothing done but what it may.
func TestTasksThatAreRefused(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	startAgent(t, b.url(), 1)
	q := b.queue()
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("1 2\n2 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	file := simulation("maekawa", 2, 4, 1)
	file.Simulate.Spec.Set = map[string]string{"quorum": "file:" + secret}
	real := simulation("maekawa", 7, 70, 1)
	real.Simulate.Spec.Transport = "tcp"
	both := simulation("maekawa", 7, 70, 1)
	both.Search = &Search{Algorithm: "maekawa", Options: check.Options{Nodes: 3, Requests: 3, Schedules: 1}, Count: 1}
	large := simulation("maekawa", 2_000_000, 70, 1)
	few := check.Options{Nodes: 3, Requests: 3, Schedules: 5}
	beyond := Task{Search: &Search{Algorithm: "maekawa", Options: few, First: 3, Count: 3}}
	unknown := Task{Search: &Search{Algorithm: "rm -rf", Options: few, Count: 3}}
	// What was done before does not stand for another search.
	if a := all(t, q, []Task{{Search: &Search{Algorithm: "maekawa", Options: few, Count: 3}}}); a[0].Part == nil {
		t.Errorf("%+v", a[0])
	}
	for i, want := range []string{
		"did not come with the task", `a run over "tcp"; only simulations`, "a simulation or a search, and not both",
		"2000000 nodes", "3 schedules from 3 on, of 5", `unknown algorithm "rm -rf"`, "a simulation or a search",
	} {
		a := all(t, q, []Task{[]Task{file, real, both, large, beyond, unknown, {}}[i]})[0]
		if a.Result != nil || a.Part != nil {
			t.Errorf("task %d was done", i)
		}
		wantText(t, a.Error, want)
	}
	// With what it names it is done.
	file.Simulate.Files = map[string][]byte{secret: []byte("1 2\n2 1\n")}
	if a := all(t, q, []Task{file}); a[0].Result == nil || a[0].Result.Status != runs.OK {
		t.Errorf("%+v", a[0])
	}
}

// Garbage on the server's subjects does nothing, not even to an open queue.
func TestGarbage(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	startAgent(t, b.url(), 1)
	q := b.queue()
	c := b.connect()
	for _, text := range []string{
		"", "{", "[]", `{"queue":"a.b>"}`, `{"queue":"` + strings.Repeat("x", 100) + `"}`, `{"agent":"x","cores":-1}`,
	} {
		if err := errors.Join(c.Publish(announceTopic, []byte(text)), c.Publish(q.roster.inbox.Subject, []byte(text)),
			c.Publish(nextTopic(q.id), []byte(text)), c.Publish(taskTopic(q.id)+"1"+keeps, []byte(text)),
			c.Publish(taskTopic(q.id)+"998"+answered, []byte(text))); err != nil {
			t.Fatal(err)
		}
	}
	x := simulation("maekawa", 7, 70, 1)
	if got, want := text(t, all(t, q, []Task{x})[0]), here(t, x); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if q.Cores() != 1 {
		t.Errorf("%d cores", q.Cores())
	}
}

// The parts of a search come from agents as they would from here.
func TestSearch(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	startAgent(t, b.url(), 2)
	q := b.queue()
	a, err := known().Lookup("lamport")
	if err != nil {
		t.Fatal(err)
	}
	o := check.Options{Nodes: 3, Requests: 6, Seed: 40, Schedules: 300, Unordered: true, Workers: 1}
	s, err := check.New(a, o)
	if err != nil {
		t.Fatal(err)
	}
	want := s.Random(t.Context())
	got, err := s.Join(t.Context(), func(ctx context.Context, first int) (check.Part, error) {
		x := SearchOf("lamport", s.Options, nil)
		x.First, x.Count = first, min(10, s.Schedules-first)
		answer, err := q.Do(ctx, Task{Search: &x})
		if err != nil || answer.Part == nil {
			t.Errorf("%+v, %v", answer, err)
			return check.Part{}, err
		}
		return *answer.Part, nil
	})
	if err != nil || want.Violation == nil || got.Seed != want.Seed || got.Steps != want.Steps || got.MaxBypass != want.MaxBypass ||
		strings.Join(got.Trace.Lines(), "\n") != strings.Join(want.Trace.Lines(), "\n") {
		t.Errorf("%+v, %v\nwant\n%+v", got, err, want)
	}
}
