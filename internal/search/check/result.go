package check

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"dmebench/dme"
	"dmebench/dme/vnet"
	"dmebench/runs"
)

// What the links of a search are by.
const (
	LinksByNeeds = "needs" // the worst that the algorithm supports
	LinksByFlags = "flags"
)

// Result is what a search is told to have found, and what 'check --json' prints. Where there is no figure the value
// is null.
type Result struct {
	SchemaVersion int               `json:"schema_version"`
	Algorithm     string            `json:"algorithm"`
	Set           map[string]string `json:"set"`
	Nodes         int               `json:"nodes"`
	Requests      int               `json:"requests"`
	Search        string            `json:"search"`        // random, exhaustive or liveness
	Vary          bool              `json:"requests_vary"` // each schedule draws who asks and how often, so often at most
	LinksBy       string            `json:"links_by"`      // why these links: needs, what the algorithm supports; or flags
	FIFO          bool              `json:"fifo"`
	Duplicate     bool              `json:"duplicate"`
	Lose          int               `json:"lose"`
	Faults        int               `json:"faults,omitempty"`      // nodes that may crash
	SafetyOnly    bool              `json:"safety_only,omitempty"` // standstills count for nothing
	InFlight      int               `json:"in_flight,omitempty"`   // liveness: nobody asks who would put more on a link
	Bypass        *int              `json:"bypass"`                // the bound asked for
	Watched       string            `json:"watched"`               // what overtaking was held against; empty where nothing was
	Seed          uint64            `json:"seed"`                  // of the schedule that broke a property, else of the first

	Status   string        `json:"status"`   // ok, violated, stalled, or incomplete
	Property vnet.Property `json:"property"` // which is broken; empty where none is
	Verdict  string        `json:"verdict"`
	Complete bool          `json:"complete"` // everything that was to be searched has been
	Stopped  string        `json:"stopped"`  // why not

	// Of a search for liveness alone.
	Proven     *bool       `json:"proven,omitempty"`       // safety and liveness hold for that many nodes, however often they ask
	Finding    string      `json:"finding,omitempty"`      // holds, unsafe, deadlock, livelock, starvation or incomplete
	Waiting    dme.NodeID  `json:"waiting_node,omitempty"` // who waits for ever
	Components *uint64     `json:"components,omitempty"`   // strongly connected ones that were looked at
	Lasso      *loopResult `json:"lasso,omitempty"`

	Also      []AlsoSearched `json:"also,omitempty"`       // under further settings, where nothing was found
	NeverSent []string       `json:"never_sent,omitempty"` // of all states: kinds of messages

	Schedules *uint64 `json:"schedules"`
	States    *uint64 `json:"states"`
	Depth     *int    `json:"depth"`
	reachResult
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
	Invariants []string `json:"invariants"` // of the algorithm that were checked in every state
}

// loopResult is a schedule without end: the way in, and the loop that follows for ever.
// Nothing follows in a deadlock, or where it is a matter of safety.
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

// SettingWords are the words of --set.
func SettingWords(set map[string]string) (words []string) {
	for _, name := range slices.Sorted(maps.Keys(set)) {
		words = append(words, name+"="+set[name])
	}
	return words
}

// NewResult says what a search has found.
func NewResult(a *dme.Algorithm, o Options, exhaustive bool, r Report) *Result {
	x := &Result{
		SchemaVersion: runs.SchemaVersion, Algorithm: a.Name, Set: o.Set, Nodes: o.Nodes, Requests: o.Requests, Search: "random", Vary: o.Vary,
		FIFO: !o.Unordered, Duplicate: o.Duplicate, Lose: o.Lose, Faults: o.Faults, SafetyOnly: o.SafetyOnly, Seed: r.Seed,
		Status: "ok", Complete: r.Complete, Stopped: r.Stopped, Steps: r.Steps, Refused: r.Refused, Refusal: r.Refusal,
		ElapsedS: r.Elapsed.Seconds(), Workers: r.Workers,
		Trace: []string{}, Schedule: []string{}, NodeStates: []string{}, Notes: []string{}, Invariants: []string{},
	}
	x.reachResult = reachedBy(o, exhaustive, r)
	if o.Bypass > 0 {
		x.Bypass = &o.Bypass
	}
	count := r.Schedules
	if exhaustive {
		x.Search, x.States, x.Depth, count = "exhaustive", &r.States, &r.Depth, r.States
		x.NeverSent = r.NeverSent
		if o.Bypass > 0 {
			x.MaxBypass = &r.MaxBypass
		}
	} else {
		x.Schedules, x.MaxBypass = &r.Schedules, &r.MaxBypass
	}
	if s := r.Elapsed.Seconds(); s > 0 {
		rate := float64(count) / s
		x.PerSecond = &rate
	}
	switch v := r.Violation; {
	case v == nil && r.Complete:
	case v == nil:
		x.Status = "incomplete"
	default:
		x.Status, x.Property, x.Verdict = "violated", v.Property, v.Verdict
		x.Replay = replayCommand(x, o, Defaults(a, o.Nodes, o.Set), exhaustive)
		if v.Property == Progress || v.Property == Liveness {
			x.Status = "stalled"
		}
	}
	if r.Trace != nil {
		x.Trace, x.NodeStates, x.Why = r.Trace.Lines(), r.Trace.States, r.Trace.Why()
		for _, step := range r.Trace.Steps() {
			x.Schedule = append(x.Schedule, step.String())
		}
	}
	return x
}

