package ping

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"dmebench/internal/platform/environment"
	"dmebench/internal/platform/launch"
	"dmebench/transport/nats"
)

type Setup struct {
	Network   string
	Set       map[string]string // options of the network
	Side      Side
	Processes int         // at least 2
	Size      int         // of a message in bytes
	Pin       bool        // each process to one processor, in turn
	Broker    nats.Broker // of a network that has one
}

// Cluster is a set of processes that are connected and wait for tasks.
type Cluster struct {
	setup      Setup
	processes  []*launch.Child
	life       context.Context // ends when any process does
	fail       context.CancelCauseFunc
	cpus       []int // by process, if they are pinned
	gomaxprocs int
}

const (
	startTimeout = 30 * time.Second // for a process to answer
	endTimeout   = 3 * time.Second  // for all of them to leave in order
)

// Start starts the processes and connects them. Measurements fail once ctx has
// ended.
func Start(ctx context.Context, s Setup) (_ *Cluster, err error) {
	c := &Cluster{setup: s}
	c.life, c.fail = context.WithCancelCause(ctx)
	defer func() {
		if err != nil {
			c.Close()
		}
	}()
	var cpus []int
	if s.Pin {
		if cpus, err = environment.CPUs(); err != nil {
			return nil, fmt.Errorf("ping: cannot tell the processors to pin to: %w", err)
		}
	}
	o := order{Setup: s}
	rand.Read(o.Key[:]) // never fails: it ends the program if there is no randomness
	for o.Index = range s.Processes {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		local := launch.Local{Answers: true}
		if s.Pin {
			local.CPUs = []int{cpus[o.Index%len(cpus)]}
			c.cpus = append(c.cpus, local.CPUs...)
		}
		p, err := local.Start(launch.Command{
			Word: Command, Name: fmt.Sprintf("process %d (%s, %s)", o.Index, s.Network, s.Side), Config: o,
		})
		if err != nil {
			return nil, fmt.Errorf("ping: %w", err)
		}
		c.processes = append(c.processes, p)
		go func() { c.fail(p.Death()) }()
	}
	greetings, err := c.answers()
	if err != nil {
		return nil, err
	}
	var q question
	for _, g := range greetings {
		q.Book = append(q.Book, g.Address)
	}
	c.gomaxprocs = greetings[0].GOMAXPROCS
	_, err = c.askAll(q)
	return c, err
}

func (c *Cluster) askAll(q question) ([]answer, error) {
	for _, p := range c.processes {
		p.Send(q)
	}
	return c.answers()
}

func (c *Cluster) answers() ([]answer, error) {
	var all []answer
	for _, p := range c.processes {
		a, err := c.answer(p, startTimeout)
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

// answer waits for a process's next answer. It fails as soon as any process ends.
func (c *Cluster) answer(p *launch.Child, within time.Duration) (a answer, err error) {
	ctx, cancel := context.WithTimeout(c.life, within)
	defer cancel()
	switch err := p.Receive(ctx, &a); {
	case errors.Is(err, context.DeadlineExceeded):
		return a, fmt.Errorf("ping: %s does not answer within %v; is this host overloaded? %s",
			p.Name(), within, strings.Join(p.Stderr(), "\n"))
	case err != nil:
		return a, fmt.Errorf("ping: %w", err)
	case a.Error != "":
		return a, fmt.Errorf("ping: %s: %s", p.Name(), a.Error)
	}
	return a, nil
}

// Measure carries out a task once. The processes are quiet before and afterwards.
func (c *Cluster) Measure(t Task) (Values, error) {
	before, err := c.askAll(question{})
	if err != nil {
		return nil, err
	}
	first := c.processes[0]
	first.Send(question{Task: &t})
	a, err := c.answer(first, t.Stretch+patience+startTimeout)
	if err != nil {
		return nil, fmt.Errorf("%w (%v)", err, t)
	}
	after, err := c.askAll(question{})
	if err != nil {
		return nil, err
	}
	var used float64
	for i := range t.processes(len(before)) {
		used += after[i].CPUSeconds - before[i].CPUSeconds
	}
	a.Values.addProcessorTime(used)
	return a.Values, nil
}

func (c *Cluster) Close() {
	c.fail(context.Canceled)
	launch.End(endTimeout, c.processes...)
}
