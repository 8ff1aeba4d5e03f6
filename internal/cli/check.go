package cli

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"dmebench/dme"
	"dmebench/internal/platform"
	"dmebench/internal/platform/fileio"
	"dmebench/internal/runtime/run"
	"dmebench/internal/search/check"
	"dmebench/internal/search/trace"
	"dmebench/runs"
	"dmebench/transport/link"
	"dmebench/units"
)

func (p *program) checkCommand() *cli.Command {
	return &cli.Command{
		Name:      "check",
		Usage:     "search schedules for violations of safety and liveness; print and draw a counterexample",
		ArgsUsage: "ALGORITHM",
		UsageText: "dmebench check maekawa-as-published -n 7\n" +
			"dmebench check raymond -n 3 --exhaustive\n" +
			"dmebench check --prove                for how many nodes each algorithm is proven",
		Description: "Looks for a schedule in which two nodes are in the critical section, a node enters without a request,\n" +
			"a request is never served, or an invariant of the algorithm does not hold. Random schedules also look\n" +
			"for nodes that are overtaken more often than the paper promises. By default the links are\n" +
			"as bad as the algorithm supports. Exit code: 0 no violation was found (the verdict says whether all was\n" +
			"searched), 1 one was, 2 the search failed, 64 or more: refused before anything started, 130 interrupted.",
		Flags: slices.Concat([]cli.Flag{
			&cli.StringSliceFlag{Name: "algorithm", Aliases: []string{"a"}, Usage: "search `NAME`; --prove takes several"},
			&cli.IntFlag{Name: "nodes", Aliases: []string{"n"}, Usage: "on `N` nodes; with --prove, on at most N"},
			&cli.IntFlag{Name: "schedules", Value: check.DefaultSchedules, Usage: "try `COUNT` random schedules"},
			&cli.BoolFlag{Name: "exhaustive", Usage: "visit every state that any schedule leads to"},
			&cli.BoolFlag{Name: "liveness", Usage: "let nodes request without limit, and look for starvation, too"},
			&cli.BoolFlag{Name: "prove", Usage: "search more and more nodes, with any number of requests each"},
			&cli.DurationFlag{Name: "for", Aliases: []string{"time"}, Usage: "end the search after this `DURATION`"},
			seedFlag(runs.DefaultSeed, "random seed `S` of the first schedule; the next has the next"),
			setFlag("an option of the algorithm"),
			jsonFlag("print the result as JSON"),
			quietFlag(),
		}, inCategory("What may happen",
			&cli.IntFlag{Name: "requests", Usage: "`TOTAL` requests of all nodes together", DefaultText: "up to 5 per node, exhaustive 1"},
			&cli.StringFlag{Name: "requesters", Usage: "only `NODES` make requests, such as 2,4", DefaultText: "all"},
			&cli.IntFlag{Name: "in-flight", Usage: "with --liveness: no request that would put more than `K` messages on a link"},
			&cli.BoolFlag{Name: "fifo", Usage: "links keep order; --fifo=false: they need not"},
			&cli.BoolFlag{Name: "duplicate", Usage: "any message may arrive twice"},
			&cli.IntFlag{Name: "lose", Usage: "up to `K` messages are lost"},
			&cli.IntFlag{Name: "faults", Usage: "up to `K` nodes crash, and restart if the algorithm can"},
			&cli.StringFlag{Name: "sites", Usage: "messages take the time between the sites of `FILE`, lines 'from,to,delay', or regions"},
			&cli.StringFlag{Name: "place", Usage: "nodes are at sites in `ORDER`: blocks, round-robin, file", DefaultText: "blocks"},
			&cli.BoolFlag{Name: "adversary", Usage: "an adversary holds back messages in all random schedules; =false: in none"},
		), inCategory("What is judged, and how",
			&cli.IntFlag{Name: "bypass", Usage: "at most `B` entries of others between request and entry", DefaultText: "as the paper promises"},
			&cli.BoolFlag{Name: "safety-only", Usage: "ignore standstills: look only for two nodes inside"},
			&cli.BoolFlag{Name: "invariants", Value: true, Usage: "judge every state by the algorithm's invariants"},
			&cli.BoolFlag{Name: "reduce", Value: true, Usage: "leave out orders of steps, and values of clocks, that make no difference"},
			&cli.Uint64Flag{Name: "states", Usage: "end an exhaustive search after `COUNT` states",
				DefaultText: fmt.Sprintf("%d, with --prove %d", check.DefaultStates, check.DefaultProofStates)},
			&cli.StringFlag{Name: "memory", Usage: "end the search before it exceeds `SIZE`, such as 8GiB", DefaultText: "3/4 of what is free"},
			&cli.StringFlag{Name: "bitstate", Usage: "keep a few bits of each state in `SIZE`: more states, but no proof"},
			&cli.IntFlag{Name: "each", Value: check.DefaultProofRequests, Usage: "with --prove: at most `R` requests of a node, if limited"},
		), inCategory("Output",
			&cli.StringFlag{Name: "svg", Usage: "draw a counterexample to `FILE`", DefaultText: "counterexample-ALGORITHM.svg"},
			&cli.StringFlag{Name: "out", Usage: "draw a counterexample into folder `DIR`"},
			&cli.StringFlag{Name: "save", Usage: "write a counterexample to `FILE` as a scenario for 'dmebench trace'"},
			&cli.StringFlag{Name: "open", Usage: "write a page to `FILE` in which it can be played, step by step"},
			&cli.BoolFlag{Name: "markdown", Usage: "with --prove: print a table for Markdown"},
		), inCategory("Other hosts", workFlags("random schedules")...)),
		Action: p.check,
	}
}

