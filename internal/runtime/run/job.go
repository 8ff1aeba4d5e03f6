// Package run resolves what one run is asked to do, a [runs.Spec], to a [Job]
// whose every name has been looked up and every value checked. Both the network
// runtime and the simulator carry out jobs. The display of a run is here too: how
// far it is ([Line], [Counter]), and its result ([Print]).
package run

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"dmebench/claims"
	"dmebench/dme"
	"dmebench/internal/runtime/foreign"
	"dmebench/runs"
	"dmebench/transport"
	"dmebench/transport/link"
	"dmebench/units"
	"dmebench/workload"
	"dmebench/workload/fault"
)

// MaxNodes is the largest number of nodes of a run. A larger one is a slip of
// the hand, which would end in a lack of memory.
const MaxNodes = 1 << 20

// Catalog is the list of the algorithms that can be run, and of lock services.
type Catalog []*dme.Algorithm

// Algorithms returns those that can be searched and simulated.
func (c Catalog) Algorithms() Catalog {
	return slices.DeleteFunc(slices.Clone(c), func(a *dme.Algorithm) bool { return a.Class == dme.Service })
}

func (c Catalog) Names() []string {
	return units.Texts(c, func(a *dme.Algorithm) string { return a.Name })
}

// Lookup returns the algorithm of that name, in any case, for searches and simulations.
func (c Catalog) Lookup(name string) (*dme.Algorithm, error) {
	a, err := c.Runnable(name)
	switch {
	case err != nil:
	case foreign.Is(name):
		return nil, fmt.Errorf("%s: nodes in other languages are processes of their own, whose steps can be neither chosen nor simulated; "+
			"'dmebench run --exec COMMAND' runs them over a real network", name)
	case a.Class == dme.Service:
		return nil, fmt.Errorf("%s: the steps of a lock service can be neither chosen nor simulated; 'dmebench run -a %s' measures it",
			a.Name, a.Name)
	}
	return a, err
}

// Runnable is Lookup for runs over networks: it also finds the one whose nodes are programs in
// other languages, and lock services.
func (c Catalog) Runnable(name string) (*dme.Algorithm, error) {
	names := c.Names()
	found, ok := units.FindName(name, names)
	switch {
	case ok:
		return c[slices.Index(names, found)], nil
	case foreign.Is(name):
		return foreign.Algorithm(name), nil
	case name == "":
		return nil, errors.New("which algorithm? 'dmebench list' shows what there is")
	case strings.EqualFold(name, "all"):
		return nil, fmt.Errorf("no algorithm is named %q; name each, such as maekawa,raymond if several are allowed, "+
			"or leave it out if the default is all", name)
	}
	return nil, units.UnknownName("algorithm", name, names, "'dmebench list' shows what there is")
}

// Job is a Spec whose every name has been looked up and every value checked:
// nothing that can be known beforehand is left to go wrong.
type Job struct {
	Spec       runs.Spec // with defaults
	Algorithm  *dme.Algorithm
	Options    dme.Options // the algorithm's
	System     dme.System
	Plan       *workload.Plan
	Network    Network
	NetOptions dme.Options // the network's
	Needs      dme.Needs
	Missing    []string // what the algorithm needs and the network lacks, if that is allowed
	Warmup     int      // entries to cut; -1 to find out
	Faults     fault.Schedule

	sites    *link.Sites
	absent   []dme.NodeID // join later
	kind     workload.Kind
	load     workload.Spec // what Plan was made from
	readFile func(string) ([]byte, error)
}

// Guarantees returns what the job's network promises.
func (j *Job) Guarantees() transport.Guarantees { return j.Network.Guarantees(j.NetOptions) }

// Circumstance is that to which claims about the job may be restricted.
func (j *Job) Circumstance() claims.Circumstance {
	g := j.Guarantees()
	return claims.Of(j.Spec, g.FIFO, g.Broadcast)
}

// Links returns what is done to the links of the job's network.
func (j *Job) Links() link.Config { return j.Network.Links(j.NetOptions) }

