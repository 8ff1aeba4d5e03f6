package check

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"dmebench/dme"
	"dmebench/dme/vnet"
	"dmebench/runs"
	"dmebench/units"
)

// The origin of a search's links.
const (
	LinksByNeeds = "needs" // the worst that the algorithm supports
	LinksByFlags = "flags"
)

// Result is what a search has found, as 'check --json' prints it; without a figure it is null.
type Result struct {
	SchemaVersion int               `json:"schema_version"`
	Algorithm     string            `json:"algorithm"`
	Set           map[string]string `json:"set"`
	Nodes         int               `json:"nodes"`
	Requests      int               `json:"requests"`
	Search        string            `json:"search"`        // random, exhaustive or liveness
	Vary          bool              `json:"requests_vary"` // each schedule draws which nodes ask and how often, up to that often
	LinksBy       string            `json:"links_by"`      // why these links: needs, what the algorithm supports; or flags
	FIFO          bool              `json:"fifo"`
	Duplicate     bool              `json:"duplicate"`
	Lose          int               `json:"lose"`
	Faults        int               `json:"faults,omitempty"`      // nodes that may crash
	Sites         string            `json:"sites,omitempty"`       // between which messages take their time
	Place         string            `json:"place,omitempty"`       // how nodes are placed there
	SafetyOnly    bool              `json:"safety_only,omitempty"` // standstills count for nothing
	InFlight      int               `json:"in_flight,omitempty"`   // liveness: a node does not ask if that would put more on a link
	Bypass        *int              `json:"bypass"`                // the bound asked for
	Watched       string            `json:"watched"`               // what overtaking was held against; empty if nothing was
	Seed          uint64            `json:"seed"`                  // of the schedule that broke a property, else of the first

	Status   string        `json:"status"`   // ok, violated, stalled, or incomplete
	Property vnet.Property `json:"property"` // the broken property; empty if none is
	Verdict  string        `json:"verdict"`
	Complete bool          `json:"complete"` // everything that was to be searched has been
	Stopped  string        `json:"stopped"`  // why not

	// Of a search for liveness alone.
	Proven     *bool       `json:"proven,omitempty"`       // safety and liveness hold for that many nodes, however often they ask
	Finding    string      `json:"finding,omitempty"`      // holds, unsafe, deadlock, livelock, starvation or incomplete
	Waiting    dme.NodeID  `json:"waiting_node,omitempty"` // the node that waits for ever
	Components *uint64     `json:"components,omitempty"`   // strongly connected ones that were looked at
	Lasso      *loopResult `json:"lasso,omitempty"`

	Also      []AlsoSearched `json:"also,omitempty"`       // under further settings, if nothing was found
	NeverSent []string       `json:"never_sent,omitempty"` // of all states: kinds of messages

	Schedules *uint64 `json:"schedules"`
	States    *uint64 `json:"states"`
	Depth     *int    `json:"depth"`
	// Of an exhaustive search, and the nodes that asked in any.
	Requesters []dme.NodeID `json:"requesters,omitempty"` // the nodes that ask; all if absent
	Reduced    *bool        `json:"reduced,omitempty"`    // orders of steps, or states, that make no difference were left out
	Reduction  string       `json:"reduction,omitempty"`  // its kind
	Bitstate   *Bitstate    `json:"bitstate,omitempty"`   // where only a few bits of each state were kept

	Steps     uint64   `json:"steps"` // taken in all schedules, or from all states
	MaxBypass *int     `json:"max_bypass"`
	Starved   int      `json:"starved,omitempty"`              // schedules in which a node starved, which is not promised not to be
	SampledIn int      `json:"max_bypass_schedules,omitempty"` // exhaustive without a bound: random schedules that showed it
	Refused   uint64   `json:"refused"`                        // messages that nodes refused
	Refusal   string   `json:"refusal"`                        // the reason of one of them
	ElapsedS  float64  `json:"elapsed_s"`
	PerSecond *float64 `json:"per_second"` // schedules or states
	Workers   int      `json:"workers"`

	Trace      []string `json:"trace"`    // a line for each step
	Schedule   []string `json:"schedule"` // the steps alone
	NodeStates []string `json:"node_states"`
	Why        []string `json:"why,omitempty"`            // of a standstill: what is waited for
	WaitFor    string   `json:"wait_for_graph,omitempty"` // the file in which it is drawn
	Replay     string   `json:"replay"`                   // the command that shows it again
	SVG        string   `json:"svg"`
	Scenario   string   `json:"scenario,omitempty"` // the file in which it is saved
	Notes      []string `json:"notes"`
	Invariants []string `json:"invariants"`              // of the algorithm that were checked in every state
	JudgedIn   uint64   `json:"invariants_in,omitempty"` // there are more states than these, in which they were; all else was in all
}