// replayCommand is the command line that finds the same violation at once; by is what
// is searched where nobody asks for anything else.
func replayCommand(x *Result, o, by Options, exhaustive bool) string {
	b := []string{"dmebench check --algorithm", x.Algorithm, "--nodes", strconv.Itoa(o.Nodes)}
	if !o.Vary {
		b = append(b, "--requests", strconv.Itoa(o.Requests))
	}
	if exhaustive {
		b = append(b, "--exhaustive")
	}
	if o.Requesters != nil {
		b = append(b, "--requesters", x.askers())
	}
	for _, name := range slices.Sorted(maps.Keys(o.Set)) {
		b = append(b, "--set "+name+"="+o.Set[name])
	}
	switch {
	case o.Unordered:
		b = append(b, "--fifo=false")
	case by.Unordered:
		b = append(b, "--fifo")
	}
	switch {
	case o.Duplicate:
		b = append(b, "--duplicate")
	case by.Duplicate:
		b = append(b, "--duplicate=false")
	}
	if o.Lose > 0 || by.Lose > 0 {
		b = append(b, "--lose", strconv.Itoa(o.Lose))
	}
	if o.Faults > 0 {
		b = append(b, "--faults", strconv.Itoa(o.Faults))
	}
	if o.Bypass > 0 {
		b = append(b, "--bypass", strconv.Itoa(o.Bypass))
	}
	if o.SafetyOnly {
		b = append(b, "--safety-only")
	}
	if o.WithoutInvariants {
		b = append(b, "--invariants=false")
	}
	switch o.Adversary {
	case Chance:
		b = append(b, "--adversary=false")
	case Adversarial:
		b = append(b, "--adversary")
	}
	b = append(b, "--seed", strconv.FormatUint(x.Seed, 10))
	if !exhaustive {
		b = append(b, "--schedules 1")
	}
	return strings.Join(b, " ")
}

// longTrace is how many lines of a counterexample a person is shown: of a
// longer one the beginning and the end.
const longTrace = 120

// Print prints it for a person.
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
	name := strings.TrimSpace(x.Algorithm + " " + strings.Join(SettingWords(x.Set), " "))
	line("search", "%s, %d nodes, %s%s, %s, %s", name, x.Nodes, requests, x.whose(), x.links(), x.why())
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
		x.reachResult.print(line)
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
		line("also searched", "%s: %d schedules, %s", strings.Join(SettingWords(also.Set), " "), also.Schedules, verdict)
	}
	switch {
	case x.Verdict != "":
		line("verdict", "%s", x.Verdict)
	case x.Proven != nil && *x.Proven:
		line("verdict", "%s", x.proof())
	case x.Complete && x.States != nil && x.SafetyOnly:
		line("verdict", "in no state are two nodes in the critical section")
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
	if x.Duplicate {
		text += ", may duplicate any message"
	}
	if x.Lose > 0 {
		text += fmt.Sprintf(", may lose up to %d", x.Lose)
	}
	if x.InFlight > 0 {
		text += fmt.Sprintf(", no request that would put more than %d messages on one", x.InFlight)
	}
	if x.Faults > 0 {
		text += fmt.Sprintf(", up to %d nodes crash", x.Faults)
	}
	return text
}

// why says why the links are what they are.
func (x *Result) why() string {
	if x.LinksBy == LinksByFlags {
		return "as given"
	}
	return "the worst that " + x.Algorithm + " supports"
}

func (x *Result) rate(what string) string {
	if x.PerSecond == nil {
		return ""
	}
	elapsed := time.Duration(x.ElapsedS * float64(time.Second)).Round(time.Millisecond)
	return fmt.Sprintf(" (%v, %.3g %s/s with %d workers)", elapsed, *x.PerSecond, what, x.Workers)
}