// Sites returns where the nodes are; nil if that is one place for all.
func (j *Job) Sites() *link.Sites { return j.sites }

// Far reports which nodes are at different sites; it is nil if all are at one.
func (j *Job) Far() func(from, to dme.NodeID) bool {
	if j.sites == nil {
		return nil
	}
	return j.sites.Apart
}

// Resolve checks the spec and prepares what all nodes share. Every fault that
// can be seen is reported, each on a line of its own. readFile serves options
// and workloads that name a file.
func Resolve(s runs.Spec, c Catalog, readFile func(string) ([]byte, error)) (*Job, error) {
	j, err := outline(s, c, readFile)
	if err != nil {
		return nil, err
	}
	return j.complete()
}

// outline looks up what a spec names, and prepares nothing.
func outline(s runs.Spec, c Catalog, readFile func(string) ([]byte, error)) (*Job, error) {
	s = s.WithDefaults()
	s.Algorithm = foreign.FullName(s.Algorithm, s.Set)
	j := &Job{Spec: s, Warmup: -1}
	var errs []error
	try := func(err error) { errs = append(errs, err) }

	a, err := c.Runnable(s.Algorithm)
	try(err)
	kind, err := workload.Lookup(s.Workload)
	try(err)
	j.Network, err = LookupNetwork(s.Transport)
	try(err)
	cs, err := workload.ParseDistribution(s.CS)
	if err != nil {
		try(fmt.Errorf("critical section %q: %w; want a duration such as 100us or exp:100us", s.CS, err))
	}
	if s.Warmup != runs.DefaultWarmup {
		j.Warmup, err = strconv.Atoi(s.Warmup)
		if err != nil || j.Warmup < 0 {
			try(fmt.Errorf("warm-up %q: want auto or a number of entries", s.Warmup))
		}
	}
	faults, err := fault.ParseAll(s.Faults)
	try(err)
	j.Faults = faults.Draw(s.Seed)
	refuse := func(wrong bool, format string, args ...any) {
		if wrong {
			try(fmt.Errorf(format, args...))
		}
	}
	refuse(s.Nodes < 1 || s.Nodes > MaxNodes, "%d nodes: there must be at least 1 and at most %d", s.Nodes, MaxNodes)
	refuse(s.NodesPerWorker < 1, "%d nodes per worker: there must be at least 1", s.NodesPerWorker)
	refuse(s.StallAfter < 0 || s.Duration < 0, "a duration must not be negative")
	refuse(s.StallAfter.Std() > workload.MaxDuration, "stalled after %v: want at most %v", s.StallAfter, workload.MaxDuration)
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}

	j.Algorithm, j.kind = a, kind
	s.Algorithm, s.Workload, s.Transport = a.Name, kind.Name, j.Network.Name // as they are written elsewhere
	s.Set = dme.Canonical(s.Set, a.Options, kind.Options, j.Network.Options)
	j.Spec = s
	sets, err := divide(s.Set, owner{a.Name, a.Options}, owner{kind.Name, kind.Options}, owner{j.Network.Name, j.Network.Options})
	try(err)
	if kind.Drive == workload.Stepped {
		for name, value := range a.Stepped {
			if _, given := sets[0][name]; !given {
				sets[0][name] = value
			}
		}
	}
	j.Options, err = a.Resolve(sets[0])
	try(err)
	workOpt, err := dme.ResolveOptions(kind.Options, sets[1])
	try(err)
	j.NetOptions, err = dme.ResolveOptions(j.Network.Options, sets[2])
	try(err)
	if err == nil {
		err = link.Locate(j.NetOptions, s.Nodes, readFile)
		try(err)
	}
	if check := j.Network.Check; check != nil && err == nil {
		try(check(j.NetOptions))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	j.readFile = readFile
	j.load = workload.Spec{
		Name: s.Workload, Rate: s.Rate, TotalRate: s.TotalRate, CS: cs, Requests: s.Requests,
		Duration: s.Duration.Std(), Options: workOpt, ReadFile: readFile,
	}
	return j, nil
}