// loopResult is a schedule without end: the way in, and what follows for ever, if anything.
type loopResult struct {
	Prefix []string `json:"prefix"`
	Loop   []string `json:"loop"`
}

// AlsoSearched is a search under another setting that found nothing.
type AlsoSearched struct {
	Set       map[string]string `json:"set"`
	Complete  bool              `json:"complete"`
	Stopped   string            `json:"stopped"`
	Schedules uint64            `json:"schedules"`
}

// Kinds of searches.
const (
	ofSchedules = "random"
	ofStates    = "exhaustive"
	ofLiveness  = "liveness"
)

// Kinds of reduction, and what they leave out.
const (
	forcedArrivals = "forced arrivals"
	clockClasses   = "classes of clocks"
)

var leftOut = map[string]string{
	forcedArrivals: "orders of steps that make no difference are left out; --reduce=false searches them too",
	clockClasses:   "of states that differ in the values of clocks alone, one is visited; --reduce=false visits them all",
}

func NewResult(a *dme.Algorithm, o Options, exhaustive bool, r Report) *Result {
	kind := ofSchedules
	if exhaustive {
		kind = ofStates
	}
	x := newResult(a, o, kind, r)
	x.Invariants, x.JudgedIn, x.Bitstate = []string{}, r.JudgedIn, r.Bitstate
	if o.Bypass > 0 {
		x.Bypass = &o.Bypass
	}
	if !exhaustive || o.Bypass > 0 {
		x.MaxBypass = &r.MaxBypass
	}
	if exhaustive {
		if x.Reduced = &r.Reduced; r.Reduced {
			x.Reduction = forcedArrivals
		}
		if r.ByClass {
			x.Reduction = clockClasses
		}
	}
	return x
}

func NewLivenessResult(a *dme.Algorithm, o Options, s *Search, r LivenessResult) *Result {
	x := newResult(a, o, ofLiveness, r.Report)
	x.InFlight, x.Proven, x.Finding = o.InFlight, new(r.Verdict == Holds), string(r.Verdict)
	x.Waiting, x.Components, x.Notes = r.Node, &r.Components, s.Notes()
	if r.Lasso != nil {
		x.Lasso = &loopResult{Prefix: stepTexts(r.Lasso.Prefix), Loop: stepTexts(r.Lasso.Loop)}
	}
	return x
}

func newResult(a *dme.Algorithm, o Options, kind string, r Report) *Result {
	x := &Result{
		SchemaVersion: runs.SchemaVersion, Algorithm: a.Name, Set: o.Set, Nodes: o.Nodes, Requests: o.Requests, Search: kind, Vary: o.Vary,
		FIFO: !o.Unordered, Duplicate: o.Duplicate, Lose: o.Lose, Faults: o.Faults, SafetyOnly: o.SafetyOnly, Seed: r.Seed,
		Status: "ok", Complete: r.Complete, Stopped: r.Stopped, Requesters: o.Requesters,
		NeverSent: r.NeverSent, Steps: r.Steps, Refused: r.Refused, Refusal: r.Refusal,
		ElapsedS: r.Elapsed.Seconds(), Workers: r.Workers,
		Trace: []string{}, Schedule: []string{}, NodeStates: []string{}, Notes: []string{},
	}
	if o.Sites != nil {
		x.Sites, x.Place = o.Sites.Name, o.Sites.Place
	}
	count := r.States
	if kind == ofSchedules {
		x.Schedules, count = &r.Schedules, r.Schedules
	} else {
		x.States, x.Depth = &r.States, &r.Depth
	}
	if s := r.Elapsed.Seconds(); s > 0 {
		x.PerSecond = new(float64(count) / s)
	}
	switch v := r.Violation; {
	case v != nil:
		x.Status, x.Property, x.Verdict = "violated", v.Property, v.Verdict
		x.Replay = x.replay(o, Defaults(a, o.Nodes, o.Set))
		if v.Property == Progress || v.Property == Liveness {
			x.Status = "stalled"
		}
	case !r.Complete:
		x.Status = "incomplete"
	}
	if r.Trace != nil {
		x.Trace, x.NodeStates, x.Why, x.Schedule = r.Trace.Lines(), r.Trace.States, r.Trace.Why(), stepTexts(r.Trace.Steps())
	}
	return x
}