func (p *program) check(c *cli.Context) error {
	if c.Bool("prove") {
		return p.prove(c)
	}
	files := newFiles()
	a, options, err := p.searchOf(c, files)
	if err != nil {
		return err
	}
	settings := check.Settings(a, options.Nodes, options.Set)
	var notes []string
	if c.Bool("exhaustive") || c.Bool("liveness") { // each may take all there is of time and memory
		for _, set := range settings[1:] {
			notes = append(notes, "few nodes show more under"+runs.SetFlags(set)+", which is not searched here")
		}
		settings = []map[string]string{options.Set}
	}
	options.Time /= time.Duration(len(settings))
	var first *searched
	for _, set := range settings {
		options.Set = set
		search := p.searchStates
		if c.Bool("liveness") {
			search = p.liveness
		}
		found, err := search(c, a, options, files)
		switch {
		case err != nil:
			return err
		case found.report.Violation != nil:
			return p.report(c, a, found)
		case first == nil:
			first = found
		default:
			x := found.result
			first.result.Also = append(first.result.Also, check.AlsoSearched{
				Set: x.Set, Complete: x.Complete, Stopped: x.Stopped, Schedules: *x.Schedules,
			})
		}
	}
	first.result.Notes = append(first.result.Notes, notes...)
	return p.report(c, a, first)
}

// searched is what came of a search under one setting of the algorithm's options.
type searched struct {
	search  *check.Search
	report  check.Report
	result  *check.Result
	picture string
}

// searchStates searches random schedules, or all states with limited requests.
func (p *program) searchStates(c *cli.Context, a *dme.Algorithm, options check.Options, files *files) (*searched, error) {
	bar := p.counter(c.Bool("quiet"), uint64(c.Int("schedules")), "schedules")
	if c.Bool("exhaustive") {
		bar = p.counter(c.Bool("quiet"), 0, "states")
	}
	options.Progress = bar.Set
	if c.Bool("exhaustive") {
		options.Progress, options.Reach = nil, func(r check.Reached) { showReach(bar, r, options.Memory) }
	}
	search, picture, err := newSearch(c, a, options)
	if err != nil {
		return nil, err
	}
	defer check.CollectBelow(options.Memory)()
	var report check.Report
	if c.Bool("exhaustive") {
		report, err = search.Exhaustive(c.Context)
	} else {
		report, err = p.random(c, a, search, files)
	}
	bar.Done()
	if err != nil {
		return nil, err
	}
	result := check.NewResult(a, options, c.Bool("exhaustive"), report)
	result.Notes, result.Watched = search.Notes(), search.Watched()
	if why := search.WhyNotReduced(); c.IsSet("reduce") && search.Reduce && !report.Reduced && why != "" {
		result.Notes = append(result.Notes, "not reduced: "+why)
	}
	result.LinksBy = linksBy(c)
	invariants := units.Texts(search.Invariants(), func(i dme.Invariant) string { return i.Name })
	if report.JudgedIn == 0 {
		result.Invariants = invariants
	} else {
		result.Notes = append(result.Notes, fmt.Sprintf(
			"invariants (%s) were judged in %d states only; there are more, and all else was searched in them",
			strings.Join(invariants, ", "), report.JudgedIn))
	}
	if result.MaxBypass == nil && report.Complete {
		if most, schedules := search.Overtaking(c.Context); schedules > 0 {
			result.MaxBypass, result.SampledIn = &most, schedules
		}
	}
	if result.Starved = report.Starved; report.Starved > 0 {
		result.Notes = append(result.Notes, fmt.Sprintf("%s does not claim to be free of starvation; in %d schedules a node starves: %s",
			a.Name, report.Starved, report.Starving))
	}
	return &searched{search, report, result, picture}, nil
}

