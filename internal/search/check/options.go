package check

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"time"

	"dmebench/dme"
	"dmebench/dme/vnet"
)

const (
	MaxNodes         = 1000
	DefaultSchedules = 10_000
	DefaultStates    = 100_000_000
)

// Adversary says what chooses the steps of random schedules.
type Adversary string

// Choices are made by both in turn, one schedule each; by chance alone; or by the adversary alone,
// which holds back chosen links, nodes or kinds of message, or gives each link and process a
// priority that changes a few times.
const (
	Mixed       Adversary = ""
	Chance      Adversary = "chance"
	Adversarial Adversary = "adversary"
)

// Options says what to search: Nodes and Requests, and else by default nothing special.
type Options struct {
	Nodes    int
	Requests int                               // in all: node i makes ⌊R/N⌋, nodes up to R mod N one more
	Vary     bool                              // each random schedule draws which nodes ask and how often, at most Requests in all
	Set      map[string]string                 // the algorithm's options that differ from their defaults
	ReadFile func(name string) ([]byte, error) `json:"-"`

	// Requesters are the nodes that ask, in ascending order; nil: all.
	Requesters []dme.NodeID

	Unordered bool // links need not keep order
	Duplicate bool // any message may arrive twice
	Lose      int  // as many messages may be lost
	Faults    int  // as many nodes may crash, and come back if they know how
	Bypass    int  // entries by others that may come before a request's; 0: any number
	Watch     bool // random schedules: judge overtaking by what the algorithm claims, and try to starve nodes

	WithoutInvariants bool // the algorithm's are not checked
	// SafetyOnly goes on after a standstill, which hides what nodes that ask later may do.
	// It is for [Search.Random] and [Search.Exhaustive].
	SafetyOnly bool
	// Unlimited is for [Search.Liveness], and for it alone: every node may ask any number of times,
	// and Requests is 0. InFlight, if it is not 0, bounds what a link may hold: a node does not ask
	// if that would put more on one.
	Unlimited bool
	InFlight  int

	Seed      uint64        // of the first random schedule, the next has Seed+1; also the algorithm's
	Schedules int           // of a random search; 0: DefaultSchedules
	Adversary Adversary     // of random schedules
	Sites     *Sites        // of random schedules, which then no adversary chooses; nil: all nodes are at one
	Patience  int           // steps without an entry after which a random schedule is taken to have none; 0: by N
	Reduce    bool          // an exhaustive search leaves out orders of steps that make no difference, if that is sound
	States    uint64        // an exhaustive search ends after this many; 0: DefaultStates
	Bitstate  Bytes         // an exhaustive search keeps a few bits of each state, in this much memory; 0: it keeps states
	Memory    Bytes         // an exhaustive search ends before it holds more; 0: any number
	Time      time.Duration // a search ends after this long; 0: when it is complete
	Workers   int           // goroutines; 0: as many as can run at once

	// Progress is called now and then, from any goroutine but never by two at
	// once, with the number of schedules or states so far.
	Progress func(done uint64) `json:"-"`
	// Reach is called like Progress, by exhaustive searches.
	Reach func(Reached) `json:"-"`
}

// Reached is how far an exhaustive search is.
type Reached struct {
	States uint64
	Open   uint64 // states that were met and are still to be expanded: what is left, as far as can be known; depth first: 0
	Layer  int    // steps from the beginning to those that are expanded; depth first: 0
	Held   Bytes  // memory
}

// Search is an algorithm and what to search it for, checked and prepared.
type Search struct {
	Options
	model *vnet.Model // for Seed
	needs dme.Needs
	watch

	reducesFirst bool // a search with reduction is not preceded by one without
}