func stepTexts(steps []vnet.Step) []string {
	return units.Texts(steps, vnet.Step.String)
}

// replay is the command line that finds the same violation at once; by is the default search.
func (x *Result) replay(o, by Options) string {
	var b strings.Builder
	add := func(wanted bool, format string, args ...any) {
		if wanted {
			fmt.Fprintf(&b, format, args...)
		}
	}
	live := x.Search == ofLiveness
	add(true, "dmebench check --algorithm %s --nodes %d", x.Algorithm, o.Nodes)
	add(!o.Vary && !live, " --requests %d", o.Requests)
	add(x.Search == ofStates, " --exhaustive")
	add(live, " --liveness")
	add(o.Requesters != nil, " --requesters %s", x.askers())
	add(true, "%s", runs.SetFlags(o.Set))
	add(o.Unordered && !(live && by.Unordered), " --fifo=false")
	add(!o.Unordered && by.Unordered, " --fifo")
	if !live { // a search for liveness has links of its own
		add(o.Duplicate, " --duplicate")
		add(!o.Duplicate && by.Duplicate, " --duplicate=false")
		add(o.Lose > 0 || by.Lose > 0, " --lose %d", o.Lose)
	}
	add(o.Faults > 0, " --faults %d", o.Faults)
	add(o.Bypass > 0, " --bypass %d", o.Bypass)
	add(o.SafetyOnly, " --safety-only")
	add(o.WithoutInvariants, " --invariants=false")
	if o.Sites != nil {
		add(true, " --sites %s --place %s", runs.Quoted(o.Sites.Name), runs.Quoted(o.Sites.Place))
	}
	add(o.Adversary == Chance && o.Sites == nil, " --adversary=false")
	add(o.Adversary == Adversarial, " --adversary")
	add(o.InFlight > 0, " --in-flight %d", o.InFlight)
	add(!live || o.Seed != runs.DefaultSeed, " --seed %d", x.Seed)
	add(x.Search == ofSchedules, " --schedules 1")
	return b.String()
}

// longTrace is how many lines of a counterexample are shown; of a longer one both ends.
const longTrace = 120

func (x *Result) Print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	line := func(name, format string, args ...any) { fmt.Fprintf(w, "%s\t%s\n", name, fmt.Sprintf(format, args...)) }
	requests := fmt.Sprintf("%d requests", x.Requests)
	switch {
	case x.Proven != nil:
		requests = "any number of requests"
	case x.Vary:
		requests = "up to " + requests
	}
	why := "as given"
	if x.LinksBy != LinksByFlags {
		why = "the worst that " + x.Algorithm + " supports"
	}
	name := strings.TrimSpace(x.Algorithm + " " + runs.Settings(x.Set))
	line("search", "%s, %d nodes, %s%s, %s, %s", name, x.Nodes, requests, x.whose(), x.links(), why)
	if x.Watched != "" {
		line("overtaking", "%s", x.Watched)
	}
	for _, note := range x.Notes {
		line("note", "%s", note)
	}
	if len(x.Invariants) > 0 {
		line("invariants", "%s", strings.Join(x.Invariants, ", "))
	}
	if x.Refused > 0 {
		line("note", "%d messages were refused, such as: %s", x.Refused, x.Refusal)
	}
	if x.States != nil {
		line("states", "%d, the farthest %d %s from the beginning%s", *x.States, *x.Depth, x.distance(), x.rate("states"))
		if x.Reduction != "" {
			line("reduced", "%s", leftOut[x.Reduction])
		}
		if b := x.Bitstate; b != nil {
			line("bitstate", "%d bits for each state, in %v of which %.3g%% is filled: "+
				"at the end a new state is taken for an old one with probability %.2g", b.Bits, b.Size, 100*b.Filled, b.Last)
		}
	} else {
		line("schedules", "%d, %d steps%s", *x.Schedules, x.Steps, x.rate("schedules"))
	}
	switch {
	case x.SampledIn > 0:
		line("most overtaken", "%d entries of others between a request and its entry, in %d random schedules; "+
			"--bypass K bounds it in every state", *x.MaxBypass, x.SampledIn)
	case x.MaxBypass != nil:
		line("most overtaken", "%d entries of others between a request and its entry", *x.MaxBypass)
	}
	if len(x.NeverSent) > 0 && x.Complete {
		line("never sent", "%s: how nodes handle them was not searched", strings.Join(x.NeverSent, ", "))
	}
	for _, also := range x.Also {
		verdict := "no violation found"
		if !also.Complete {
			verdict += ", but the search is not complete: " + also.Stopped
		}
		line("also searched", "%s: %d schedules, %s", runs.Settings(also.Set), also.Schedules, verdict)
	}
	switch {
	case x.Verdict != "":
		line("verdict", "%s", x.Verdict)
	case x.Proven != nil && *x.Proven:
		line("verdict", "%s", x.proof())
	case x.Complete && x.States != nil && x.SafetyOnly:
		line("verdict", "in no state are two nodes in the critical section")
	case x.Complete && x.JudgedIn > 0:
		line("verdict", "every property holds in every state, but for invariants, of which that is not known")
	case x.Complete && x.States != nil:
		line("verdict", "every property holds in every state")
	case x.Complete:
		line("verdict", "no violation found")
	default:
		line("verdict", "no violation found, but the search is not complete: %s", x.Stopped)
	}
	if err := w.Flush(); err != nil || x.Verdict == "" {
		return err
	}
	return x.printTrace(out)
}