// NewLivenessResult says what a search for liveness has found.
func NewLivenessResult(a *dme.Algorithm, o Options, s *Search, r LivenessResult) *Result {
	x := &Result{
		SchemaVersion: runs.SchemaVersion, Algorithm: a.Name, Set: o.Set, Nodes: o.Nodes, Search: "liveness",
		FIFO: !o.Unordered, InFlight: o.InFlight, Seed: o.Seed, Status: "ok", Complete: r.Verdict != Incomplete, Stopped: r.Stopped,
		States: &r.States, Depth: &r.Depth, NeverSent: r.NeverSent,
		Steps: r.Steps, Refused: r.Refused, Refusal: r.Refusal, ElapsedS: r.Elapsed.Seconds(), Workers: 1,
		Proven: new(r.Verdict == Holds), Finding: string(r.Verdict), Waiting: r.Node, Components: &r.Components, Lasso: nil,
		Trace: []string{}, Schedule: []string{}, NodeStates: []string{}, Notes: s.Notes(),
	}
	if seconds := r.Elapsed.Seconds(); seconds > 0 {
		rate := float64(r.States) / seconds
		x.PerSecond = &rate
	}
	switch r.Verdict {
	case Holds:
	case Incomplete:
		x.Status = "incomplete"
	case Unsafe, Starved:
		x.Status = "violated"
	default:
		x.Status = "stalled"
	}
	if r.Violation != nil {
		x.Property, x.Verdict, x.Replay = r.Violation.Property, r.Violation.Verdict, livenessCommand(x, o, Defaults(a, o.Nodes, o.Set))
	}
	if r.Lasso != nil {
		x.Lasso = &loopResult{Prefix: stepTexts(r.Lasso.Prefix), Loop: stepTexts(r.Lasso.Loop)}
	}
	if r.Trace != nil {
		x.Trace, x.NodeStates, x.Why, x.Schedule = r.Trace.Lines(), r.Trace.States, r.Trace.Why(), stepTexts(r.Trace.Steps())
	}
	return x
}

func stepTexts(steps []vnet.Step) []string {
	all := make([]string, len(steps))
	for i, x := range steps {
		all[i] = x.String()
	}
	return all
}

// livenessCommand is the command line that finds the same again.
func livenessCommand(x *Result, o, defaults Options) string {
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
	if o.Seed != runs.DefaultSeed {
		b = append(b, "--seed", strconv.FormatUint(o.Seed, 10))
	}
	return strings.Join(b, " ")
}

// proof is what a person is told of a search for liveness that found nothing.
func (x *Result) proof() string {
	who := fmt.Sprintf("for %d nodes that ask any number of times", x.Nodes)
	if x.InFlight > 0 {
		who += fmt.Sprintf(", but only where a link then holds no more than %d", x.InFlight)
	}
	return "proven " + who + ": every property holds in every state, and every request is served in every fair schedule"
}

// reachResult is how far an exhaustive search went, and who asked in any.
type reachResult struct {
	Requesters []dme.NodeID `json:"requesters,omitempty"` // who asks; all where it is not given
	Reduced    *bool        `json:"reduced,omitempty"`    // exhaustive: orders of steps, or states, that make no difference were left out
	Reduction  string       `json:"reduction,omitempty"`  // of which kind they are
	Bitstate   *Bitstate    `json:"bitstate,omitempty"`   // exhaustive: where only a few bits of each state were kept
}

// Kinds of reduction, and what they leave out.
const (
	forcedArrivals = "forced arrivals"
	clockClasses   = "classes of clocks"
)

var leftOut = map[string]string{
	forcedArrivals: "orders of steps that make no difference are left out; --reduce=false searches them too",
	clockClasses:   "of states that differ in the values of clocks alone, one is visited; --reduce=false visits them all",
}

func reachedBy(o Options, exhaustive bool, r Report) reachResult {
	x := reachResult{Requesters: o.Requesters, Bitstate: r.Bitstate}
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

func (x *reachResult) print(line func(name, format string, args ...any)) {
	if x.Reduction != "" {
		line("reduced", "%s", leftOut[x.Reduction])
	}
	if b := x.Bitstate; b != nil {
		line("bitstate", "%d bits for each state, in %v of which %.3g%% is filled: "+
			"at the end a new state is taken for an old one with probability %.2g", b.Bits, b.Size, 100*b.Filled, b.Last)
	}
}

// distance is what the farthest state is counted by. What is forced is no choice.
func (x *reachResult) distance() string {
	if x.Reduction != "" {
		return "choices"
	}
	return "steps"
}

// askers are the nodes that ask, as they are written in a flag.
func (x *reachResult) askers() string {
	var words []string
	for _, id := range x.Requesters {
		words = append(words, id.String())
	}
	return strings.Join(words, ",")
}

// whose says whose the requests are, where they are not everybody's.
func (x *reachResult) whose() string {
	switch len(x.Requesters) {
	case 0:
		return ""
	case 1:
		return " of node " + x.askers()
	}
	return " of nodes " + x.askers()
}
