package check

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"dmebench/dme"
	"dmebench/internal/platform/layout"
	"dmebench/runs"
	"dmebench/units"
)

// ProofOptions bounds the searches of [Prove]; zero is the default, of Memory no bound.
type ProofOptions struct {
	Nodes   int    // the most; 0: DefaultProofNodes
	Each    int    // the most requests a node if they are limited; 0: DefaultProofRequests
	States  uint64 // of a search, and of up to 3 nodes up to 20 times as many; 0: DefaultProofStates
	Memory  Bytes  // of all searches that run at a time
	Workers int    // searches at a time, each on one processor; 0: as many as there are processors

	Set      map[string]string // the algorithm's options that differ from their defaults
	ReadFile func(name string) ([]byte, error)

	// Progress is called before each search, with what it searches, from any goroutine.
	Progress func(what string)
	// Done is called with how many algorithms are done, by one goroutine at a time.
	Done func(algorithms int)
}

const (
	DefaultProofNodes    = 5
	DefaultProofRequests = 3
	DefaultProofStates   = 2_000_000
)

// Few nodes are worth more patience: if up to patientNodes nodes are proven only with few messages
// on a link, the weakest links are tried again with patience times as many states, unless one can
// be made to hold endless messages.
const (
	patientNodes = 3
	patience     = 20
	endless      = 32
)

// crowded is how many messages a link holds at most if the states are infinite without a bound: a
// sender that waits for no answer may fill it.
const crowded = 2

// Proven is for how many nodes an algorithm is proven, and how far it is searched beyond.
type Proven struct {
	Algorithm   string            `json:"algorithm"`
	AsPublished bool              `json:"as_published"`
	Set         map[string]string `json:"set,omitempty"`
	Links       ProofLinks        `json:"links"` // the weakest that it declares to support

	// Proven are the numbers of nodes for which all states, without a limit of requests, were searched.
	Proven []Proof `json:"proven,omitempty"`
	// Refuted is the first violation, of requests with or without a limit.
	Refuted *Refutation `json:"refuted,omitempty"`
	// Searched is, by nodes, the most requests a node that could be searched completely.
	Searched []Budget `json:"searched,omitempty"`
	// Limit says what ended the search for a proof of more nodes.
	Limit string `json:"limit,omitempty"`

	Elapsed time.Duration `json:"elapsed_ns"`
}

// Proof is a complete search of all states with requests without limit.
type Proof struct {
	Nodes  int        `json:"nodes"`
	Links  ProofLinks `json:"links"`
	States uint64     `json:"states"`
	// NeverSent are kinds of messages about whose handling the proof says nothing.
	NeverSent []string `json:"never_sent,omitempty"`
}

type ProofLinks struct {
	Ordered  bool `json:"ordered"`             // the links keep order
	InFlight int  `json:"in_flight,omitempty"` // no request that would put more on one; 0: they hold any number
}

type Refutation struct {
	Nodes    int        `json:"nodes"`
	Links    ProofLinks `json:"links"`
	Each     int        `json:"each"` // requests a node; 0: without limit
	Property string     `json:"property"`
	Prefix   int        `json:"prefix"`         // steps of the way in, or of the whole counterexample
	Loop     int        `json:"loop,omitempty"` // steps that can repeat for ever; 0: there is no loop
}

// Budget is a complete search of all states with limited requests.
type Budget struct {
	Nodes   int        `json:"nodes"`
	Links   ProofLinks `json:"links"`
	Each    int        `json:"each"` // requests a node
	States  uint64     `json:"states"`
	Reduced bool       `json:"reduced"` // by partial-order reduction
}

