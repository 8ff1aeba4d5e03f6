// Package advise predicts by simulation which algorithm suits a system, before anything
// is run on it: all sound algorithms that can run there are simulated under the load
// that is expected, with messages that take as long as there, and ranked as results are.
//
// A simulation knows what an algorithm does: how many messages it sends, and how long it
// waits for them. It does not know what processors, sockets and other programs add;
// [Advice.Unknown] says so, and [Advice.Measure] is the command that measures it.
//
// The same question has the same answer, byte for byte.
package advise

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"dmebench/dme"
	"dmebench/internal/experiment"
	"dmebench/internal/runtime/run"
	"dmebench/report/rank"
	"dmebench/runs"
	"dmebench/transport/link"
	"dmebench/workload"
)

// Question is what is asked for.
type Question struct {
	Nodes         int           `json:"nodes"`
	Rate          float64       `json:"rate_per_s"` // requests of the whole system; 0 if all ask all the time
	CS            string        `json:"cs"`
	Delay         time.Duration `json:"delay_ns"`          // T, of a message one way
	Law           string        `json:"delay_law"`         // constant, uniform or exponential
	DelayMeasured bool          `json:"delay_measured"`    // measured between processes of this machine, not given
	Sites         string        `json:"sites,omitempty"`   // where the nodes are, as option sites has it; "" for one place
	Place         string        `json:"place,omitempty"`   // the place of each node
	Transport     string        `json:"transport"`         // over which it is going to run
	Survive       []string      `json:"survive,omitempty"` // crash, restart, pause, partition: what the others must be served after
	Metric        string        `json:"metric,omitempty"`  // the deciding metric; "" for what suits the load
	Repetitions   int           `json:"repetitions"`
	Seed          uint64        `json:"seed"`
}

// Advice is the answer.
type Advice struct {
	SchemaVersion int           `json:"schema_version"`
	Question      Question      `json:"question"`
	Requests      int           `json:"requests"` // of each run
	Failures      []Failure     `json:"failures"` // what the candidates do when a node fails
	IfNodesFail   string        `json:"if_nodes_fail"`
	Choose        string        `json:"choose"` // "" if nothing can be said
	Why           string        `json:"why"`
	Sure          []string      `json:"sure"`    // how sure that is
	Behind        []string      `json:"behind"`  // entrants that cannot serve that many requests
	Unknown       []string      `json:"unknown"` // to the simulation
	Measure       string        `json:"measure"` // the command that measures it
	LeftOut       []LeftOut     `json:"left_out"`
	Ranking       *rank.Ranking `json:"ranking"`
	Measured      *rank.Ranking `json:"measured,omitempty"` // lock services, in a program that has some, and the chosen one

	// Capacity is how many entries per second each algorithm makes if every node always waits; absent
	// if no rate was asked for.
	Capacity map[string]float64 `json:"capacity_per_s,omitempty"`

	contest *rank.Contest
	set     *runs.Set
}

// LeftOut is algorithms that were not simulated, for one reason.
type LeftOut struct {
	Algorithms []string `json:"algorithms"`
	Why        string   `json:"why"`
}

// Options are the circumstances in which a question is answered.
type Options struct {
	Catalog     run.Catalog // the algorithms, and behind them lock services
	Run         experiment.Runner
	ReadFile    func(string) ([]byte, error)
	Progress    io.Writer // nil for silence
	Interactive bool      // Progress is a terminal
}

const (
	most  = 3000 // requests of a run
	least = 500
	each  = 400_000 // messages of a run, approximately

	endless = 2_000_000 // messages of a token that never rests, at most
)