// newSearch prepares a search, having made sure that what it finds can be kept, and
// returns where a counterexample is drawn.
func newSearch(c *cli.Context, a *dme.Algorithm, options check.Options) (search *check.Search, picture string, err error) {
	search, err = platform.Interruptible(c.Context, func() (*check.Search, error) { return check.New(a, options) })
	if err != nil {
		return nil, "", refusal(c.Context, err)
	}
	if picture, err = pictureFile(c, a); err != nil {
		return nil, "", err
	}
	for _, name := range given(c, "save", "open") {
		if err := canWrite(c.String(name)); err != nil {
			return nil, "", err
		}
	}
	return search, picture, nil
}

func (p *program) report(c *cli.Context, a *dme.Algorithm, found *searched) error {
	search, report, result, picture := found.search, found.report, found.result, found.picture
	if report.Trace != nil {
		if err := fileio.Write(picture, report.Trace.Diagram().SVG()); err != nil {
			fmt.Fprintf(p.stderr, "dmebench: warning: the counterexample is not drawn: %v\n", err)
		} else {
			result.SVG = picture
		}
		if s := report.Trace.Standstill; s != nil && len(result.Why) > 0 {
			graph := strings.TrimSuffix(picture, ".svg") + "-waits.svg"
			if err := fileio.Write(graph, s.SVG(a.Title+": who waits for whom")); err != nil {
				fmt.Fprintf(p.stderr, "dmebench: warning: the wait-for graph is not drawn: %v\n", err)
			} else {
				result.WaitFor = graph
			}
		}
	}
	if report.Trace != nil {
		x := trace.Of(a, search.Options, search.Sequenced(), report.Trace, report.Seed)
		x.Replay = result.Replay
		if c.IsSet("save") {
			result.Scenario = p.saveScenario(c.String("save"), x)
		}
		if c.IsSet("open") {
			p.openCounterexample(c, x)
		}
	}
	if err := p.print(c, "result", result, func() error { return result.Print(p.stdout) }); err != nil {
		return err
	}
	if report.Violation != nil {
		p.exit = Broken
	}
	return nil
}

func (p *program) random(c *cli.Context, a *dme.Algorithm, s *check.Search, files *files) (check.Report, error) {
	work, err := p.openWork(c, files)
	if work == nil {
		return s.Random(c.Context), err
	}
	defer work.close()
	return work.search(c.Context, a.Name, s)
}

