// Package prove finds out for how many nodes an algorithm can be proven right,
// and how far it can be searched where it cannot.
//
// A proof here is a search of all states in which nodes ask without limit: no
// state breaks safety, and no fair cycle of states lets a node wait for ever. It
// exists where the states are finite up to a common shift of the clocks, and it
// is a proof for that number of nodes and those options alone. Elsewhere each
// node asks a given number of times, which is a search and not a proof.
package prove

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"dmebench/dme"
	"dmebench/internal/search/check"
)

// Options bounds the searches. The zero value of each is its default, but for
// Memory and Time, which then have no bound.
type Options struct {
	Nodes   int         // the most; 0: DefaultNodes
	Each    int         // the most requests a node where they are limited; 0: DefaultEach
	States  uint64      // of a search, and of up to 3 nodes up to 20 times as many; 0: DefaultStates
	Memory  check.Bytes // of each search
	Workers int         // searches at a time, each on one processor; 0: as many as there are processors

	// Set is the algorithm's options that differ from their defaults.
	Set      map[string]string
	ReadFile func(name string) ([]byte, error)

	// Progress is called before each search, with what it searches, from any
	// goroutine.
	Progress func(what string)
	// Done is called with how many algorithms are done, by one goroutine at a time.
	Done func(algorithms int)
}

// Defaults of [Options].
const (
	DefaultNodes  = 5
	DefaultEach   = 3
	DefaultStates = 2_000_000
)

// Few nodes are worth more patience: where up to patientNodes nodes are proven only
// with few messages on a link, the weakest links are tried again with patience times
// as many states, unless one can be made to hold endless messages.
const (
	patientNodes = 3
	patience     = 20
	endless      = 32
)

// Result is what is known of an algorithm.
type Result struct {
	Algorithm   string            `json:"algorithm"`
	AsPublished bool              `json:"as_published"`
	Set         map[string]string `json:"set,omitempty"`
	Links       Links             `json:"links"` // the weakest that it says it can bear

	// Proven are the numbers of nodes for which a search of all states, with
	// requests without limit, came to its end and found nothing.
	Proven []Proof `json:"proven,omitempty"`
	// Refuted is the first violation, of requests with or without a limit.
	Refuted *Refutation `json:"refuted,omitempty"`
	// Searched is, for each number of nodes, the most requests a node that could
	// be searched whole without finding anything.
	Searched []Budget `json:"searched,omitempty"`
	// Limit says what ended the search for a proof of more nodes.
	Limit string `json:"limit,omitempty"`

	Elapsed time.Duration `json:"elapsed_ns"`
}

// Proof is a search of all states with requests without limit.
type Proof struct {
	Nodes  int    `json:"nodes"`
	Links  Links  `json:"links"`
	States uint64 `json:"states"`
	// NeverSent are kinds of messages that no schedule sends: the proof says nothing of
	// what comes of them.
	NeverSent []string `json:"never_sent,omitempty"`
}

// Links says between what links something holds.
type Links struct {
	Ordered  bool `json:"ordered"`             // they keep order
	InFlight int  `json:"in_flight,omitempty"` // nobody asks who would put more on one; 0: they hold any number
}

// Refutation is a violation.
type Refutation struct {
	Nodes    int    `json:"nodes"`
	Links    Links  `json:"links"`
	Each     int    `json:"each"` // requests a node; 0: without limit
	Property string `json:"property"`
	Prefix   int    `json:"prefix"`         // steps of the way in, or of the whole counterexample
	Loop     int    `json:"loop,omitempty"` // steps that can repeat for ever; 0: there is no loop
}

// Budget is a search of all states with limited requests.
type Budget struct {
	Nodes   int    `json:"nodes"`
	Links   Links  `json:"links"`
	Each    int    `json:"each"` // requests a node
	States  uint64 `json:"states"`
	Reduced bool   `json:"reduced"` // by partial-order reduction
}

