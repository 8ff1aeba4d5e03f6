package workqueue

import (
	"context"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"dmebench/internal/check"
	"dmebench/internal/environment"
	"dmebench/internal/task"
	"dmebench/result"
	"dmebench/transport/nats"
)

var full = flag.Bool("full", false, "kill as many agents as is promised")

// Tasks of several agents have the answers that they have here, byte for byte, also of two
// queues at a time; and nothing remains on the server.
func TestAnswers(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	startAgent(t, b.url(), 1)
	startAgent(t, b.url(), 2)
	var tasks []task.Task
	for seed := range uint64(12) {
		tasks = append(tasks, simulation("maekawa", 7, 70, seed+1), simulation("raymond", 9, 90, seed+1))
	}
	var both sync.WaitGroup
	for range 2 {
		q := b.queue()
		both.Go(func() {
			defer q.Close()
			for i, a := range all(t, q, tasks) {
				if got, want := text(t, a), here(t, tasks[i]); got != want {
					t.Errorf("task %d:\n%s\nwant\n%s", i, got, want)
				}
			}
			for q.Cores() != 3 { // as soon as the second agent is there
				time.Sleep(10 * time.Millisecond)
			}
		})
	}
	both.Wait()
	b.leavesNothing()
}

// leavesNothing fails the test where a queue is left on the server.
func (b *broker) leavesNothing() {
	b.t.Helper()
	js, err := jetstream.New(b.connect())
	if err != nil {
		b.t.Fatal(err)
	}
	for name := range js.StreamNames(b.t.Context()).Name() {
		b.t.Errorf("stream %s is left", name)
	}
}

// What agents had begun that are killed at any moment goes to others: every task has its
// one answer, and the right one.
func TestAgentsAreKilled(t *testing.T) {
	t.Parallel()
	kills := 4
	switch {
	case *full:
		kills = 20
	case testing.Short():
		kills = 2
	}
	b := startBroker(t)
	agents := []*agentProcess{startAgent(t, b.url(), 1), startAgent(t, b.url(), 1)}
	q := b.queue()
	rng := rand.New(rand.NewPCG(uint64(kills), 11))
	ctx, enough := context.WithCancel(t.Context())
	var group sync.WaitGroup
	group.Go(func() {
		defer enough()
		for range kills {
			q.awaitBusy(len(agents))
			time.Sleep(time.Duration(rng.Int64N(int64(200 * time.Millisecond)))) // a random moment
			i := rng.IntN(len(agents))
			agents[i].kill()
			agents[i] = startAgent(t, b.url(), 1)
		}
	})
	done := 0
	for seed := uint64(1); !t.Failed() && (ctx.Err() == nil || done < 20); seed++ {
		tasks := []task.Task{
			simulation("maekawa", 31, 6200, seed), simulation("ricart-agrawala", 20, 8000, seed), simulation("raymond", 40, 40_000, seed),
		}
		for i, a := range all(t, q, tasks) {
			done++
			if got, want := text(t, a), here(t, tasks[i]); got != want {
				t.Errorf("task %d:\n%s\nwant\n%s", i, got, want)
			}
		}
	}
	group.Wait()
	t.Logf("%d tasks, %d agents killed", done, kills)
}

// awaitBusy waits until so many tasks are being done, but not for ever: where they are
// not done as they should be, it may never be so.
func (q *Queue) awaitBusy(tasks int) {
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if i, err := q.tasks.Info(context.Background()); err == nil && i.NumAckPending >= tasks {
			return
		}
	}
}