func (x *Result) printTrace(out io.Writer) error {
	var b strings.Builder
	b.WriteByte('\n')
	for i, line := range x.Trace {
		if x.Lasso != nil && len(x.Lasso.Loop) > 0 && i == len(x.Trace)-len(x.Lasso.Loop) {
			b.WriteString("     ⟲ from here on, repeated for ever:\n")
		}
		switch hidden := len(x.Trace) - longTrace; {
		case hidden > 0 && i == longTrace/2:
			fmt.Fprintf(&b, "     … %d more steps; --json shows all …\n", hidden)
		case hidden > 0 && i > longTrace/2 && i < longTrace/2+hidden:
		default:
			fmt.Fprintln(&b, line)
		}
	}
	fmt.Fprintf(&b, "     → %s\n", x.Verdict)
	for _, line := range x.Why {
		fmt.Fprintf(&b, "       %s\n", line)
	}
	b.WriteByte('\n')
	for _, state := range x.NodeStates {
		fmt.Fprintf(&b, "  %s\n", state)
	}
	fmt.Fprintf(&b, "\nto reproduce it: %s\n", x.Replay)
	if x.SVG != "" {
		fmt.Fprintf(&b, "drawn in %s\n", x.SVG)
	}
	if x.Scenario != "" {
		fmt.Fprintf(&b, "saved in %s; 'dmebench trace -f %s' plays it\n", x.Scenario, x.Scenario)
	}
	if x.WaitFor != "" {
		fmt.Fprintf(&b, "who waits for whom is drawn in %s\n", x.WaitFor)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func (x *Result) links() string {
	text := "links that keep order"
	if !x.FIFO {
		text = "links that do not keep order"
	}
	add := func(yes bool, format string, args ...any) {
		if yes {
			text += ", " + fmt.Sprintf(format, args...)
		}
	}
	add(x.Duplicate, "may duplicate any message")
	add(x.Lose > 0, "may lose up to %d", x.Lose)
	add(x.InFlight > 0, "no request that would put more than %d messages on one", x.InFlight)
	add(x.Faults > 0, "up to %d nodes crash", x.Faults)
	return text
}

func (x *Result) rate(what string) string {
	if x.PerSecond == nil {
		return ""
	}
	elapsed := time.Duration(x.ElapsedS * float64(time.Second)).Round(time.Millisecond)
	return fmt.Sprintf(" (%v, %s %s/s with %d workers)", elapsed, units.Number(*x.PerSecond), what, x.Workers)
}

// proof describes a search for liveness that found nothing.
func (x *Result) proof() string {
	who := fmt.Sprintf("for %d nodes that ask any number of times", x.Nodes)
	if x.InFlight > 0 {
		who += fmt.Sprintf(", but only if a link then holds no more than %d", x.InFlight)
	}
	return "proven " + who + ": every property holds in every state, and every request is served in every fair schedule"
}

// distance is what the farthest state is counted by. A forced step is not a choice.
func (x *Result) distance() string {
	if x.Reduction != "" {
		return "choices"
	}
	return "steps"
}

// askers are the nodes that ask, as they are written in a flag.
func (x *Result) askers() string {
	return strings.Join(units.Texts(x.Requesters, dme.NodeID.String), ",")
}

func (x *Result) whose() string {
	switch len(x.Requesters) {
	case 0:
		return ""
	case 1:
		return " of node " + x.askers()
	}
	return " of nodes " + x.askers()
}
