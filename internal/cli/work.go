package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"dmebench/internal/platform"
	"dmebench/internal/search/check"
	"dmebench/internal/testbed/agent"
	"dmebench/internal/testbed/workqueue"
	"dmebench/runs"
	"dmebench/transport/nats"
)

// workFlags say which agents do work that is not tied to a host.
func workFlags(what string) []cli.Flag {
	return append([]cli.Flag{
		agentsFlag("agents at the NATS server at `URL` do " + what + ", with the same outcome"),
	}, credentialFlags()...)
}

type agentsWork struct {
	queue *workqueue.Queue
	files *files
	force bool
}

// openWork opens a queue at the agents of --agents; nil if there is no such flag.
func (p *program) openWork(c *cli.Context, files *files) (*agentsWork, error) {
	if !c.IsSet("agents") {
		if flags := given(c, credentialNames...); len(flags) > 0 {
			return nil, usage("--%s is for --agents; nothing here needs a NATS server without", flags[0])
		}
		return nil, nil
	}
	broker, err := brokerAt(c, "agents")
	if err != nil {
		return nil, err
	}
	if err := agent.CheckBroker(*broker); err != nil {
		return nil, failWith(Usage, err)
	}
	host, _ := os.Hostname()
	warn := func(line string) { fmt.Fprintf(p.stderr, "dmebench: warning: %s\n", line) }
	opt := workqueue.Options{Host: cmp.Or(host, "a host without a name"), Warn: warn}
	q, err := platform.Interruptible(c.Context, func() (*workqueue.Queue, error) { return workqueue.Open(c.Context, *broker, opt) })
	if err != nil {
		return nil, queueFailure(err)
	}
	return &agentsWork{queue: q, files: files, force: c.Bool("force")}, nil
}

// queueFailure gives the errors of a queue, and of its broker, their exit code.
func queueFailure(err error) error {
	if errors.Is(err, workqueue.ErrUnavailable) || errors.Is(err, nats.ErrBroker) {
		return failWith(Unavailable, err)
	}
	return err
}

func (w *agentsWork) close() {
	if w != nil {
		w.queue.Close()
	}
}

// simulate has a run carried out. One that failed has a result that says so.
func (w *agentsWork) simulate(ctx context.Context, s runs.Spec) (*runs.Result, error) {
	one := workqueue.Simulation{Spec: s, Files: workqueue.Named(s.Set, w.files.all()), Force: w.force}
	a, err := w.queue.Do(ctx, workqueue.Task{Simulate: &one})
	switch {
	case err != nil:
		return nil, queueFailure(err)
	case a.Error != "":
		return runs.Failure(s, errors.New(a.Error)), nil
	case a.Result == nil:
		return runs.Failure(s, errors.New("an agent has answered with something else than a result")), nil
	}
	return a.Result, nil
}

// Of a search's schedules each part is to be so small that agents end at about the same
// time, and so large that handing them over takes no part in it.
const (
	partsPerCore = 32
	largestPart  = 1000 // schedules
)

// search has random schedules run in parts, and reports what one host alone would.
func (w *agentsWork) search(ctx context.Context, algorithm string, s *check.Search) (check.Report, error) {
	ctx, cancel := context.WithCancel(ctx) // what is under way once a property is broken
	defer cancel()
	cores := w.queue.Cores()
	size := min(max(1, s.Schedules/(partsPerCore*max(1, cores))), largestPart)
	var mu sync.Mutex
	var done uint64
	ahead := 4 * max(4, cores)
	next := platform.Ahead(ahead, ahead, func(i int) func() (check.Part, error) {
		part := workqueue.SearchOf(algorithm, s.Options, w.files.all())
		part.First, part.Count = i*size, min(size, s.Schedules-i*size)
		if part.Count < 1 {
			return nil
		}
		return func() (check.Part, error) {
			a, err := w.queue.Do(ctx, workqueue.Task{Search: &part})
			switch {
			case err != nil:
				return check.Part{}, queueFailure(err)
			case a.Error != "" || a.Part == nil:
				first := s.Seed + uint64(part.First)
				return check.Part{}, failWith(Unknown, fmt.Errorf("an agent could not run the schedules of seeds %d to %d: %s",
					first, first+uint64(part.Count-1), a.Error))
			}
			mu.Lock()
			defer mu.Unlock()
			if done += uint64(a.Part.Done); s.Progress != nil {
				s.Progress(done)
			}
			return *a.Part, nil
		}
	})
	r, err := s.Join(ctx, func(ctx context.Context, _ int) (check.Part, error) { return next(ctx) })
	r.Workers = w.queue.Cores()
	return r, err
}

// signals returns a context that ends when the program is asked to end: by Ctrl-C, by another
// process, or because its terminal is closed, unless nohup ignores that. A second signal means that
// the user insists ([platform.Insisted]).
//
// Output to a pipe that is no longer read becomes an error like any other. It would otherwise end
// the program on the spot, before the result of a run is kept.
func signals() (ctx context.Context, stop func()) {
	ending := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		ending = append(ending, syscall.SIGHUP)
	}
	insisted := make(chan struct{})
	ctx, end := signal.NotifyContext(platform.WithInsistence(context.Background(), insisted), ending...)
	interrupts := make(chan os.Signal, 2)
	signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM) // a terminal that is closed may say so twice
	go notice(interrupts, insisted)
	// Not ignored: workers, which inherit that, are to end by it.
	unread := make(chan os.Signal, 1)
	signal.Notify(unread, syscall.SIGPIPE)
	return ctx, func() {
		signal.Stop(unread)
		signal.Stop(interrupts)
		close(interrupts) // no signal is sent to it any more
		end()
	}
}

// apart is by how much the user's two signals differ in time at least. Programs such as
// timeout send the same one to a process and to its group.
const apart = 250 * time.Millisecond

// notice closes insisted when a second signal comes at least that much later than the first.
func notice(interrupts <-chan os.Signal, insisted chan<- struct{}) {
	if _, more := <-interrupts; !more {
		return
	}
	first := time.Now()
	for range interrupts {
		if time.Since(first) >= apart {
			close(insisted)
			return
		}
	}
}

type output struct {
	io.Writer
	unread bool // a pipe whose other end is closed
}

func (o *output) Write(b []byte) (int, error) {
	n, err := o.Writer.Write(b)
	if errors.Is(err, syscall.EPIPE) {
		o.unread = true
	}
	return n, err
}