// New returns a search of a, or every fault of the options, each on a line.
func New(a *dme.Algorithm, o Options) (*Search, error) {
	var errs []error
	refuse := func(bad bool, format string, args ...any) {
		if bad {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	refuse(o.Nodes < 1 || o.Nodes > MaxNodes, "%d nodes: there must be at least 1 and at most %d", o.Nodes, MaxNodes)
	refuse(!o.Unlimited && o.Requests < 1, "%d requests: there must be at least 1", o.Requests)
	o.Requesters = slices.Sorted(slices.Values(o.Requesters))
	for i, id := range o.Requesters {
		refuse(id < 1 || int(id) > o.Nodes, "node %d cannot ask: the nodes are 1 to %d", id, o.Nodes)
		refuse(i > 0 && id == o.Requesters[i-1], "node %d is named twice among the nodes that ask", id)
	}
	refuse(o.Requesters != nil && (o.Vary || o.Unlimited), "the nodes that ask are named, and also drawn at random or all of them: choose one")
	refuse(o.Lose < 0, "%d messages lost: want 0 or more", o.Lose)
	refuse(o.Faults < 0, "%d faults: want 0 or more", o.Faults)
	refuse(o.Bypass < 0, "a bypass of %d: want 1 or more, or 0 for no bound", o.Bypass)
	refuse(o.Unlimited && o.Requests != 0, "%d requests: a search for liveness lets every node ask any number of times", o.Requests)
	refuse(o.Unlimited && o.Nodes > LivenessMost, "%d nodes: a search for liveness takes at most %d", o.Nodes, LivenessMost)
	refuse(o.Unlimited && (o.Duplicate || o.Lose > 0 || o.Faults > 0 || o.Bypass > 0),
		"a search for liveness needs links that deliver every message once and nodes that do not fail, and has no bound on overtaking")
	refuse(o.SafetyOnly && o.Unlimited, "a search for liveness cannot check safety alone")
	refuse(o.InFlight < 0, "%d messages in flight: want 1 or more, or 0 for any number", o.InFlight)
	refuse(o.InFlight > 0 && !o.Unlimited, "only a search for liveness bounds the messages in flight")
	refuse(o.Schedules < 0, "%d schedules: there must be at least 1", o.Schedules)
	refuse(o.Bitstate < 0, "%d bytes for the bits of states: want 1 or more, or 0 to keep states", int64(o.Bitstate))
	refuse(o.Memory > 0 && o.Bitstate >= o.Memory, "%v for the bits of states leaves no room within %v of memory",
		o.Bitstate, o.Memory)
	refuse(o.Memory < 0, "a limit of %d bytes of memory: want 1 or more, or 0 for none", int64(o.Memory))
	refuse(o.Time < 0, "a time of %v: must be above 0", o.Time)
	refuse(o.Patience < 0 || o.Workers < 0, "patience %d, %d workers: want 0 or more", o.Patience, o.Workers)
	refuse(o.Adversary != Mixed && o.Adversary != Chance && o.Adversary != Adversarial, "unknown adversary %q", o.Adversary)
	if o.Sites != nil {
		refuse(len(o.Sites.Of) != o.Nodes, "%d nodes have a site, and there are %d", len(o.Sites.Of), o.Nodes)
		refuse(o.Adversary == Adversarial, "distances say when messages arrive, and an adversary, too; choose one")
		o.Adversary = Chance
	}
	opt, err := a.Resolve(o.Set)
	if err != nil {
		errs = append(errs, err)
	} else if o.Nodes >= 1 {
		if err := a.CheckNodes(o.Nodes, opt); err != nil {
			errs = append(errs, err)
		}
	}
	if errs != nil {
		return nil, errors.Join(errs...)
	}
	o.Schedules, o.States = cmp.Or(o.Schedules, DefaultSchedules), cmp.Or(o.States, DefaultStates)
	o.Workers = cmp.Or(o.Workers, runtime.GOMAXPROCS(0))
	// A fair schedule of the costliest algorithm serves a node within a few times N² steps; a
	// hundred times as many leave room for chance.
	o.Patience = cmp.Or(o.Patience, 10_000+100*o.Nodes*o.Nodes)
	needs := a.Needs(opt)
	watch := vnet.WatchWhereNeedsAreMet
	if o.WithoutInvariants {
		watch = vnet.WatchNothing
	}
	requests := o.share
	if o.Unlimited {
		requests = nil
	}
	m, err := vnet.NewModel(vnet.Config{
		Algorithm: a, Nodes: o.Nodes, Options: opt, Seed: o.Seed, ReadFile: o.ReadFile,
		Unordered: o.Unordered, Duplicate: o.Duplicate, Lose: o.Lose,
		Crashes: o.Faults, Restarts: true, Bypass: o.Bypass, Requests: requests, Recover: true,
		Bounded: needs.BoundedDelay, Watch: watch,
		// Links give all broadcasts one order to an algorithm that needs it, where
		// they are as good as they can be: what loses, repeats and reorders
		// messages gives nothing an order either.
		Sequenced: needs.SequencedBroadcast && !o.Unordered && !o.Duplicate && o.Lose == 0 && o.Faults == 0,
	})
	if err != nil {
		return nil, err
	}
	s := &Search{Options: o, model: m, needs: needs}
	if o.Watch {
		s.watch = watching(m, needs)
		// To starve a node takes an adversary, and more requests of others than are given.
		s.starves = s.starves && o.Adversary != Chance && o.Requesters == nil
	}
	if o.Bypass > 0 {
		s.bound = o.Bypass
	}
	return s, nil
}

// Invariants returns those of the algorithm that are checked in every state.
func (s *Search) Invariants() []dme.Invariant { return s.model.Invariants }

// Sequenced reports whether links give all broadcasts one order.
func (s *Search) Sequenced() bool { return s.model.Sequenced }

// Askers is how many nodes ask.
func (o *Options) Askers() int {
	if o.Requesters != nil {
		return len(o.Requesters)
	}
	return o.Nodes
}

func (o *Options) share(id dme.NodeID) int {
	place, among := int(id)-1, o.Askers()
	if o.Requesters != nil {
		place = slices.Index(o.Requesters, id)
	}
	switch {
	case place < 0:
		return 0
	case place < o.Requests%among:
		return o.Requests/among + 1
	}
	return o.Requests / among
}

// Notes says where the links are worse than the algorithm needs, or could be worse.
func (s *Search) Notes() []string {
	var notes []string
	note := func(yes bool, text string) {
		if yes {
			notes = append(notes, text)
		}
	}
	a := s.model.Algorithm
	name := a.Name
	crash := map[[2]bool]string{ // by whether crashes are survived, and crashed nodes come back
		{true, true}:   "they may restart at any time, and " + name + " survives the crashes that it declares",
		{true, false}:  "they do not restart, and " + name + " survives the crashes that it declares",
		{false, true}:  "they may restart at any time, and " + name + " waits for them",
		{false, false}: name + " does not claim to survive a crash",
	}[[2]bool{a.Survives != nil, s.model.RestartsNodes()}]
	note(a.AsPublished, name+" is the literal text of its paper and known to be wrong")
	note(s.needs.FIFO && s.Unordered, name+" needs links that keep order; these do not")
	note(!s.needs.FIFO && !s.Unordered, name+" does not need links that keep order; --fifo=false searches links that do not")
	note(s.needs.Reliable && s.Duplicate, name+" needs links that do not duplicate; these do")
	note(s.needs.Reliable && s.Lose > 0, name+" needs links that lose nothing; these lose up to "+strconv.Itoa(s.Lose))
	note(s.needs.BoundedDelay, name+" relies on bounded delay: a timer fires only after all messages that must have arrived by then")
	note(s.model.Fenced, "two nodes may be inside, if their fencing tokens differ: "+
		"a resource then refuses the late one, and no update is lost")
	note(s.Faults > 0, fmt.Sprintf("up to %d nodes crash at any time; %s", s.Faults, crash))
	if s.Sites != nil {
		note(true, "messages take the time between the sites of "+s.Sites.Name+"; no adversary holds any back")
	}
	note(s.SafetyOnly, "only safety is checked: a standstill is not reported")
	note(s.needs.SequencedBroadcast && !s.model.Sequenced,
		name+" needs a network on which all nodes receive all broadcasts in the same order; these links do not provide that")
	note(s.model.Sequenced, name+" relies on a sequenced medium: all nodes receive all broadcasts in the same order, each at its own pace")
	return notes
}

// survivedLosses is how many messages are lost if an algorithm survives the loss of
// any: of two, the second may be what was sent again because of the first.
const survivedLosses = 2

const requestsEach = 5

// Defaults returns the default options for random schedules of an algorithm: the worst links that
// it supports, requests that grow with the number of nodes and vary from schedule to schedule, and
// overtaking watched. Wrong options of the algorithm have links of their own: [New] refuses them.
func Defaults(a *dme.Algorithm, nodes int, set map[string]string) Options {
	o := Options{Nodes: nodes, Requests: max(1, requestsEach*nodes), Set: set, Vary: true, Watch: true}
	opt, err := a.Resolve(set)
	if err != nil {
		return o
	}
	// A fault that better links hide is found on the worst, and what holds on them holds on
	// better ones: each schedule of those is one of theirs. Links that spoil the order of
	// messages give broadcasts none.
	if needs := a.Needs(opt); !needs.SequencedBroadcast {
		o.Unordered = !needs.FIFO
		if !needs.Reliable {
			o.Duplicate, o.Lose = true, survivedLosses
		}
	}
	return o
}

// Settings returns the settings of an algorithm that are searched where a user asks for
// set: that alone or, where the algorithm names others that do not contradict it
// ([dme.Algorithm.Searched]), set with its defaults for their options, and those.
func Settings(a *dme.Algorithm, nodes int, set map[string]string) []map[string]string {
	first := maps.Clone(set)
	var others []map[string]string
	for _, also := range a.Searched {
		one := merged(also, set)
		if opt, err := a.Resolve(one); err != nil || a.CheckNodes(nodes, opt) != nil || !maps.Equal(one, merged(set, also)) {
			continue
		}
		others = append(others, one)
		for _, o := range a.Options {
			if _, ok := also[o.Name]; ok {
				first = merged(map[string]string{o.Name: o.Default}, first)
			}
		}
	}
	return append([]map[string]string{first}, others...)
}

func merged(a, b map[string]string) map[string]string {
	all := make(map[string]string, len(a)+len(b))
	maps.Copy(all, a)
	maps.Copy(all, b)
	return all
}

// plan says what one random schedule is to be. It is a function of its seed.
type plan struct {
	model    *vnet.Model
	victim   dme.NodeID // the node that the schedule tries to starve; None in most
	seed     uint64     // of the steps of such a schedule
	patience int        // steps for which it holds back what concerns the victim
}

// plan draws what the schedule of a seed is to be. Its numbers come from a source
// of its own: the steps of a schedule whose requests were given are drawn alike
// whether others vary or not.
func (s *Search) plan(seed uint64) (plan, error) {
	m, err := s.model.WithSeed(seed)
	if err != nil {
		return plan{}, err
	}
	rng := rand.New(rand.NewPCG(seed, 0xd1ce))
	one := *m
	one.Bypass = s.bound
	if s.starves && rng.IntN(starvingTurn) == 0 {
		return s.starvation(one, rng), nil
	}
	if s.Vary {
		requests := vary(rng, s.Nodes, s.Requests)
		one.Requests = requestsOf(requests)
	}
	return plan{model: &one}, nil
}

// vary deals requests to nodes, at most that many in all. Each schedule draws how many
// nodes ask and how often, as most faults need few of either and are hidden by more,
// and some need many (Groce, Zhang, Eide, Chen, Regehr, Swarm Testing, ISSTA 2012).
// The result is by node, from 1.
func vary(rng *rand.Rand, nodes, most int) []int {
	asking := nodes
	switch rng.IntN(4) {
	case 0:
		asking = 1 + rng.IntN(nodes)
	case 1:
		asking = min(nodes, 2+rng.IntN(3))
	}
	asking = min(asking, most)
	requests := make([]int, nodes+1)
	who := rng.Perm(nodes)[:asking]
	for _, i := range who {
		requests[1+i]++
	}
	rest := most - asking
	switch rng.IntN(4) {
	case 0:
		rest = 0
	case 1:
		rest = min(rest, asking)
	}
	for range rest {
		requests[1+who[rng.IntN(asking)]]++
	}
	return requests
}

func requestsOf(requests []int) func(dme.NodeID) int {
	return func(id dme.NodeID) int { return requests[id] }
}