// All does what [Algorithm] does for each of the algorithms, several at a time, under
// each of the settings that are searched ([check.Settings]), and returns the results in
// their order, of which those are left out that ctx ended before they began. It
// stops at the first error.
func All(ctx context.Context, algorithms []*dme.Algorithm, o Options) ([]Result, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	o.Memory /= check.Bytes(min(o.Workers, len(algorithms)))
	results := make([][]Result, len(algorithms))
	var next, done atomic.Int64
	var mu sync.Mutex
	var searchers sync.WaitGroup
	for range min(o.Workers, len(algorithms)) {
		searchers.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1) - 1)
				if i >= len(algorithms) {
					return
				}
				for _, set := range check.Settings(algorithms[i], cmp.Or(o.Nodes, DefaultNodes), o.Set) {
					one := o
					one.Set = set
					r, err := Algorithm(ctx, algorithms[i], one)
					if err != nil {
						cancel(fmt.Errorf("%s: %w", algorithms[i].Name, err))
						return
					}
					results[i] = append(results[i], r)
				}
				mu.Lock()
				if o.Done != nil {
					o.Done(int(done.Add(1)))
				}
				mu.Unlock()
			}
		})
	}
	searchers.Wait()
	if err := context.Cause(ctx); err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		return nil, err
	}
	return slices.Concat(results...), nil
}

// Algorithm searches a on one processor, first with requests without limit for more
// and more nodes, then with limited ones where there was no proof. It ends early
// with what it has when ctx does. An error says that a search itself is wrong, or
// that the options are.
func Algorithm(ctx context.Context, a *dme.Algorithm, o Options) (Result, error) {
	start := time.Now()
	if o.Nodes == 0 {
		o.Nodes = DefaultNodes
	}
	if o.Each == 0 {
		o.Each = DefaultEach
	}
	if o.States == 0 {
		o.States = DefaultStates
	}
	p := prover{Options: o, algorithm: a, result: Result{Algorithm: a.Name, AsPublished: a.AsPublished, Set: o.Set}}
	if err := p.prepare(); err != nil {
		return p.result, err
	}
	err := p.unlimited(ctx)
	if err == nil && p.result.Refuted == nil {
		err = p.limited(ctx)
	}
	p.result.Elapsed = time.Since(start)
	return p.result, err
}

type prover struct {
	Options
	algorithm *dme.Algorithm
	sizes     []int // numbers of nodes that the algorithm can have, from two on
	result    Result
}

func (p *prover) prepare() error {
	opt, err := p.algorithm.Resolve(p.Set)
	if err != nil {
		return err
	}
	p.result.Links.Ordered = p.algorithm.Needs(opt).FIFO
	for n := 2; n <= p.Nodes; n++ {
		if err = p.algorithm.CheckNodes(n, opt); err == nil {
			p.sizes = append(p.sizes, n)
		}
	}
	if p.sizes == nil {
		return fmt.Errorf("%s has no system of 2 to %d nodes: %w", p.algorithm.Name, p.Nodes, err)
	}
	return nil
}

// proves searches for a proof, nil where it finds none, and notes what it finds
// instead.
func (p *prover) proves(ctx context.Context, nodes int, links Links) (*Proof, error) {
	s, err := p.search(nodes, 0, links, p.States)
	if err != nil {
		return nil, err
	}
	return p.ends(ctx, s, nodes, links)
}

// ends takes a search to its end.
func (p *prover) ends(ctx context.Context, s *check.Search, nodes int, links Links) (*Proof, error) {
	found, err := s.Liveness(ctx)
	switch {
	case err != nil:
	case found.Violation != nil:
		p.refuted(nodes, links, found)
	case found.Proven: // messages may be refused in schedules that only the classes of states have
		return &Proof{nodes, links, found.States, found.NeverSent}, nil
	default:
		p.result.Limit = fmt.Sprintf("%d nodes: %s", nodes, found.Stopped)
	}
	return nil, err
}

// search prepares a search in which each node asks a number of times; 0: without
// limit.
func (p *prover) search(nodes, each int, links Links, states uint64) (*check.Search, error) {
	if p.Progress != nil {
		load := "requests without limit"
		if each > 0 {
			load = fmt.Sprintf("%d a node", each)
		}
		p.Progress(fmt.Sprintf("%s, %d nodes, %s", p.algorithm.Name, nodes, load))
	}
	return check.New(p.algorithm, check.Options{
		Nodes: nodes, Requests: each * nodes, Unlimited: each == 0, InFlight: links.InFlight, Unordered: !links.Ordered,
		// Invariants read more than a reduced search preserves.
		Reduce: each > 0, WithoutInvariants: each > 0,
		Set: p.Set, ReadFile: p.ReadFile, States: states, Memory: p.Memory, Workers: 1,
	})
}

