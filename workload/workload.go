// Package workload says when each node asks for the critical section and how
// long it stays inside. It is pure: a [Plan] is a function of its [Spec], the
// number of nodes and the seed, and the same plan drives worker processes and
// the simulator.
//
// Ownership: the coordinator of a run draws the seed, makes the plan and
// directs its phases (start, steps, end); a worker makes the same plan from the
// same three inputs and executes the part of its own nodes. Random numbers of
// different nodes and purposes come from independent streams, so that what one
// node draws never depends on how fast another one is.
package workload

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"dmebench/units"

	"dmebench/dme"
)

// Drive says what makes a node ask.
type Drive uint8

const (
	// Closed: a node asks again after it has left, perhaps after a pause.
	Closed Drive = iota
	// Open: a node asks at times that do not depend on what becomes of its
	// earlier requests; requests that come too early wait in line.
	Open
	// Stepped: the run proceeds in steps; each begins when the system is quiet.
	Stepped
)

// Spec describes a workload.
type Spec struct {
	Name      string
	Rate      float64       // requests per second and node; 0 if not given
	TotalRate float64       // requests per second of the whole system; 0 if not given
	CS        Distribution  // duration of a critical section
	Requests  int           // total; 0 for no limit; an open workload ends with that arrival of all nodes together
	Duration  time.Duration // no request is made after it; 0 for no limit
	Options   dme.Options
	ReadFile  func(name string) ([]byte, error) // for workloads that read a file
}

// Kind describes one of the built-in workloads.
type Kind struct {
	Name    string
	Help    string
	Drive   Drive
	Rated   bool // needs a rate
	Options []dme.Option

	build func(*Plan) error
}

// Kinds lists the built-in workloads.
func Kinds() []Kind {
	all := kinds()
	for i := range all {
		all[i].Options = append(all[i].Options, dme.Option{
			Name: "readers", Default: "0", Forms: []string{"FRACTION"}, Valid: dme.Valid(dme.Fraction),
			Help: "the part of all requests that are readers', for an algorithm that lets several of them in at once",
		})
	}
	return all
}

func kinds() []Kind {
	return []Kind{
		{
			Name: "saturate", Drive: Closed, build: (*Plan).saturate,
			Help: "closed loop: a node asks again at its exit",
			Options: []dme.Option{{
				Name: "think", Default: "0", Forms: []string{"DURATION", "exp:DURATION"}, Valid: dme.Valid(ParseDistribution),
				Help: "pause between an exit and the node's next request, and before its first",
			}},
		},
		{
			Name: "poisson", Drive: Open, Rated: true, build: (*Plan).poisson,
			Help: "open loop: each node's requests are a Poisson process of the given rate",
		},
		{
			Name: "serial", Drive: Stepped, build: (*Plan).serial,
			Help: "one request in the whole system at a time, each to quiescence",
			Options: []dme.Option{{
				Name: "requesters", Default: "random", Words: []string{"random", "each"},
				Help: "which node asks next: one drawn uniformly, or each in turn",
			}},
		},
		{
			Name: "burst", Drive: Stepped, build: (*Plan).burst,
			Help: "rounds in which all nodes ask at about the same time, each to quiescence",
			Options: []dme.Option{{
				Name: "window", Default: "1ms", Forms: []string{"DURATION"}, Valid: dme.Valid(parseDuration),
				Help: "the requests of a round are spread uniformly over this time",
			}},
		},
		{
			Name: "hotspot", Drive: Open, Rated: true, build: (*Plan).hotspot,
			Help: "like poisson, but a few nodes make most of the requests",
			Options: []dme.Option{
				{Name: "hot", Default: "1", Forms: []string{"COUNT"}, Valid: dme.Valid(parseCount),
					Help: "how many nodes are hot: the nodes 1 to COUNT"},
				{Name: "share", Default: "0.8", Forms: []string{"FRACTION"}, Valid: dme.Valid(parseShare),
					Help: "the part of all requests that the hot nodes make together, on average"},
			},
		},
		{
			Name: "trace", Drive: Open, build: (*Plan).trace,
			Help: "requests at the times that a file lists",
			Options: []dme.Option{{
				Name: "file", Default: "", Forms: []string{"FILE"}, Valid: func(string) error { return nil },
				Help: "lines of 'seconds,node' or 'seconds,node,seconds in the CS'",
			}},
		},
	}
}

