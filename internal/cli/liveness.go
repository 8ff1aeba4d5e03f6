package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"dmebench/dme"
	"dmebench/internal/platform/environment"
	"dmebench/internal/search/check"
)

// whyNotWithLiveness are the flags that do not go with --liveness, and why.
var whyNotWithLiveness = map[string]string{
	"exhaustive":  "which visits every state too",
	"requests":    "which lets every node ask any number of times",
	"schedules":   "which takes all schedules there are",
	"adversary":   "which takes all schedules there are",
	"sites":       "which takes all schedules there are",
	"agents":      "which is not divided among hosts",
	"bypass":      "which bounds no overtaking: that is the question",
	"duplicate":   "which assumes that every message arrives once",
	"lose":        "which assumes that every message arrives",
	"faults":      "which assumes that no node fails",
	"requesters":  "in which every node may ask",
	"safety-only": "which looks for a node that waits for ever",
}

func (p *program) liveness(c *cli.Context, a *dme.Algorithm, options check.Options, _ *files) (*searched, error) {
	bar := p.counter(c.Bool("quiet"), 0, "states")
	options.Progress = bar.Set
	search, picture, err := newSearch(c, a, options)
	if err != nil {
		return nil, err
	}
	defer check.CollectBelow(options.Memory)()
	found, err := search.Liveness(c.Context)
	bar.Done()
	if err != nil {
		return nil, err
	}
	x := check.NewLivenessResult(a, options, search, found)
	x.LinksBy = linksBy(c)
	return &searched{search, found.Report, x, picture}, nil
}

// notWithProve are the flags of a single search.
var notWithProve = []string{
	"schedules", "exhaustive", "liveness", "seed", "requests", "requesters", "in-flight", "fifo", "duplicate", "lose", "faults", "adversary",
	"bypass", "safety-only", "invariants", "reduce", "bitstate", "svg", "out", "save", "agents",
}

// prove searches all states of more and more nodes that request without limit. If a search is
// complete, the algorithm is proven for that number of nodes: two nodes are never in the critical
// section together, and no node waits for ever if every message arrives and every critical section
// ends. If there are too many states, or infinitely many, each node makes a limited number of
// requests.
func (p *program) prove(c *cli.Context) error {
	files := newFiles()
	algorithms, options, err := p.proofsOf(c)
	if err != nil {
		return err
	}
	options.ReadFile = files.read
	ctx := c.Context
	if c.IsSet("for") {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.Duration("for"))
		defer cancel()
	}
	defer check.CollectBelow(options.Memory)()
	bar := p.counter(c.Bool("quiet"), uint64(len(algorithms)), "algorithms")
	defer bar.Done()
	options.Progress = bar.Describe
	options.Done = func(n int) { bar.Set(uint64(n)) }
	results, err := check.Prove(ctx, algorithms, options)
	if err != nil {
		return failWith(Unknown, err)
	}
	for _, r := range results {
		if r.Refuted != nil && !r.AsPublished {
			p.exit = Broken
		}
	}
	bar.Done()
	begun := map[string]bool{}
	for _, r := range results {
		begun[r.Algorithm] = true
	}
	if left := len(algorithms) - len(begun); left > 0 && c.Context.Err() == nil {
		fmt.Fprintf(p.stderr, "dmebench: warning: %d of %d algorithms were not begun within %v\n", left, len(algorithms), c.Duration("for"))
	}
	return p.printProofs(c, results)
}

func (p *program) printProofs(c *cli.Context, results []check.Proven) error {
	return p.print(c, "result", results, func() error {
		if c.Bool("markdown") {
			return check.ProofTable(results).WriteMarkdown(p.stdout)
		}
		err := check.ProofTable(results).WriteFitted(p.stdout, p.printed().Width)
		if err == nil {
			_, err = io.WriteString(p.stdout, "\n"+proofLegend)
		}
		return err
	})
}

const proofLegend = "PROVEN: all states with requests without limit, no starvation under fairness.\n" +
	"NEVER SENT: messages never sent in the largest proof, which says nothing about them.\n" +
	"SEARCHED WHOLE: nodes × requests of each, all states, no violation.\n"

func (p *program) proofsOf(c *cli.Context) ([]*dme.Algorithm, check.ProofOptions, error) {
	wrong := checkNumbers(c)
	for _, name := range given(c, notWithProve...) {
		wrong.when(true, "--%s does not go with --prove, which searches all states; leave one out", name)
	}
	nodes := cmp.Or(c.Int("nodes"), check.DefaultProofNodes)
	wrong.when(nodes < 2 || c.IsSet("nodes") && c.Int("nodes") < 2, "--nodes %d: there must be at least 2", c.Int("nodes"))
	wrong.when(c.Bool("json") && c.Bool("markdown"), "--json and --markdown: one of them")
	memory, set := memoryFor(c, &wrong), settingsOf(c, &wrong)
	names := listed(c.StringSlice("algorithm"))
	wrong.when(len(set) > 0 && len(names) != 1, "--set: name the one algorithm whose option that is")
	algorithms := []*dme.Algorithm(p.catalog.Algorithms())
	if names != nil {
		algorithms = nil
	}
	for _, name := range names {
		a, err := p.catalog.Lookup(name)
		algorithms = append(algorithms, a)
		wrong.add(err)
	}
	if err := wrong.err(); err != nil {
		return nil, check.ProofOptions{}, err
	}
	return algorithms, check.ProofOptions{
		Nodes: nodes, Each: c.Int("each"), States: cmp.Or(c.Uint64("states"), check.DefaultProofStates), Memory: memory, Set: set,
	}, nil
}

// memoryFor returns how much memory an exhaustive search may hold, 0 if neither the user nor the
// machine says.
func memoryFor(c *cli.Context, wrong *refusals) check.Bytes {
	if !c.IsSet("memory") {
		return check.Bytes(environment.AvailableMemory() / 4 * 3)
	}
	size, err := check.ParseBytes(c.String("memory"))
	wrong.when(err != nil, "--memory: %w", err)
	return size
}
