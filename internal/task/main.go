package task

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"reflect"

	"dmebench/internal/check"
	"dmebench/internal/environment"
	"dmebench/internal/exit"
	"dmebench/internal/launch"
	"dmebench/internal/run"
	"dmebench/internal/sim"
	"dmebench/result"
)

// Command is the hidden sub-command by which the program carries out tasks.
const Command = "executor"

// Config is what the process reads first.
type Config struct{}

// Main is a process that carries out tasks. It reads them from stdin after its [Config],
// and writes an [Answer] for each. When stdin ends it returns at once, whatever it is
// doing. A task that panics ends the process.
func Main(catalog run.Catalog, stdin io.Reader, stdout, stderr io.Writer) int {
	parent := launch.NewParent(stdin, stdout)
	if err := parent.Receive(new(Config)); err != nil {
		fmt.Fprintln(stderr, "executor: this command is started by an agent, which gives it tasks on its standard input:", err)
		return exit.Usage
	}
	// Where memory is short, this process is to end and not the agent.
	yieldMemory()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	tasks := make(chan json.RawMessage)
	defer close(tasks)
	go func() {
		e := executor{catalog: catalog}
		for b := range tasks {
			_ = parent.Send(e.carryOut(ctx, b)) // a parent that is gone is noticed below
		}
	}()
	for {
		var b json.RawMessage
		if parent.Receive(&b) != nil {
			return exit.Held
		}
		tasks <- b
	}
}

// executor carries out tasks, one at a time.
type executor struct {
	catalog run.Catalog

	// The last search: the next task is mostly another part of it.
	asked  Search
	search *check.Search
}

func (e *executor) carryOut(ctx context.Context, b []byte) Answer {
	t, err := decode(b)
	if err != nil {
		return Answer{Error: err.Error()}
	}
	if t.Search != nil {
		return e.part(ctx, t.Search)
	}
	r, err := e.simulate(ctx, t.Simulate)
	if err != nil {
		return Answer{Error: err.Error()}
	}
	return Answer{Result: r}
}

func (e *executor) simulate(ctx context.Context, s *Simulation) (*result.Result, error) {
	files := reader(s.Files)
	if need := run.EstimateOf(s.Spec, e.catalog, files); need.Memory > 0 && !s.Force {
		if err := need.Check(environment.HostLimits()); err != nil {
			return nil, err
		}
	}
	job, err := run.Resolve(s.Spec, e.catalog, files)
	if err != nil {
		return nil, err
	}
	r, err := sim.Run(ctx, job)
	if err != nil {
		return nil, err
	}
	r.Spec = job.Spec
	return r, nil
}

func (e *executor) part(ctx context.Context, s *Search) Answer {
	whole := *s
	whole.First, whole.Count = 0, 0
	if e.search == nil || !reflect.DeepEqual(e.asked, whole) {
		a, err := e.catalog.Lookup(s.Algorithm)
		if err != nil {
			return Answer{Error: err.Error()}
		}
		e.search = nil // one at a time in memory
		if e.search, err = check.New(a, s.options()); err != nil {
			return Answer{Error: err.Error()}
		}
		e.asked = whole
	}
	p := e.search.Part(ctx, s.First, s.Count)
	return Answer{Part: &p}
}
