package commandline

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"dmebench/dme"
	"dmebench/dme/vnet"
	"dmebench/internal/check"
	"dmebench/result"
)

// whyNotWithLiveness are the flags that do not go with --liveness, and why.
var whyNotWithLiveness = map[string]string{
	"exhaustive":  "which visits every state too",
	"requests":    "which lets every node ask any number of times",
	"schedules":   "which takes all schedules there are",
	"adversary":   "which takes all schedules there are",
	"agents":      "which is not divided among hosts",
	"bypass":      "which bounds no overtaking: that is the question",
	"duplicate":   "which asks what happens where every message arrives once",
	"lose":        "which asks what happens where every message arrives",
	"faults":      "which asks what happens where no node fails",
	"safety-only": "which asks who waits for ever",
}

// liveness is 'check --liveness'.
func (p *program) liveness(c *cli.Context, a *dme.Algorithm, options check.Options, _ *files) (*searched, error) {
	bar := p.counter(c.Bool("quiet"), 0, "states")
	options.Progress = bar.Set
	search, picture, err := newSearch(c, a, options)
	if err != nil {
		return nil, err
	}
	defer collectBelow(options.Memory)()
	found, err := search.Liveness(c.Context)
	bar.Done()
	if err != nil {
		return nil, err
	}
	x := newLivenessResult(a, options, search, found)
	x.LinksBy = linksBy(c)
	return &searched{search, check.Report{Violation: found.Violation, Trace: found.Trace, Seed: options.Seed}, x, picture}, nil
}

// newLivenessResult says what was found out.
func newLivenessResult(a *dme.Algorithm, o check.Options, s *check.Search, r check.LivenessResult) *checkResult {
	x := &checkResult{
		SchemaVersion: result.SchemaVersion, Algorithm: a.Name, Set: o.Set, Nodes: o.Nodes, Search: "liveness",
		FIFO: !o.Unordered, InFlight: o.InFlight, Seed: o.Seed, Status: "ok", Complete: r.Verdict != check.Incomplete, Stopped: r.Stopped,
		States: &r.States, Depth: &r.Depth, NeverSent: r.NeverSent,
		Steps: r.Steps, Refused: r.Refused, Refusal: r.Refusal, ElapsedS: r.Elapsed.Seconds(), Workers: 1,
		Proven: &r.Proven, Finding: string(r.Verdict), Waiting: r.Node, Components: &r.Components, Lasso: nil,
		Trace: []string{}, Schedule: []string{}, NodeStates: []string{}, Notes: s.Notes(),
	}
	if seconds := r.Elapsed.Seconds(); seconds > 0 {
		rate := float64(r.States) / seconds
		x.PerSecond = &rate
	}
	switch r.Verdict {
	case check.Holds:
	case check.Incomplete:
		x.Status = "incomplete"
	case check.Unsafe, check.Starved:
		x.Status = "violated"
	default:
		x.Status = "stalled"
	}
	if r.Violation != nil {
		x.Property, x.Verdict, x.Replay = r.Violation.Property, r.Violation.Verdict, livenessCommand(x, o, check.Defaults(a, o.Nodes, o.Set))
	}
	if r.Lasso != nil {
		x.Lasso = &lasso{Prefix: names(r.Lasso.Prefix), Loop: names(r.Lasso.Loop)}
	}
	if r.Trace != nil {
		x.Trace, x.NodeStates, x.Why, x.Schedule = r.Trace.Lines(), r.Trace.States, r.Trace.Why(), names(r.Trace.Steps())
	}
	return x
}

func names(steps []vnet.Step) []string {
	all := make([]string, len(steps))
	for i, x := range steps {
		all[i] = x.String()
	}
	return all
}

// livenessCommand is the command line that finds the same again.
func livenessCommand(x *checkResult, o, defaults check.Options) string {
	b := []string{"dmebench check --algorithm", x.Algorithm, "--nodes", strconv.Itoa(o.Nodes), "--liveness"}
	for _, name := range slices.Sorted(maps.Keys(o.Set)) {
		b = append(b, "--set "+name+"="+o.Set[name])
	}
	if o.Unordered != defaults.Unordered {
		b = append(b, "--fifo="+strconv.FormatBool(!o.Unordered))
	}
	if o.WithoutInvariants {
		b = append(b, "--invariants=false")
	}
	if o.InFlight > 0 {
		b = append(b, "--in-flight", strconv.Itoa(o.InFlight))
	}
	if o.Seed != result.DefaultSeed {
		b = append(b, "--seed", strconv.FormatUint(o.Seed, 10))
	}
	return strings.Join(b, " ")
}

// proof is what a person is told of a search for liveness that found nothing.
func (x *checkResult) proof() string {
	who := fmt.Sprintf("for %d nodes that ask any number of times", x.Nodes)
	if x.InFlight > 0 {
		who += fmt.Sprintf(", but only where a link then holds no more than %d", x.InFlight)
	}
	return "proven " + who + ": every property holds in every state, and every request is served in every fair schedule"
}