// Prove finds out for how many nodes each of the algorithms can be proven right, and how far it can
// be searched if it cannot: first with requests without limit for more and more nodes, then with
// limited ones if there was no proof. A proof is a search of all states in which nodes ask without
// limit ([Search.Liveness]); it exists if the states are finite up to a common shift of the clocks,
// for that number of nodes and those options alone.
//
// Several algorithms are searched at a time, each under every setting that [Settings] names. The
// results are in the order of the algorithms; those that ctx ended before they began are left out.
// An error says that a search itself is wrong, or that the options are; the first one ends all.
func Prove(ctx context.Context, algorithms []*dme.Algorithm, o ProofOptions) ([]Proven, error) {
	o.Nodes, o.Each = cmp.Or(o.Nodes, DefaultProofNodes), cmp.Or(o.Each, DefaultProofRequests)
	o.States, o.Workers = cmp.Or(o.States, DefaultProofStates), cmp.Or(o.Workers, runtime.GOMAXPROCS(0))
	o.Memory /= Bytes(min(o.Workers, len(algorithms)))
	results := make([][]Proven, len(algorithms))
	var mu sync.Mutex
	done := 0
	searchers, ctx := errgroup.WithContext(ctx)
	searchers.SetLimit(o.Workers)
	for i, a := range algorithms {
		searchers.Go(func() error {
			if ctx.Err() != nil {
				return nil
			}
			for _, set := range Settings(a, o.Nodes, o.Set) {
				r, err := proveUnder(ctx, a, set, o)
				if err != nil {
					return fmt.Errorf("%s: %w", a.Name, err)
				}
				results[i] = append(results[i], r)
			}
			mu.Lock()
			defer mu.Unlock()
			if done++; o.Done != nil {
				o.Done(done)
			}
			return nil
		})
	}
	if err := searchers.Wait(); err != nil {
		return nil, err
	}
	return slices.Concat(results...), nil
}

type prover struct {
	ProofOptions
	algorithm *dme.Algorithm
	sizes     []int // numbers of nodes that the algorithm can have, from two on
	result    Proven
}

func proveUnder(ctx context.Context, a *dme.Algorithm, set map[string]string, o ProofOptions) (Proven, error) {
	start := time.Now()
	p := prover{ProofOptions: o, algorithm: a, result: Proven{Algorithm: a.Name, AsPublished: a.AsPublished, Set: set}}
	opt, err := a.Resolve(set)
	if err != nil {
		return p.result, err
	}
	p.result.Links.Ordered = a.Needs(opt).FIFO
	for n := 2; n <= o.Nodes; n++ {
		if err = a.CheckNodes(n, opt); err == nil {
			p.sizes = append(p.sizes, n)
		}
	}
	if p.sizes == nil {
		return p.result, fmt.Errorf("%s has no system of 2 to %d nodes: %w", a.Name, o.Nodes, err)
	}
	if err = p.unlimited(ctx); err == nil && p.result.Refuted == nil {
		err = p.limited(ctx)
	}
	p.result.Elapsed = time.Since(start)
	return p.result, err
}

// search prepares a search in which each node asks a number of times; 0: without limit.
func (p *prover) search(nodes, each int, links ProofLinks, states uint64) (*Search, error) {
	if p.Progress != nil {
		p.Progress(fmt.Sprintf("%s, %d nodes, %s", p.algorithm.Name, nodes, load(each)))
	}
	// Invariants read more than a reduced search preserves. One may stand in for mutual exclusion.
	opt, _ := p.algorithm.Resolve(p.result.Set) // New refuses what is wrong with it
	bare := each > 0 && !p.algorithm.Fences(opt)
	s, err := New(p.algorithm, Options{
		Nodes: nodes, Requests: each * nodes, Unlimited: each == 0, InFlight: links.InFlight, Unordered: !links.Ordered,
		Reduce: bare, WithoutInvariants: bare,
		Set: p.result.Set, ReadFile: p.ReadFile, States: states, Memory: p.Memory, Workers: 1,
	})
	if err == nil {
		s.reducesFirst = true // how many states a size takes should not depend on others
	}
	return s, err
}

func load(each int) string {
	if each > 0 {
		return fmt.Sprintf("%d a node", each)
	}
	return "requests without limit"
}

// prove searches for a proof, nil if it finds none, and notes what it finds instead.
func (p *prover) prove(ctx context.Context, nodes int, links ProofLinks, states uint64) (*Proof, error) {
	s, err := p.search(nodes, 0, links, states)
	if err != nil || states > p.States && s.Backlog(endless) == endless {
		return nil, err // more patience is not worth while
	}
	found, err := s.Liveness(ctx)
	switch {
	case err != nil:
	case found.Violation != nil:
		p.result.Refuted = &Refutation{Nodes: nodes, Links: links, Property: string(found.Violation.Property)}
		if found.Lasso != nil {
			p.result.Refuted.Prefix, p.result.Refuted.Loop = len(found.Lasso.Prefix), len(found.Lasso.Loop)
			p.result.Refuted.Property = string(found.Verdict)
		} else if found.Trace != nil {
			p.result.Refuted.Prefix = len(found.Trace.Events)
		}
	case found.Verdict == Holds: // messages may be refused in schedules that only the classes of states have
		return &Proof{nodes, links, found.States, found.NeverSent}, nil
	default:
		p.result.Limit = fmt.Sprintf("%d nodes: %s", nodes, found.Stopped)
	}
	return nil, err
}