// Lookup returns the workload of that name, in any case.
func Lookup(name string) (Kind, error) {
	return units.Lookup("workload", name, Kinds(), func(k Kind) string { return k.Name })
}

// Arrival is a request of a node, After the beginning of its step.
type Arrival struct {
	Node  dme.NodeID
	After time.Duration
}

// Plan is a workload for a given number of nodes and a seed. It is immutable;
// its clients and steps are made again at each call.
type Plan struct {
	spec  Spec
	kind  Kind
	nodes int
	seed  uint64

	shares  []int   // requests of node i+1; nil for no limit
	readers float64 // part of the requests
	client  func(id dme.NodeID) func() (time.Duration, bool)
	holds   map[dme.NodeID][]time.Duration // prescribed CS durations, by request; 0 draws one
	steps   int
	step    func(k int) []Arrival
}

// New makes the plan, or says everything that is wrong with the spec.
func New(spec Spec, nodes int, seed uint64) (*Plan, error) {
	kind, err := Lookup(spec.Name)
	if err != nil {
		return nil, err
	}
	p := &Plan{spec: spec, kind: kind, nodes: nodes, seed: seed}
	if spec.Options == nil {
		if p.spec.Options, err = dme.ResolveOptions(kind.Options, nil); err != nil {
			return nil, err
		}
	}
	var errs []error
	refuse := func(wrong bool, format string, args ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf(spec.Name+": "+format, args...))
		}
	}
	refuse(nodes < 1, "%d nodes; there must be at least 1", nodes)
	for _, rate := range []float64{spec.Rate, spec.TotalRate} {
		refuse(!(rate >= 0 && rate <= maxRate), "%v is not a rate in requests per second from 0 to %g", rate, float64(maxRate))
	}
	refuse(spec.CS.Mean < 0 || spec.CS.Mean > MaxDuration, "the critical section cannot last %v", spec.CS.Mean)
	given := spec.Rate > 0 || spec.TotalRate > 0
	refuse(spec.Rate > 0 && spec.TotalRate > 0, "give a rate per node or a total rate, not both")
	refuse(kind.Rated && !given, "needs a rate per node or a total rate, in requests per second: give --rate or --total-rate")
	refuse(!kind.Rated && given && !(spec.Rate > 0 && spec.TotalRate > 0), "takes no rate")
	refuse(spec.Requests < 0 || spec.Duration < 0, "the number of requests and the duration must not be negative")
	refuse(spec.Duration > MaxDuration, "a duration of %v is longer than %v, the longest of anything in a run", spec.Duration, MaxDuration)
	refuse(float64(spec.Requests)*float64(spec.CS.Mean) > float64(maxHeld),
		"%d critical sections of %v one after the other take longer than 200 years; make fewer requests or shorter ones",
		spec.Requests, spec.CS.Mean)
	refuse(spec.Requests == 0 && spec.Duration == 0 && kind.Name != "trace", "needs a number of requests or a duration")
	if errs != nil {
		return nil, errors.Join(errs...)
	}
	if spec.Requests > 0 {
		p.shares = make([]int, nodes)
		for i := range p.shares {
			p.shares[i] = spec.Requests / nodes
			if i < spec.Requests%nodes {
				p.shares[i]++
			}
		}
	}
	if part, set := p.spec.Options["readers"]; set {
		if p.readers, err = dme.Fraction(part); err != nil {
			return nil, fmt.Errorf("%s: readers=%s: %w", spec.Name, part, err)
		}
	}
	if err := kind.build(p); err != nil {
		return nil, fmt.Errorf("%s: %w", spec.Name, err)
	}
	return p, nil
}

// Drive says what makes the nodes ask.
func (p *Plan) Drive() Drive { return p.kind.Drive }

// Nodes returns the number of nodes that the plan is for.
func (p *Plan) Nodes() int { return p.nodes }

