package ping

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"dmebench/transport/nats"
)

// Setup says what the processes of a Cluster are.
type Setup struct {
	Network   string
	Set       map[string]string // options of the network
	Bare      bool              // without the transport
	Processes int               // at least 2
	Size      int               // of a message in bytes
	Pin       bool              // each process to one processor, in turn
	Broker    nats.Broker       // of a network that has one
}

func (s *Setup) side() Side {
	if s.Bare {
		return Bare
	}
	return Ours
}

// Cluster is a set of processes that are connected and wait for tasks.
type Cluster struct {
	setup      Setup
	processes  []*process
	gone       chan *process // those that have ended
	cpus       []int         // by process, where they are pinned
	gomaxprocs int
}

const (
	startTimeout = 30 * time.Second // for a process to answer
	endTimeout   = 3 * time.Second  // for all of them to leave in order
)

// Start starts the processes and connects them.
func Start(ctx context.Context, s Setup) (_ *Cluster, err error) {
	c := &Cluster{setup: s, gone: make(chan *process, s.Processes)}
	defer func() {
		if err != nil {
			c.Close()
		}
	}()
	if s.Pin {
		allowed, err := allowedCPUs()
		if err != nil {
			return nil, fmt.Errorf("ping: cannot tell the processors to pin processes to: %w", err)
		}
		for i := range s.Processes {
			c.cpus = append(c.cpus, allowed[i%len(allowed)])
		}
	}
	var key [32]byte
	rand.Read(key[:]) // never fails: it ends the program where there is no randomness
	for i := range s.Processes {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var cpus []int
		if s.Pin {
			cpus = c.cpus[i : i+1]
		}
		p, err := startProcess(fmt.Sprintf("process %d (%s, %s)", i, s.Network, s.side()), cpus, c.gone)
		if err != nil {
			return nil, err
		}
		c.processes = append(c.processes, p)
		p.tell(order{
			Network: s.Network, Set: s.Set, Bare: s.Bare, Index: i, Processes: s.Processes,
			Size: s.Size, Key: key, Broker: s.Broker,
		})
	}
	var book []string
	for i, p := range c.processes {
		var g greeting
		if err := c.await(ctx, p, startTimeout, &g); err != nil {
			return nil, err
		}
		book = append(book, g.Address)
		if i == 0 {
			c.gomaxprocs = g.GOMAXPROCS
		}
	}
	for _, p := range c.processes {
		p.tell(book)
	}
	for _, p := range c.processes {
		var word string
		if err := c.await(ctx, p, startTimeout, &word); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// await decodes a process's next answer. It fails as soon as any process ends.
func (c *Cluster) await(ctx context.Context, p *process, within time.Duration, to any) error {
	timeout := time.NewTimer(within)
	defer timeout.Stop()
	select {
	case m, ok := <-p.answers:
		if !ok {
			return p.death()
		}
		return json.Unmarshal(m, to)
	case dead := <-c.gone:
		return dead.death()
	case <-ctx.Done():
		return ctx.Err()
	case <-timeout.C:
		return fmt.Errorf("ping: %s does not answer within %v; is this host overloaded? %s", p.name, within, p.stderr.String())
	}
}

// Measure carries out a task once. The processes have been quiet before, and are
// so again.
func (c *Cluster) Measure(ctx context.Context, t Task) (Values, error) {
	before, err := c.processorTimes(ctx)
	if err != nil {
		return nil, err
	}
	first := c.processes[0]
	first.tell(question{&t})
	var a answer
	if err := c.await(ctx, first, t.Stretch+patience+startTimeout, &a); err != nil {
		return nil, err
	}
	if a.Error != "" {
		return nil, fmt.Errorf("ping: %s: %s: %w", first.name, t, errors.New(a.Error))
	}
	after, err := c.processorTimes(ctx)
	if err != nil {
		return nil, err
	}
	var used float64
	for i := range t.processes(len(before)) {
		used += after[i] - before[i]
	}
	a.Values.addProcessorTime(used)
	return a.Values, nil
}

// processorTimes returns the processor time in seconds that each process has
// used.
func (c *Cluster) processorTimes(ctx context.Context) ([]float64, error) {
	for _, p := range c.processes {
		p.tell(question{})
	}
	var times []float64
	for _, p := range c.processes {
		var a answer
		if err := c.await(ctx, p, startTimeout, &a); err != nil {
			return nil, err
		}
		times = append(times, a.CPUSeconds)
	}
	return times, nil
}

// Close ends all processes and returns when they are gone.
func (c *Cluster) Close() {
	for _, p := range c.processes {
		p.stdin.Close()
	}
	timeout := time.NewTimer(endTimeout)
	defer timeout.Stop()
	for _, p := range c.processes {
		select {
		case <-p.ended:
			continue
		case <-timeout.C:
			timeout.Reset(0)
		}
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
}