// unlimited searches for proofs, on the weakest links that the algorithm supports, then on better ones.
func (p *prover) unlimited(ctx context.Context) error {
	weakest := p.result.Links
	links := []ProofLinks{weakest}
	if !weakest.Ordered {
		links = append(links, ProofLinks{Ordered: true})
	}
	for most := crowded; most > 0; most-- {
		links = append(links, ProofLinks{Ordered: true, InFlight: most})
	}
	for _, nodes := range p.sizes {
		var proof *Proof
		var err error
		for len(links) > 0 && proof == nil && ctx.Err() == nil {
			if proof, err = p.prove(ctx, nodes, links[0], p.States); err != nil || p.result.Refuted != nil {
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
			better, err := p.prove(ctx, nodes, weakest, patience*p.States)
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

// limited searches with one request a node, two, and so on, for each number of
// nodes that is not proven, until not even one request a node can be searched.
func (p *prover) limited(ctx context.Context) error {
	for _, nodes := range p.sizes[len(p.result.Proven):] {
		var best *Budget
		for each := 1; each <= p.Each && ctx.Err() == nil; each++ {
			s, err := p.search(nodes, each, p.result.Links, p.States)
			if err != nil {
				return err
			}
			report, err := s.Exhaustive(ctx)
			switch {
			case err != nil:
				return err
			case report.Violation != nil:
				p.result.Refuted = &Refutation{
					Nodes: nodes, Links: p.result.Links, Each: each, Property: string(report.Violation.Property), Prefix: len(report.Trace.Events),
				}
				return nil
			case report.Refused > 0:
				return report.Err()
			}
			if !report.Complete {
				break
			}
			best = &Budget{Nodes: nodes, Links: p.result.Links, Each: each, States: report.States, Reduced: report.Reduced}
		}
		if best == nil {
			return nil // more nodes have more states
		}
		p.result.Searched = append(p.result.Searched, *best)
	}
	return nil
}

// ProofTable has a row for each result. Its cells do not depend on the machine, but
// for what a limit of memory or time ended.
func ProofTable(results []Proven) *layout.Table {
	t := layout.NewTable("ALGORITHM", "PROVEN", "STATES", "NEVER SENT", "SEARCHED WHOLE", "FOUND", "WHAT ENDED IT")
	for _, r := range results {
		var nodes, states, neverSent string
		for i, p := range r.Proven {
			nodes += fmt.Sprintf(", %d", p.Nodes)
			if last := i == len(r.Proven)-1; last || r.Proven[i+1].Links != p.Links {
				nodes += p.Links.beyond(r.Links)
			}
			states, neverSent = units.Count(p.States), strings.Join(p.NeverSent, ", ")
		}
		if nodes != "" {
			nodes = "N =" + strings.TrimPrefix(nodes, ",")
		}
		var searched []string // nodes and requests of each
		for _, b := range r.Searched {
			searched = append(searched, fmt.Sprintf("%d × %d", b.Nodes, b.Each))
		}
		dash := func(s string) string { return cmp.Or(s, "–") }
		t.Add(r.Name(), dash(nodes), dash(states), dash(neverSent), dash(strings.Join(searched, ", ")), r.Refuted.String(), dash(r.Limit))
	}
	return t
}

func (r *Proven) Name() string {
	name := strings.TrimSpace(r.Algorithm + " " + runs.Settings(r.Set))
	if r.AsPublished {
		name += " (known to be wrong)"
	}
	return name
}

func (l ProofLinks) beyond(other ProofLinks) string {
	switch {
	case l == other:
		return ""
	case l.InFlight == 1:
		return " (at most 1 message on a link)"
	case l.InFlight > 1:
		return fmt.Sprintf(" (at most %d messages on a link)", l.InFlight)
	}
	return " (links that keep order)"
}

func (f *Refutation) String() string {
	if f == nil {
		return "–"
	}
	steps := fmt.Sprintf("%d steps", f.Prefix)
	if f.Loop > 0 {
		steps += fmt.Sprintf(", then %d for ever", f.Loop)
	}
	return fmt.Sprintf("%s: N = %d, %s, %s", f.Property, f.Nodes, load(f.Each), steps)
}