// Check returns everything that is wrong with a question.
func (q *Question) Check() error {
	var errs []error
	wrong := func(bad bool, format string, args ...any) {
		if bad {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	wrong(q.Nodes < 2 || q.Nodes > run.MaxNodes, "--nodes %d: want at least 2, since a single node never waits, and at most %d",
		q.Nodes, run.MaxNodes)
	wrong(q.Rate < 0, "a rate of %v: want one above 0", q.Rate)
	wrong(q.Delay <= 0, "a delay of %v: want one above 0", q.Delay)
	for _, what := range q.Survive {
		wrong(!slices.Contains(survivable, what), "--survive %s: want some of %s", what, strings.Join(survivable, ", "))
	}
	wrong(q.Repetitions < 1, "%d repetitions: want at least 1", q.Repetitions)
	if _, err := workload.ParseDistribution(q.CS); err != nil {
		wrong(true, "critical section %q: %w; want a duration such as 2ms or exp:2ms", q.CS, err)
	}
	if n, err := run.LookupNetwork(q.Transport); err != nil {
		errs = append(errs, err)
	} else {
		wrong(!n.Real(), "%s is used to find the answer; name the network that the system will run over", q.Transport)
	}
	if q.Metric != "" {
		m, err := runs.FindMetric(q.Metric)
		if err == nil {
			q.Metric = m.Name
			_, err = rank.Options{Metrics: []string{m.Name}}.Check()
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// located is where the nodes are, as settings of a network.
func (q *Question) located() map[string]string {
	set := map[string]string{link.SitesOption: q.Sites, link.PlaceOption: q.Place}
	maps.DeleteFunc(set, func(_, value string) bool { return value == "" })
	return set
}

// Ask answers a question, which has been checked.
func Ask(ctx context.Context, q Question, opt Options) (*Advice, error) {
	a := &Advice{
		SchemaVersion: 1, Question: q, Requests: max(least, min(most, each/max(1, 2*q.Nodes))),
		Failures: []Failure{}, Sure: []string{}, Behind: []string{}, LeftOut: []LeftOut{},
	}
	names, err := a.entrants(opt)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return a, nil
	}
	a.Failures = failures(names)
	if a.set, err = a.simulate(ctx, names, opt, runs.Workload{Requests: a.Requests}, q.Repetitions); err != nil {
		return nil, err
	}
	if err := a.saturate(ctx, names, opt); err != nil {
		return nil, err
	}
	if a.Ranking, err = rank.Of(a.set, rank.Options{Metrics: a.columns()}); err != nil {
		return nil, err
	}
	a.Ranking.Name, a.Ranking.Bounds = "simulation", true
	if len(a.Ranking.Contests) > 0 {
		a.contest = &a.Ranking.Contests[0]
	}
	a.conclude()
	return a, a.measure(ctx, opt)
}

// columns are those of the ranking, with what was asked for in front.
func (a *Advice) columns() []string {
	metric := a.Question.Metric
	if metric == "" {
		return nil
	}
	rest := slices.DeleteFunc(rank.DefaultMetrics(), func(name string) bool { return name == metric })
	return append([]string{metric}, rest...)
}

func (a *Advice) spec(name string) runs.Spec {
	q := &a.Question
	s := runs.Spec{Algorithm: name, Nodes: q.Nodes, Transport: q.Transport, CS: q.CS, Requests: a.Requests, Seed: q.Seed}
	s.Workload = "saturate"
	if q.Rate > 0 {
		s.Workload, s.TotalRate = "poisson", q.Rate
	}
	s.Set = q.located()
	return s
}

func (a *Advice) entrants(opt Options) (names []string, err error) {
	out := func(algorithm *dme.Algorithm, format string, args ...any) {
		why := strings.TrimPrefix(fmt.Sprintf(format, args...), algorithm.Name+" ")
		k := slices.IndexFunc(a.LeftOut, func(l LeftOut) bool { return l.Why == why })
		if k < 0 {
			k, a.LeftOut = len(a.LeftOut), append(a.LeftOut, LeftOut{Why: why})
		}
		a.LeftOut[k].Algorithms = append(a.LeftOut[k].Algorithms, algorithm.Name)
	}
	for _, algorithm := range opt.Catalog.Algorithms() {
		if algorithm.AsPublished {
			continue
		}
		if why := a.Question.fails(algorithm); why != "" {
			out(algorithm, "%s", why)
			continue
		}
		job, err := run.Resolve(a.spec(algorithm.Name), opt.Catalog, opt.ReadFile)
		var cannot *run.CannotRun
		switch {
		case errors.As(err, &cannot):
			out(algorithm, "%v", cannot.Why)
			continue
		case err != nil:
			return nil, err
		}
		if hops := a.hops(); algorithm.Endless(job.Options) && hops > endless {
			out(algorithm, "its token circulates all the time: %.0f messages per entry at this rate", hops/float64(a.Requests))
			continue
		}
		names = append(names, algorithm.Name)
	}
	return names, nil
}

// hops is how many messages a token that never rests takes one after the other in a run.
func (a *Advice) hops() float64 {
	if a.Question.Rate == 0 {
		return 0
	}
	return float64(a.Requests) / a.Question.Rate / a.Question.Delay.Seconds()
}

func (a *Advice) simulate(ctx context.Context, names []string, opt Options, w runs.Workload, repetitions int) (*runs.Set, error) {
	return a.carryOut(ctx, opt, w, runs.Experiment{
		Name: "advise", Algorithms: experiment.Entries(names), Transports: experiment.Entries([]string{runs.Sim}), Repetitions: repetitions,
	}, map[string]string{"t": a.Question.Delay.String(), "delay": a.Question.Law})
}

// saturate finds out what each algorithm can serve: at a higher rate every node comes to wait always.
func (a *Advice) saturate(ctx context.Context, names []string, opt Options) error {
	if a.Question.Rate == 0 {
		return nil
	}
	opt.Progress, opt.Interactive = nil, false // takes a fraction of the time
	set, err := a.simulate(ctx, names, opt, runs.Workload{Name: "saturate", Requests: a.Requests}, 1)
	if err != nil {
		return err
	}
	a.Capacity = make(map[string]float64)
	for _, r := range set.Runs {
		if x := r.Result.Throughput; x != nil && runs.Usable(r.Result) {
			a.Capacity[r.Label] = *x
		}
	}
	return nil
}

// carryOut makes the runs of an experiment, on as many nodes as were asked for and under such a
// load, or the one that w names. w says how long they are.
func (a *Advice) carryOut(ctx context.Context, opt Options, w runs.Workload, e runs.Experiment, set map[string]string) (*runs.Set, error) {
	s := a.spec("")
	if w.CS = s.CS; w.Name == "" {
		w.Name, w.TotalRate = s.Workload, s.TotalRate
	}
	e.Nodes, e.Seed, e.SkipInvalid, e.Workloads = []int{s.Nodes}, s.Seed, true, runs.List[runs.Workload]{w}
	maps.Copy(set, s.Set)
	file, err := experiment.Matrix(e, set, opt.Catalog)
	if err != nil {
		return nil, err
	}
	return experiment.Measure(ctx, file, experiment.Options{
		Catalog: opt.Catalog, ReadFile: opt.ReadFile, Progress: opt.Progress, Interactive: opt.Interactive,
		Environment: map[string]string{}, Run: opt.Run,
	})
}
