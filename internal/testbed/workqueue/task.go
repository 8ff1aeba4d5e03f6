package workqueue

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"reflect"
	"strings"

	"dmebench/internal/platform/environment"
	"dmebench/internal/platform/launch"
	"dmebench/internal/runtime/run"
	"dmebench/internal/search/check"
	"dmebench/internal/sim"
	"dmebench/runs"
)

// Task is work that one host can do for another: one of its kinds.
type Task struct {
	Simulate *Simulation `json:"simulate,omitempty"`
	Search   *Search     `json:"search,omitempty"`
}

// Simulation is a run over the simulated network.
type Simulation struct {
	Spec  runs.Spec         `json:"spec"`
	Files map[string][]byte `json:"files,omitempty"` // what the spec's settings name
	Force bool              `json:"force,omitempty"` // although the host is estimated to have no room for it
}

// Search is a range of the random schedules of a search.
type Search struct {
	Algorithm string            `json:"algorithm"`
	Options   check.Options     `json:"options"`         // of the whole search
	Files     map[string][]byte `json:"files,omitempty"` // what its settings name

	First int `json:"first"` // of the range, counted from 0
	Count int `json:"count"`
}

// Answer is what came of a task. Error says why there is nothing else.
type Answer struct {
	Error  string       `json:"error,omitempty"`
	Result *runs.Result `json:"result,omitempty"` // of a simulation
	Part   *check.Part  `json:"part,omitempty"`   // of a search
}

// SearchOf is the search with these options and files. One worker: the parts of a search
// are what is done at a time.
func SearchOf(algorithm string, o check.Options, files map[string][]byte) Search {
	o.Workers = 1
	return Search{Algorithm: algorithm, Options: o, Files: Named(o.Set, files)}
}

// Named returns those of the files that a setting speaks of.
func Named(set map[string]string, files map[string][]byte) map[string][]byte {
	named := maps.Clone(files)
	maps.DeleteFunc(named, func(name string, _ []byte) bool {
		for _, value := range set {
			if strings.Contains(value, name) {
				return false
			}
		}
		return true
	})
	return named
}

// reader serves files that came with a task, and no others.
func reader(files map[string][]byte) func(string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		if b, ok := files[name]; ok {
			return b, nil
		}
		return nil, fmt.Errorf("%s did not come with the task: %w", name, fs.ErrNotExist)
	}
}

// Decode reads JSON, and refuses what is more or less than that.
func Decode(b []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("something follows it")
	}
	return nil
}

// decode reads a task, and checks what can be checked without carrying it out.
func decode(b []byte) (*Task, error) {
	t := new(Task)
	if err := Decode(b, t); err != nil {
		return nil, fmt.Errorf("task: %w", err)
	}
	switch {
	case (t.Simulate == nil) == (t.Search == nil):
		return nil, errors.New("task: want a simulation or a search, and not both")
	case t.Simulate != nil && t.Simulate.Spec.Transport != runs.Sim:
		return nil, fmt.Errorf("task: a run over %q; only simulations are done for others", t.Simulate.Spec.Transport)
	case t.Search != nil && (t.Search.First < 0 || t.Search.Count < 1 || t.Search.First > t.Search.Options.Schedules-t.Search.Count):
		return nil, fmt.Errorf("task: %d schedules from %d on, of %d", t.Search.Count, t.Search.First, t.Search.Options.Schedules)
	}
	return t, nil
}

// Command is the hidden sub-command by which the program carries out tasks.
const Command = "executor"

// Main is a process that carries out tasks. It reads them from stdin after a configuration, which
// is empty, and writes an [Answer] for each. When stdin ends it returns at once, in the middle of a
// task too. A task that panics ends the process.
func Main(catalog run.Catalog, stdin io.Reader, stdout, stderr io.Writer) int {
	parent := launch.NewParent(stdin, stdout)
	if err := parent.Receive(new(struct{})); err != nil {
		fmt.Fprintln(stderr, "executor: this command is started by an agent, which gives it tasks on its standard input:", err)
		return launch.Misused
	}
	// If memory is short, this process is to end and not the agent. A system that cannot be
	// asked for that chooses by size, which mostly comes to the same.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
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
			return 0
		}
		tasks <- b
	}
}

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

func (e *executor) simulate(ctx context.Context, s *Simulation) (*runs.Result, error) {
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
		o := s.Options
		o.ReadFile, o.Workers = reader(s.Files), 1
		if e.search, err = check.New(a, o); err != nil {
			return Answer{Error: err.Error()}
		}
		e.asked = whole
	}
	defer check.CollectBelow(0)()
	p := e.search.Part(ctx, s.First, s.Count)
	return Answer{Part: &p}
}