// crowded is how many messages a link holds at most where the states are
// infinite without a bound: a sender that waits for no answer may fill it.
const crowded = 2

// linksFor are the links on which a proof is tried, the weakest that the algorithm
// can bear first.
func linksFor(weakest Links) []Links {
	links := []Links{weakest}
	if !weakest.Ordered {
		links = append(links, Links{Ordered: true})
	}
	for most := crowded; most > 0; most-- {
		links = append(links, Links{Ordered: true, InFlight: most})
	}
	return links
}

// unlimited searches for proofs: for each number of nodes on the weakest links
// that the algorithm can bear, and then on better ones.
func (p *prover) unlimited(ctx context.Context) error {
	links := linksFor(p.result.Links)
	for _, nodes := range p.sizes {
		var proof *Proof
		for len(links) > 0 && proof == nil && ctx.Err() == nil {
			var err error
			if proof, err = p.proves(ctx, nodes, links[0]); err != nil || p.result.Refuted != nil {
				return err
			}
			if proof == nil {
				links = links[1:] // more nodes have more states
			}
		}
		if proof == nil {
			return nil
		}
		if proof.Links.InFlight > 0 && nodes <= patientNodes && ctx.Err() == nil {
			better, err := p.patient(ctx, nodes)
			if err != nil || p.result.Refuted != nil {
				return err
			}
			proof = cmp.Or(better, proof)
		}
		p.result.Proven = append(p.result.Proven, *proof)
	}
	p.result.Limit = ""
	return nil
}

// patient searches the weakest links for longer, where the states are not likely
// infinite.
func (p *prover) patient(ctx context.Context, nodes int) (*Proof, error) {
	s, err := p.search(nodes, 0, p.result.Links, patience*p.States)
	if err != nil || s.Backlog(endless) == endless {
		return nil, err
	}
	return p.ends(ctx, s, nodes, p.result.Links)
}

func (p *prover) refuted(nodes int, links Links, found check.LivenessResult) {
	f := &Refutation{Nodes: nodes, Links: links, Property: string(found.Violation.Property)}
	switch {
	case found.Lasso != nil:
		f.Prefix, f.Loop = len(found.Lasso.Prefix), len(found.Lasso.Loop)
		f.Property = string(found.Verdict)
	case found.Trace != nil:
		f.Prefix = len(found.Trace.Events)
	}
	p.result.Refuted = f
}

// limited searches with one request a node, two, and so on, for each number of
// nodes that is not proven.
func (p *prover) limited(ctx context.Context) error {
	for _, nodes := range p.sizes[len(p.result.Proven):] {
		best, err := p.budget(ctx, nodes)
		if err != nil || best == nil || p.result.Refuted != nil {
			return err // more nodes have more states
		}
		p.result.Searched = append(p.result.Searched, *best)
	}
	return nil
}

// budget returns the most requests a node that can be searched whole, nil where
// not even one can.
func (p *prover) budget(ctx context.Context, nodes int) (best *Budget, err error) {
	for each := 1; each <= p.Each && ctx.Err() == nil; each++ {
		s, err := p.search(nodes, each, p.result.Links, p.States)
		if err != nil {
			return nil, err
		}
		report, err := s.Exhaustive(ctx)
		switch {
		case err != nil:
			return nil, err
		case report.Violation != nil:
			p.result.Refuted = &Refutation{
				Nodes: nodes, Links: p.result.Links, Each: each, Property: string(report.Violation.Property), Prefix: len(report.Trace.Events),
			}
			return best, nil
		case report.Refused > 0:
			return nil, report.Err()
		case !report.Complete:
			return best, nil
		}
		best = &Budget{Nodes: nodes, Links: p.result.Links, Each: each, States: report.States, Reduced: report.Reduced}
	}
	return best, nil
}