// searchOf reads the flags. [check.New] checks what depends on the algorithm.
func (p *program) searchOf(c *cli.Context, files *files) (*dme.Algorithm, check.Options, error) {
	wrong := checkNumbers(c)
	algorithms := c.StringSlice("algorithm")
	wrong.when(len(algorithms) == 0, "--algorithm is missing; 'dmebench list' shows what there is")
	wrong.when(len(algorithms) > 1, "check takes one algorithm, but there are %s; several go with --prove", strings.Join(algorithms, ", "))
	wrong.when(!c.IsSet("nodes"), "--nodes is missing: how many nodes?")
	refuse := func(why string, flags ...string) {
		for _, name := range given(c, flags...) {
			wrong.when(true, "--%s %s", name, why)
		}
	}
	refuse("is for --prove; leave it out", "each", "markdown")
	exhaustive, liveness := c.Bool("exhaustive"), c.Bool("liveness")
	if exhaustive {
		refuse("is for random schedules, and --exhaustive visits all of them; choose one", "schedules", "adversary", "sites")
		refuse("is for random schedules; an exhaustive search is not divided among hosts, leave --agents out", "agents")
	} else {
		refuse("is for --exhaustive; leave it out", "reduce", "bitstate")
	}
	if liveness {
		for _, name := range slices.Sorted(maps.Keys(whyNotWithLiveness)) {
			refuse("does not go with --liveness, "+whyNotWithLiveness[name]+"; leave one out", name)
		}
	} else if !exhaustive {
		refuse("is for --exhaustive; random schedules are limited by --schedules and --for", "states", "memory")
		refuse("is for --liveness; elsewhere --requests bounds how much is on the way", "in-flight")
	}
	wrong.when(c.IsSet("sites") && c.IsSet("adversary"), "--sites says when messages arrive, and --adversary, too; choose one")
	wrong.when(c.IsSet("place") && !c.IsSet("sites"), "--place says at which sites nodes are; give these by --sites")
	wrong.when(c.IsSet("svg") && c.IsSet("out"), "--svg names a file and --out a folder for the same picture; choose one")
	o := check.Options{Memory: memoryFor(c, &wrong)}
	if c.IsSet("bitstate") {
		var err error
		o.Bitstate, err = check.ParseBytes(c.String("bitstate"))
		wrong.when(err != nil, "--bitstate: %v", err)
	}
	requesters, bad, ok := wholeNumbers(c.String("requesters"))
	wrong.when(c.IsSet("requesters") && !ok, "--requesters %s: %q is not a node; write node numbers like 2,4", c.String("requesters"), bad)
	set := settingsOf(c, &wrong)
	var a *dme.Algorithm
	if len(algorithms) == 1 {
		var err error
		a, err = p.catalog.Lookup(algorithms[0])
		wrong.add(err)
	}
	if err := wrong.err(); err != nil {
		return nil, o, err
	}
	memory, bitstate := o.Memory, o.Bitstate
	o = check.Defaults(a, c.Int("nodes"), set)
	o.Memory, o.Bitstate, o.States, o.Time = memory, bitstate, cmp.Or(c.Uint64("states"), check.DefaultStates), c.Duration("for")
	o.Reduce, o.WithoutInvariants = exhaustive && c.Bool("reduce"), !c.Bool("invariants")
	if c.IsSet("requesters") {
		for _, id := range requesters {
			o.Requesters = append(o.Requesters, dme.NodeID(id))
		}
		o.Requests, o.Vary = o.Requests/max(1, o.Nodes)*len(requesters), false
	}
	o.ReadFile, o.Faults, o.Bypass, o.Seed, o.Schedules = files.read, c.Int("faults"), c.Int("bypass"), c.Uint64("seed"), c.Int("schedules")
	o.SafetyOnly = c.Bool("safety-only")
	if c.IsSet("fifo") {
		o.Unordered = !c.Bool("fifo")
	}
	if c.IsSet("duplicate") {
		o.Duplicate = c.Bool("duplicate")
	}
	if c.IsSet("lose") {
		o.Lose = c.Int("lose")
	}
	switch {
	case liveness:
		o.Requests, o.Vary, o.Watch, o.Unlimited, o.InFlight = 0, false, false, true, c.Int("in-flight")
		o.Duplicate, o.Lose = false, 0
		return a, o, nil
	case exhaustive:
		o.Requests, o.Vary, o.Watch = max(1, o.Askers()), false, false // what is wrong is the number of nodes
	}
	if c.IsSet("requests") {
		o.Requests, o.Vary = c.Int("requests"), false
	}
	if c.IsSet("adversary") {
		o.Adversary = check.Chance
		if c.Bool("adversary") {
			o.Adversary = check.Adversarial
		}
	}
	if c.IsSet("sites") {
		var err error
		if o.Sites, err = sitesOf(c, files); err != nil {
			return nil, o, usage("%v", err)
		}
	}
	return a, o, nil
}

// sitesOf returns where nodes are, and how long messages take between the sites.
func sitesOf(c *cli.Context, files *files) (*check.Sites, error) {
	name, place, nodes := c.String("sites"), cmp.Or(c.String("place"), link.Blocks), c.Int("nodes")
	at, err := link.ReadSites(link.SitesIn(name), place, nodes, files.read)
	if err != nil {
		return nil, err
	}
	s := &check.Sites{Name: name, Place: place}
	for id := range nodes {
		s.Of = append(s.Of, at.Of(dme.NodeID(id+1)))
	}
	for from := range at.Names {
		var row []check.Way
		for to := range at.Names {
			least, most := at.Bounds(from, to)
			row = append(row, check.Way{Delay: least, Jitter: most - least})
		}
		s.Ways = append(s.Ways, row)
	}
	return s, nil
}