// A task that ends its process, and one that ends its agent, do not get lost, do not keep
// others from being done, and say what became of them.
func TestTasksThatKill(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	startAgent(t, b.url(), 1)
	q := b.queue()
	tasks := []task.Task{simulation("panics", 3, 9, 1), simulation("maekawa", 7, 70, 1)}
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

// An agent that leaves gives back what it was doing, at once and as often as it likes.
func TestAgentsLeave(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	a := startAgent(t, b.url(), 1)
	q := b.queue(func(o *Options) { o.Lease = time.Hour })
	answered := make(chan task.Answer, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		x, _ := q.Do(ctx, simulation("lasts", 3, 9, 1))
		answered <- x
	}()
	for range maxDeliver + 1 {
		q.awaitTasks(t, 0, 1)
		a.leave()
		q.awaitTasks(t, 1, 0)
		a = startAgent(t, b.url(), 1)
	}
	q.awaitTasks(t, 0, 1)
	select {
	case x := <-answered:
		t.Errorf("answered: %+v", x)
	default:
	}
	cancel()
	<-answered
	// The process that does it ends with the queue, and its core is free again.
	q.Close()
	if a := all(t, b.queue(), []task.Task{simulation("maekawa", 7, 70, 1)}); a[0].Result == nil {
		t.Errorf("%+v", a[0])
	}
}

// awaitTasks waits until so many tasks wait for an agent, and so many are being done.
func (q *Queue) awaitTasks(t *testing.T, pending uint64, taken int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		i, err := q.tasks.Info(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if i.NumPending == pending && i.NumAckPending == taken {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d tasks wait and %d are being done; want %d and %d", i.NumPending, i.NumAckPending, pending, taken)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// An agent of another program takes no task, and is named. The other program is this one
// with something behind it.
func TestOtherPrograms(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bytes, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other")
	if err := os.WriteFile(other, append(bytes, "behind"...), 0o755); err != nil {
		t.Fatal(err)
	}
	startAgent(t, b.url(), 1, other)
	var mu sync.Mutex
	var warnings []string
	opt := Options{Patience: 10 * time.Minute, Warn: func(s string) {
		mu.Lock()
		defer mu.Unlock()
		warnings = append(warnings, s)
	}}
	_, err = Open(t.Context(), nats.Broker{URL: b.url()}, opt)
	if !errors.Is(err, ErrUnavailable) {
		t.Fatal(err)
	}
	wantText(t, err.Error(), "no agent takes this work; host-", "its program is another one (", "install the same file there")
	b.leavesNothing()

	startAgent(t, b.url(), 1)
	q, err := Open(t.Context(), nats.Broker{URL: b.url()}, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	all(t, q, []task.Task{simulation("maekawa", 7, 70, 1)})
	if q.Cores() != 1 {
		t.Errorf("%d cores", q.Cores())
	}
	mu.Lock()
	defer mu.Unlock()
	wantText(t, strings.Join(warnings, "\n"), "takes none of this work: its program is another one")
}

// An agent whose file is another one by now takes no task: its processes would be of that
// file.
func TestReplacedProgram(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/exe"); err != nil {
		t.Skip(err)
	}
	b := startBroker(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bytes, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(file, bytes, 0o755); err != nil {
		t.Fatal(err)
	}
	startAgent(t, b.url(), 1, file)
	q := b.queue()
	x := simulation("maekawa", 7, 70, 1)
	if a := all(t, q, []task.Task{x}); a[0].Result == nil {
		t.Fatalf("%+v", a[0])
	}
	q.Close()
	if err := errors.Join(os.WriteFile(file+".new", append(bytes, "behind"...), 0o755), os.Rename(file+".new", file)); err != nil {
		t.Fatal(err)
	}
	_, err = Open(t.Context(), nats.Broker{URL: b.url()}, Options{Patience: 10 * time.Minute})
	if !errors.Is(err, ErrUnavailable) {
		t.Fatal(err)
	}
	wantText(t, err.Error(), "no agent takes this work; host-", "the file of its program was replaced", "start the agent anew")
}

// A server that is restarted, with its folder, loses nothing.
func TestServerRestarts(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	startAgent(t, b.url(), 1)
	q := b.queue()
	var tasks []task.Task
	for seed := range uint64(40) {
		tasks = append(tasks, simulation("maekawa", 31, 620, seed+1))
	}
	restarted := make(chan struct{})
	go func() {
		defer close(restarted)
		for _, answers := range []int{5, 15} {
			q.awaitAnswers(len(tasks), answers)
			b.stop()
			b.start()
		}
	}()
	for i, a := range all(t, q, tasks) {
		if got, want := text(t, a), here(t, tasks[i]); got != want {
			t.Errorf("task %d:\n%s\nwant\n%s", i, got, want)
		}
	}
	<-restarted
}

// awaitAnswers waits until so many of the first tasks are answered.
func (q *Queue) awaitAnswers(tasks, answers int) {
	left := func() int {
		q.mu.Lock()
		defer q.mu.Unlock()
		return tasks - int(q.next) + len(q.waiting)
	}
	for left() > tasks-answers {
		time.Sleep(time.Millisecond)
	}
}

// A server that comes back without its folder has lost the queue, and that is said.
func TestServerForgets(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	startAgent(t, b.url(), 1)
	q := b.queue()
	failed := make(chan error, 1)
	go func() {
		_, err := q.Do(t.Context(), simulation("lasts", 3, 9, 1))
		failed <- err
	}()
	q.awaitTasks(t, 0, 1)
	b.stop()
	b.opt.StoreDir = t.TempDir()
	b.start()
	err := <-failed
	if !errors.Is(err, ErrUnavailable) {
		t.Fatal(err)
	}
	wantText(t, err.Error(), "has lost the queue", "does it keep its JetStream folder")
}

// A queue does not wait for ever for a server or for agents that are gone.
func TestNobodyIsLeft(t *testing.T) {
	t.Parallel()
	brief := func(o *Options) { o.Patience = silentAfter + time.Second }
	t.Run("server", func(t *testing.T) {
		t.Parallel()
		b := startBroker(t)
		startAgent(t, b.url(), 1)
		q := b.queue(brief)
		b.stop()
		_, err := q.Do(t.Context(), simulation("maekawa", 7, 70, 1))
		if !errors.Is(err, ErrUnavailable) {
			t.Fatal(err)
		}
		wantText(t, err.Error(), "cannot be reached any more")
	})
	t.Run("agents", func(t *testing.T) {
		t.Parallel()
		b := startBroker(t)
		a := startAgent(t, b.url(), 1)
		q := b.queue(brief)
		a.kill()
		_, err := q.Do(t.Context(), simulation("maekawa", 7, 70, 1))
		if !errors.Is(err, ErrUnavailable) {
			t.Fatal(err)
		}
		wantText(t, err.Error(), "no agent has answered for 1", "start «dmebench agent»")
	})
}

// What is missing from the beginning is said at once.
func TestCannotBegin(t *testing.T) {
	t.Parallel()
	open := func(b *broker, o Options) error {
		t.Helper()
		o.Patience = 10 * time.Second
		q, err := Open(t.Context(), nats.Broker{URL: b.url()}, o)
		if err == nil {
			q.Close()
		}
		if !errors.Is(err, ErrUnavailable) {
			t.Fatal(err)
		}
		return err
	}
	wantText(t, open(startBroker(t), Options{}).Error(), "no agent has answered for 1s; start «dmebench agent»")
	plain := startBroker(t, func(o *server.Options) { o.JetStream = false })
	wantText(t, open(plain, Options{}).Error(), "has no JetStream", "start it with -js")

	small := startBroker(t, func(o *server.Options) { o.MaxPayload = 4 << 10 })
	startAgent(t, small.url(), 1)
	q := small.queue()
	big := simulation("maekawa", 7, 70, 1)
	big.Simulate.Files = map[string][]byte{"f": make([]byte, 4<<10)}
	_, err := q.Do(t.Context(), big)
	if !errors.Is(err, ErrUnavailable) {
		t.Fatal(err)
	}
	wantText(t, err.Error(), "a task of 5", "takes messages of 4096; raise its max_payload")
	a := all(t, q, []task.Task{simulation("maekawa", 400, 800, 1)})
	wantText(t, a[0].Error, "its result is of", "takes messages of 4096; raise its max_payload")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ctx, nats.Broker{URL: small.url()}, Options{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// told counts how often the server is told that a task is being done.
type told struct {
	jetstream.Msg
	times atomic.Int64
}

func (m *told) InProgress() error { m.times.Add(1); return nil }

// A task that lasts stays with its agent: the server is told of it in every lease, more
// than once, and no more when it is over.
func TestLongTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const lease = 10 * time.Second
		ctx, cancel := context.WithCancel(t.Context())
		var m told
		keep(ctx, &m, lease)
		for range 100 {
			before := m.times.Load()
			time.Sleep(lease) // in the time of the test
			synctest.Wait()
			if n := m.times.Load() - before; n < 2 || n > 4 {
				t.Fatalf("told %d times in a lease", n)
			}
		}
		cancel()
		synctest.Wait()
		before := m.times.Load()
		time.Sleep(10 * lease)
		synctest.Wait()
		if m.times.Load() != before {
			t.Error("told when it is over")
		}
	})
}

// An agent that is in use is there, and does nothing.
func TestAgentsInUse(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	a := startAgent(t, b.url(), 0)
	_, err := Open(t.Context(), nats.Broker{URL: b.url()}, Options{Patience: 10 * time.Minute})
	if !errors.Is(err, ErrUnavailable) {
		t.Fatal(err)
	}
	wantText(t, err.Error(), "all agents are in use by runs over real networks (host-")
	startAgent(t, b.url(), 1)
	q := b.queue()
	if x := all(t, q, []task.Task{simulation("maekawa", 7, 70, 1)}); x[0].Result == nil || q.Cores() != 1 {
		t.Errorf("%+v, %d cores", x[0], q.Cores())
	}
	a.leave()
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
	both.Search = &task.Search{Algorithm: "maekawa", Nodes: 3, Requests: 3, Schedules: 1, Count: 1}
	large := simulation("maekawa", 2_000_000, 70, 1)
	beyond := task.Task{Search: &task.Search{Algorithm: "maekawa", Nodes: 3, Requests: 3, Schedules: 5, First: 3, Count: 3}}
	unknown := task.Task{Search: &task.Search{Algorithm: "rm -rf", Nodes: 3, Requests: 3, Schedules: 5, Count: 3}}
	for i, want := range []string{
		"did not come with the task", `a run over "tcp"; only simulations`, "a simulation or a search, and not both",
		"2000000 nodes", "3 schedules from 3 on, of 5", `unknown algorithm "rm -rf"`, "a simulation or a search",
	} {
		a := all(t, q, []task.Task{[]task.Task{file, real, both, large, beyond, unknown, {}}[i]})[0]
		if a.Result != nil || a.Part != nil {
			t.Errorf("task %d was done", i)
		}
		wantText(t, a.Error, want)
	}
	// With what it names it is done.
	file.Simulate.Files = map[string][]byte{secret: []byte("1 2\n2 1\n")}
	if a := all(t, q, []task.Task{file}); a[0].Result == nil || a[0].Result.Status != result.OK {
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
			c.Publish(taskTopic(q.id)+"999", []byte(text)), c.Publish(answerTopic(q.id)+"998", []byte(text))); err != nil {
			t.Fatal(err)
		}
	}
	x := simulation("maekawa", 7, 70, 1)
	if got, want := text(t, all(t, q, []task.Task{x})[0]), here(t, x); got != want {
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
	a, err := algorithms().Lookup("lamport")
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
		x := task.SearchOf("lamport", s.Options, nil)
		x.First, x.Count = first, min(10, s.Schedules-first)
		answer, err := q.Do(ctx, task.Task{Search: &x})
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

// An agent forgets queues whose owners say nothing, and removes them when that has lasted
// very long; but not while the server could not be reached.
func TestExpire(t *testing.T) {
	start := time.Now()
	s := &taker{queues: map[string]*offer{}, silent: map[string]time.Time{"old": start}}
	ctx, end := context.WithCancel(t.Context())
	s.queues["new"] = &offer{id: "new", heard: start, ctx: ctx, end: end}
	look := func(after time.Duration, connected bool) []string { return s.expire(start.Add(after), connected) }
	if gone := look(goneAfter+time.Minute, false); gone != nil || ctx.Err() != nil {
		t.Errorf("without a server: %v, %v", gone, ctx.Err())
	}
	start = start.Add(goneAfter + time.Minute) // as if nothing had been before
	if gone := look(silentAfter, true); gone != nil || ctx.Err() != nil {
		t.Errorf("%v, %v", gone, ctx.Err())
	}
	if gone := look(silentAfter+1, true); gone != nil || ctx.Err() == nil || s.queues["new"] != nil {
		t.Errorf("%v, %v", gone, ctx.Err())
	}
	if gone := look(goneAfter, true); gone != nil {
		t.Errorf("too early: %v", gone)
	}
	if gone := look(goneAfter+1, true); len(gone) != 2 {
		t.Errorf("%v", gone)
	}
}

// An owner who announces a queue again that was taken to be gone has it back.
func TestHeardAgain(t *testing.T) {
	me := presence{Program: environment.Program{SHA256: "other"}}
	s := &taker{queues: map[string]*offer{}, silent: map[string]time.Time{"q": time.Now()}, me: me}
	s.hear(&natsgo.Msg{Data: []byte(`{"queue":"q","program":{"sha256":"mine"}}`)})
	if len(s.silent) != 0 || len(s.queues) != 0 {
		t.Errorf("%v, %v", s.silent, s.queues)
	}
}

// What waits is bounded, but for one that is larger than all.
func TestRoom(t *testing.T) {
	r := newRoom(10)
	take := func(bytes int) bool {
		ctx, cancel := context.WithTimeout(t.Context(), 0)
		defer cancel()
		return r.take(ctx, t.Context(), bytes) == nil
	}
	if !take(20) || take(1) {
		t.Error("the large one does not wait alone")
	}
	r.leave(20)
	if !take(6) || !take(4) || take(1) {
		t.Error("there is more room, or less")
	}
	entered := make(chan error)
	go func() { entered <- r.take(t.Context(), t.Context(), 5) }()
	r.leave(4)
	r.leave(6)
	if err := <-entered; err != nil {
		t.Error(err)
	}
}