// MeanHold returns the mean duration of a critical section as specified.
func (p *Plan) MeanHold() time.Duration { return p.spec.CS.Mean }

// HoldVariability returns the squared coefficient of variation of the duration of a critical
// section as specified: 0 if it is constant, 1 if exponential.
func (p *Plan) HoldVariability() float64 {
	if p.spec.CS.Exponential {
		return 1
	}
	return 0
}

// LongestHold returns a duration that no critical section of the plan exceeds;
// an exponentially distributed one does so once in 10¹³ draws.
func (p *Plan) LongestHold() time.Duration {
	longest := p.spec.CS.Mean
	if p.spec.CS.Exponential {
		longest *= 30
	}
	for _, holds := range p.holds {
		longest = max(longest, slices.Max(holds))
	}
	return longest
}

// Duration is how long requests are made; 0 for no limit.
func (p *Plan) Duration() time.Duration { return p.spec.Duration }

// OfferedRate returns the requests per second that the plan offers to the whole system; 0 if they
// depend on the system itself.
func (p *Plan) OfferedRate() float64 {
	if p.spec.TotalRate > 0 {
		return p.spec.TotalRate
	}
	return p.spec.Rate * float64(p.nodes)
}

// Requests returns the number of requests that the plan makes in all; 0 if there is no limit but
// the duration.
func (p *Plan) Requests() int {
	if p.kind.Name == "serial" {
		return max(p.steps, 0)
	}
	return sum(p.shares)
}

// Readers returns the part of all requests that are readers', from 0 to 1.
func (p *Plan) Readers() float64 { return p.readers }

// Share returns the number of requests that node id makes in all; -1 if only the duration or the
// number of steps limits it. Of a poisson or hotspot workload it is what chance gives the node of
// the first requests of all nodes together.
func (p *Plan) Share(id dme.NodeID) int {
	if p.shares == nil {
		return -1
	}
	return p.shares[id-1]
}

// Steps returns the number of steps of a stepped plan; -1 if there is no limit but the duration.
func (p *Plan) Steps() int { return p.steps }

// Step returns the requests of step k ≥ 0 of a stepped plan, in the order of
// their nodes. It depends on k and the plan alone.
func (p *Plan) Step(k int) []Arrival { return p.step(k) }

// Client is what one node executes of a plan. Not safe for concurrent use.
type Client struct {
	plan *Plan
	id   dme.NodeID
	next func() (time.Duration, bool)
	left int        // requests
	hold *rand.Rand // of the durations of critical sections; nil if they are equal
	held int
	mode *rand.Rand // nil if there are no readers
}

// Client returns node id's part of the plan, from the beginning.
func (p *Plan) Client(id dme.NodeID) *Client {
	c := &Client{plan: p, id: id, left: p.share(id)}
	if p.spec.CS.Exponential {
		c.hold = p.stream(holds, id)
	}
	if p.client != nil {
		c.next = p.client(id)
	}
	if p.readers > 0 {
		c.mode = p.stream(modes, id)
	}
	return c
}

// Drive says what makes the node ask.
func (c *Client) Drive() Drive { return c.plan.kind.Drive }

// Duration is how long requests are made; 0 for no limit.
func (c *Client) Duration() time.Duration { return c.plan.spec.Duration }

// Next returns when the node makes its next request: in an open loop the time
// since the start of the run; in a closed loop the pause since its last exit,
// or since the start. ok is false once the node has made all its requests, and
// always in a stepped plan.
func (c *Client) Next() (after time.Duration, ok bool) {
	if c.next == nil || c.left == 0 {
		return 0, false
	}
	c.left--
	return c.next()
}

// Reads reports whether the node's next request is a reader's. It is to be
// called once for each request.
func (c *Client) Reads() bool {
	return c.mode != nil && c.mode.Float64() < c.plan.readers
}

// Hold returns the duration of the node's next critical section.
func (c *Client) Hold() time.Duration {
	prescribed := c.plan.holds[c.id]
	d := c.plan.spec.CS.draw(c.hold)
	if c.held < len(prescribed) && prescribed[c.held] > 0 {
		d = prescribed[c.held]
	}
	c.held++
	return d
}
