package workqueue

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"dmebench/internal/platform"
	"dmebench/transport/nats"
)

// copyOfItself returns a file that is this very program, with something behind it.
func copyOfItself(t *testing.T, behind string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "program")
	// A child of another test that is forked meanwhile would hold the file open for writing,
	// and nobody could execute it.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(file, append(program, behind...), 0o755); err != nil {
		t.Fatal(err)
	}
	return file
}

// An agent of another program takes no task, and is named. The other program is this one
// with something behind it.
func TestOtherPrograms(t *testing.T) {
	t.Parallel()
	b := startBroker(t)
	other := copyOfItself(t, "behind")
	startAgent(t, b.url(), 1, other)
	var mu sync.Mutex
	var warnings []string
	opt := Options{Patience: 10 * time.Minute, Warn: func(s string) {
		mu.Lock()
		defer mu.Unlock()
		warnings = append(warnings, s)
	}}
	_, err := Open(t.Context(), nats.Broker{URL: b.url()}, opt)
	if !errors.Is(err, ErrUnavailable) {
		t.Fatal(err)
	}
	wantText(t, err.Error(), "no agent takes this work; host-", "its program is another one (", "install the same file there")

	startAgent(t, b.url(), 1)
	q, err := Open(t.Context(), nats.Broker{URL: b.url()}, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	all(t, q, []Task{simulation("maekawa", 7, 70, 1)})
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
	file := copyOfItself(t, "")
	startAgent(t, b.url(), 1, file)
	q := b.queue()
	x := simulation("maekawa", 7, 70, 1)
	if a := all(t, q, []Task{x}); a[0].Result == nil {
		t.Fatalf("%+v", a[0])
	}
	q.Close()
	if err := os.Rename(copyOfItself(t, "behind"), file); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), nats.Broker{URL: b.url()}, Options{Patience: 10 * time.Minute})
	if !errors.Is(err, ErrUnavailable) {
		t.Fatal(err)
	}
	wantText(t, err.Error(), "no agent takes this work; host-", "the file of its program was replaced", "restart the agent")
}

// A server that is restarted loses nothing.
func TestServerRestarts(t *testing.T) {
	t.Parallel()
	port, err := platform.FreePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	b := startBroker(t, func(o *server.Options) { o.Port = port[0] })
	startAgent(t, b.url(), 1)
	q := b.queue()
	var tasks []Task
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
		return tasks - int(q.next) + len(q.tasks)
	}
	for left() > tasks-answers {
		time.Sleep(time.Millisecond)
	}
}

// A queue does not wait for ever for a server or for agents that are gone.
func TestNobodyIsLeft(t *testing.T) {
	t.Parallel()
	open := func(t *testing.T, b *broker) *Queue {
		t.Helper()
		for { // when a queue is opened, such patience is too little for an agent that is just starting
			q, err := Open(t.Context(), nats.Broker{URL: b.url()}, Options{Patience: 3 * time.Second})
			if err == nil {
				t.Cleanup(q.Close)
				return q
			}
			if !errors.Is(err, ErrUnavailable) {
				t.Fatal(err)
			}
		}
	}
	t.Run("server", func(t *testing.T) {
		t.Parallel()
		b := startBroker(t)
		startAgent(t, b.url(), 1)
		q := open(t, b)
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
		q := open(t, b)
		a.kill()
		_, err := q.Do(t.Context(), simulation("maekawa", 7, 70, 1))
		if !errors.Is(err, ErrUnavailable) {
			t.Fatal(err)
		}
		wantText(t, err.Error(), "no agent has answered for 1", "start 'dmebench agent'")
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
	wantText(t, open(startBroker(t), Options{}).Error(), "no agent has answered for 1s; start 'dmebench agent'")

	small := startBroker(t, func(o *server.Options) { o.MaxPayload = 4 << 10 })
	startAgent(t, small.url(), 1)
	q := small.queue()
	big := simulation("maekawa", 7, 70, 1)
	big.Simulate.Files = map[string][]byte{"f": make([]byte, 4<<10)}
	_, err := q.Do(t.Context(), big)
	if !errors.Is(err, ErrUnavailable) {
		t.Fatal(err)
	}
	wantText(t, err.Error(), "a task of 5", "takes at most 4096; raise its max_payload")
	a := all(t, q, []Task{simulation("maekawa", 400, 800, 1)})
	wantText(t, a[0].Error, "its result is of", "takes at most 4096; raise its max_payload")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ctx, nats.Broker{URL: small.url()}, Options{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