func linksBy(c *cli.Context) string {
	if len(given(c, "fifo", "duplicate", "lose")) > 0 {
		return check.LinksByFlags
	}
	return check.LinksByNeeds
}

// pictureFile returns where a counterexample is drawn. A place that the user names is tried.
func pictureFile(c *cli.Context, a *dme.Algorithm) (string, error) {
	name := "counterexample-" + a.Name + ".svg"
	switch {
	case c.IsSet("out"):
		name = filepath.Join(c.String("out"), name)
	case c.IsSet("svg"):
		name = c.String("svg")
	default:
		return name, nil
	}
	return name, canWrite(name)
}

func canWrite(name string) error {
	if name == "" || os.IsPathSeparator(name[len(name)-1]) {
		return usage("cannot write %q: it names no file; name one, such as %s", name, filepath.Join(name, "counterexample.txt"))
	}
	err := makeFolder(filepath.Dir(name))
	if info, statErr := os.Stat(name); statErr == nil && info.IsDir() {
		err = errors.New("it is a folder")
	}
	if err != nil {
		return failWith(CantCreate, fmt.Errorf("cannot write %s: %w; choose another place", name, err))
	}
	return nil
}

// saveScenario keeps a counterexample as a scenario, and returns the name of its file, "" if that
// cannot be done, which it reports.
func (p *program) saveScenario(file string, x trace.Counterexample) string {
	text, err := saved(file, x, x.ReadFile)
	if err == nil {
		err = fileio.Write(file, text)
	}
	if err != nil {
		fmt.Fprintf(p.stderr, "dmebench: warning: the counterexample is not saved in %s: %v\n", file, err)
		return ""
	}
	return file
}

// openCounterexample writes a page in which it can be played.
func (p *program) openCounterexample(c *cli.Context, x trace.Counterexample) {
	text, err := trace.Save("counterexample", x)
	if err == nil {
		stdout := p.stdout
		if c.Bool("json") {
			p.stdout = p.stderr
		}
		err = p.writePlayground(c.Context, c.String("open"), text)
		p.stdout = stdout
	}
	if err != nil {
		fmt.Fprintf(p.stderr, "dmebench: warning: there is no page of the counterexample: %v\n", err)
	}
}

// saved returns the text of the counterexample in a file. The files that its options name
// are named as seen from there.
func saved(file string, x trace.Counterexample, read func(string) ([]byte, error)) ([]byte, error) {
	named := make(map[string]bool)
	x.ReadFile = func(name string) ([]byte, error) {
		named[name] = true
		return read(name)
	}
	text, err := trace.Save(file, x)
	set := maps.Clone(x.Set)
	for name := range named {
		there, ok := asSeenFrom(file, name)
		if !ok {
			continue
		}
		for key, value := range x.Set {
			if before, ok := strings.CutSuffix(value, name); ok && strings.HasSuffix(before, ":") {
				set[key] = before + there
			}
		}
	}
	if err != nil || maps.Equal(set, x.Set) {
		return text, err
	}
	x.Set, x.ReadFile = set, besides(file)
	return trace.Save(file, x)
}

// asSeenFrom returns the name of a file in relation to another's folder; ok is false if it is
// absolute, and found from everywhere.
func asSeenFrom(file, name string) (there string, ok bool) {
	folder, err := filepath.Abs(filepath.Dir(file))
	if err != nil || filepath.IsAbs(name) {
		return "", false
	}
	if name, err = filepath.Abs(name); err != nil {
		return "", false
	}
	there, err = filepath.Rel(folder, name)
	return there, err == nil
}

func showReach(bar *run.Counter, r check.Reached, limit check.Bytes) {
	text := r.Held.String()
	if r.Layer > 0 {
		text = fmt.Sprintf("layer %d, %d to expand, %s", r.Layer, r.Open, text)
	}
	if limit > 0 {
		text += " of " + limit.String()
	}
	bar.Set(r.States)
	bar.Describe(text)
}