// complete prepares what all nodes share, and checks what goes together.
func (j *Job) complete() (*Job, error) {
	s, a, opt := j.Spec, j.Algorithm, j.Options
	var err error
	var errs []error
	try := func(err error) { errs = append(errs, err) }
	links := j.Links()
	j.sites = links.Sites
	try(links.CheckNodes(s.Nodes))
	j.Plan, err = workload.New(j.load, s.Nodes, s.Seed)
	try(err)
	if j.kind.Drive == workload.Stepped && a.Endless(opt) {
		try(fmt.Errorf("%s goes in steps, each of which begins when the system has fallen silent; "+
			"%s with these options never does; choose %s",
			j.kind.Name, a.Name, alternatives(a.Stepped)))
	}
	j.Needs = a.Needs(opt)
	j.Missing = j.lacks()
	if len(j.Missing) > 0 && !s.AllowMismatch {
		try(j.mismatch())
	}
	try(j.checkOwnTime())
	try(j.checkPatience())
	try(j.checkResource())
	if err := a.CheckNodes(s.Nodes, opt); err != nil {
		try(&CannotRun{Nodes: true, Why: err})
	} else if err := j.prepare(); err != nil {
		try(err)
	} else {
		try(j.checkReaders())
		if err := j.checkFaults(); err != nil {
			try(&CannotRun{Faults: true, Why: err})
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return j, nil
}

func alternatives(set map[string]string) string {
	return cmp.Or(strings.TrimSpace(runs.SetFlags(set)), "another workload, such as saturate or poisson")
}

func (j *Job) prepare() (err error) {
	j.System, err = j.Algorithm.Prepare(dme.Config{
		Nodes: j.Spec.Nodes, Seed: j.Spec.Seed, Options: j.Options, Bound: j.networkBound(), Absent: j.absent,
		ReadFile: j.readFile,
	})
	return err
}

// checkReaders refuses readers if nodes do not know what those are.
func (j *Job) checkReaders() error {
	if j.Plan == nil || j.Plan.Readers() == 0 {
		return nil
	}
	if _, shares := j.System.Node(1).(dme.SharedRequester); shares {
		return nil
	}
	return fmt.Errorf("readers=%v: %s knows no readers, every entry is exclusive; choose an algorithm that does, or leave readers out",
		j.Plan.Readers(), j.Algorithm.Name)
}

// CannotRun is the error for an algorithm that does not exist for that many nodes,
// needs what the network lacks, or knows nothing of what the run's faults ask of
// it; everything else that is wrong with a specification is a fault in it.
type CannotRun struct {
	Nodes    bool   // the number of nodes
	Faults   bool   // the faults injected
	Resource bool   // what critical sections share
	Why      error  // without advice
	advice   string // for the command line; may be ""
}

func (e *CannotRun) Error() string {
	if e.advice == "" {
		return e.Why.Error()
	}
	return e.Why.Error() + "; " + e.advice
}

// Settings lists all options of the job at their values, those of the algorithm,
// the network and the workload.
func (j *Job) Settings() []string {
	var all []string
	for _, of := range []struct {
		declared []dme.Option
		values   dme.Options
	}{{j.Algorithm.Options, j.Options}, {j.Network.Options, j.NetOptions}, {j.kind.Options, j.load.Options}} {
		for _, o := range of.declared {
			if value := of.values[o.Name]; value != "" {
				all = append(all, o.Name+"="+value)
			}
		}
	}
	return all
}

type owner struct {
	name    string
	options []dme.Option
}

func divide(set map[string]string, owners ...owner) (of []map[string]string, err error) {
	var errs []error
	var who, known, unknown []string
	owned := make(map[string]int)
	for i, w := range owners {
		who = append(who, w.name)
		of = append(of, make(map[string]string))
		for _, o := range w.options {
			known = append(known, o.Name)
			value, given := set[o.Name]
			if first, twice := owned[o.Name]; given && twice {
				errs = append(errs, fmt.Errorf("option %s of %s is also one of %s; they cannot be combined",
					o.Name, owners[first].name, w.name))
			} else if given {
				of[i][o.Name] = value
			}
			owned[o.Name] = i
		}
	}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		if _, ok := owned[name]; !ok {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) > 0 {
		there := "none of them takes any"
		if len(known) > 0 {
			there = "known here: " + strings.Join(known, ", ")
		}
		if near := units.NearestName(unknown[0], known); near != "" && len(unknown) == 1 {
			there = "did you mean '" + near + "'?"
		}
		errs = append(errs, fmt.Errorf("--set %s: no option of %s; %s", strings.Join(unknown, ", "), strings.Join(who, ", "), there))
	}
	return of, errors.Join(errs...)
}

// boundOption is the option by which a user vouches for a bound on the delay of
// messages, to an algorithm that needs one.
const boundOption = "bound"

// vouchedBound returns the bound that was set, if one was: not a word such as
// auto, which leaves it to the network.
func (j *Job) vouchedBound() (bound time.Duration, vouched bool) {
	if !j.Needs.BoundedDelay {
		return 0, false
	}
	bound, err := time.ParseDuration(j.Options[boundOption])
	return bound, err == nil
}

// networkBound returns the bound on delays for nodes if the user gives none: in a simulation 2T,
// and what its links add at most; 0 over a real network, if none is known.
func (j *Job) networkBound() time.Duration {
	if j.Network.Real() {
		return 0
	}
	links := j.Links()
	more, bounded := links.Longest()
	if !bounded {
		more = 0
	}
	return 2*simulatedT(j.NetOptions) + more
}

// lacks names what the algorithm needs and the network does not give. Over a
// real network the user's word on delays is taken; in a simulation they are
// known, and it is compared with them.
func (j *Job) lacks() []string {
	g := j.Guarantees()
	if bound, vouched := j.vouchedBound(); vouched {
		if j.Network.Real() {
			g.BoundedDelay = true
		} else {
			longest, exists := longestSimulated(j.NetOptions)
			g.BoundedDelay = exists && bound >= longest
		}
	}
	return g.Lacks(j.Needs)
}

func (j *Job) mismatch() error {
	advice := "choose another transport or option"
	bound, vouched := j.vouchedBound()
	longest, exists := time.Duration(0), false
	if !j.Network.Real() {
		longest, exists = longestSimulated(j.NetOptions)
	}
	switch {
	case !j.Needs.BoundedDelay:
	case j.Network.Real() && !vouched:
		if _, has := j.Options[boundOption]; has {
			advice = "vouch for one with --set " + boundOption + "=DURATION, the longest time that a message can take"
		}
	case vouched && exists && bound < longest:
		advice = fmt.Sprintf("a message takes up to %v there, more than %s=%v", longest, boundOption, bound)
	}
	why := fmt.Errorf("%s needs %s, which %s does not have",
		j.Algorithm.Name, strings.Join(j.Missing, " and "), j.Network.Describe(j.NetOptions))
	return &CannotRun{Why: why, advice: advice + ", or see it fail with --allow-mismatch"}
}

// checkPatience refuses a bound so long that a node that waits for an answer
// would be taken for one that waits for ever, and delays by which a run would seem to
// stand still; a simulation has the patience for any.
func (j *Job) checkPatience() error {
	bound, vouched := j.vouchedBound()
	if bound > workload.MaxDuration {
		return fmt.Errorf("%s=%v: want at most %v", boundOption, bound, workload.MaxDuration)
	}
	limit, links := j.Spec.StallAfter.Std(), j.Links()
	longest, bounded := links.Longest()
	if !bounded {
		longest = links.Typical(0)
	}
	if j.Network.Real() && longest > 0 && longest >= limit {
		return fmt.Errorf("%s: a message may take %v, while nothing moves; after %v that is taken for a stall; "+
			"let --stall-after be more than %v, or shorten the delay", j.Network.Describe(j.NetOptions), longest, limit, longest)
	}
	if vouched && bound >= limit/2 {
		return fmt.Errorf("%s=%v: a message and its answer may take twice as long, while nothing moves; "+
			"after %v that is taken for a stall; let --stall-after be more than %v", boundOption, bound, limit, 2*bound)
	}
	return nil
}
