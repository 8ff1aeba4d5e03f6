package check

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"dmebench/dme/vnet"
)

// Exhaustive visits every state that a schedule can reach, in the order of their distance from the
// beginning, and reports the first violation it meets: no shorter schedule shows one, but for one
// step. The number of states is a function of the options; which of several shortest schedules is
// shown may depend on how the workers share the work, if the search was so large that it is not
// repeated by one of them alone. Steps that lead only where other states of the same distance lead
// are counted, but not taken ([vnet.Sleep]).
//
// With [Options.Reduce] it visits fewer states, if that is sound: it leaves out orders of steps
// that make no difference (see [vnet.Reduction]) or, if the nodes show rising clocks, visits one
// state of each class (see [vnet.Classes]). Whether there is a violation it tells as surely. If
// there is one, the states are visited without reduction for the shortest schedule that shows one;
// if those are too many, a schedule that was found with it is shortened.
//
// It needs memory for every state: about 50 bytes, and until it is expanded 4·N² more, or a tenth of
// that in a search that holds much. [Options.Memory] bounds it. An error says that the search itself
// is wrong.
//
// With [Options.Bitstate] it keeps a few bits of each state only, and goes depth first. Then it may
// take a new state for an old one: it says with which probability, never that it is complete, and
// shows schedules that were shortened.
func (s *Search) Exhaustive(ctx context.Context) (Report, error) {
	start := time.Now()
	ctx, cancel := s.within(ctx)
	defer cancel()
	visit := s.visitAll
	if s.Bitstate > 0 {
		visit = s.bitstate
	}
	report, err := visit(ctx)
	report.Elapsed = time.Since(start)
	return report, err
}

// little is a number of states that take a moment.
const little = 1_000_000

// turn is how far a search goes without reduction before it tries one, and what that may
// cost. A reduction is slower for each state: where the states are few it takes longer
// than it saves, and if nothing commutes it saves nothing.
type turn struct {
	states uint64
	effort vnet.Effort
}

var turns = []turn{
	{3 * little, vnet.Thorough(6 * little)},
	{15 * little, vnet.Thorough(100 * little)},
}

func (s *Search) visitAll(ctx context.Context) (Report, error) {
	byClass := vnet.NewSpace(s.model).NewClasses().Ordered()
	switch {
	case !s.Reduce:
		return s.unreduced(ctx, s.States).outcome(ctx)
	case s.WhyNotReduced() != "":
		return s.beyondInvariants(ctx, s.unreduced(ctx, s.States))
	case byClass || s.reducesFirst:
		return s.visitReduced(ctx)
	}
	x := newExhaustive(s, s.Workers)
	for _, turn := range turns {
		if x.runTo(ctx, turn.states); !x.paused() {
			break
		}
		switch r := s.reduced(ctx, turn.effort, x.count.Load(), x.memory.held.Load()); {
		case r.found != nil:
			if x.runTo(ctx, x.count.Load()+max(little, 10*r.count.Load())); x.found == nil {
				x = r
			}
			return x.outcome(ctx)
		case !r.halt.Load():
			return r.outcome(ctx)
		}
	}
	x.run(ctx)
	return s.repeated(ctx, x).outcome(ctx)
}

func (s *Search) visitReduced(ctx context.Context) (Report, error) {
	x := s.reduced(ctx, vnet.Brief, s.States, 0)
	if x.found != nil {
		shortest := s.unreduced(ctx, max(little, 10*x.count.Load()))
		if shortest.found != nil || x.byClass && !shortest.halt.Load() {
			x = shortest
		}
	}
	report, err := x.outcome(ctx)
	if err == nil && x.byClass && report.Complete {
		err = s.compareClocks()
	}
	return report, err
}

// beyondInvariants goes on if invariants, which forbid a reduction, were judged in as many states
// as may be visited, and there are more: what else has to hold is searched with reduction.
func (s *Search) beyondInvariants(ctx context.Context, x *exhaustive) (Report, error) {
	report, err := x.outcome(ctx)
	limited := x.halt.Load() && x.found == nil && ctx.Err() == nil
	if !limited || len(s.model.Invariants) == 0 || s.model.Fenced {
		return report, err
	}
	bare := *s
	if bare.model, err = s.model.Unwatched(); err != nil || bare.WhyNotReduced() != "" {
		return report, err
	}
	x = nil
	debug.FreeOSMemory() // what it held is needed for the next
	r := bare.reduced(ctx, vnet.Thorough(int(min(100*little, 20*s.States))), s.States, 0)
	if r.found == nil && r.halt.Load() {
		return report, nil
	}
	judged := report.States
	if report, err = r.outcome(ctx); err == nil && r.byClass && report.Complete {
		err = bare.compareClocks()
	}
	report.JudgedIn = judged
	return report, err
}

const (
	comparedWalks = 4
	comparedNear  = 1500 // steps
)

// compareClocks is an error if the nodes do more with their clocks than the classes of states allow
// for. A counterexample is right then, and finding none says nothing.
func (s *Search) compareClocks() error {
	if err := vnet.CompareClocks(s.model, comparedWalks, comparedNear); err != nil {
		return fmt.Errorf("check: there is no verdict: %w", err)
	}
	return nil
}

// reduced visits at most that many states with a reduction, which the model must have.
// Others hold held bytes of memory meanwhile.
func (s *Search) reduced(ctx context.Context, effort vnet.Effort, states uint64, held int64) *exhaustive {
	x := newExhaustive(s, s.Workers)
	x.reduction, _ = x.space.NewReduction(effort)
	x.byClass = x.space.NewClasses().Ordered()
	x.most = min(states, s.States)
	x.memory.held.Store(held)
	for !x.run(ctx) && x.outdated && !x.reduction.Spent() {
		x = x.again(held)
	}
	return x
}

func (x *exhaustive) again(held int64) *exhaustive {
	again := newExhaustive(x.Search, x.Search.Workers)
	again.space, again.reduction, again.most = x.space, x.reduction, x.most
	again.memory.held.Store(held)
	return again
}

// WhyNotReduced says why [Options.Reduce] has no effect, "" if it has.
func (s *Search) WhyNotReduced() string {
	_, why := vnet.NewSpace(s.model).NewReduction(vnet.Brief)
	return why
}

// unreduced visits at most that many states, without reduction.
func (s *Search) unreduced(ctx context.Context, states uint64) *exhaustive {
	x := newExhaustive(s, s.Workers)
	x.most = min(states, s.States)
	x.run(ctx)
	return s.repeated(ctx, x)
}

// repeated makes a small search that found something again, by one worker: what it shows is the same each time.
func (s *Search) repeated(ctx context.Context, x *exhaustive) *exhaustive {
	if x.found != nil && x.workers > 1 && x.count.Load() < little && ctx.Err() == nil {
		if again := newExhaustive(s, 1); again.run(ctx) && again.found != nil {
			return again
		}
	}
	return x
}

func (x *exhaustive) outcome(ctx context.Context) (Report, error) {
	report := x.report(ctx)
	if x.found == nil {
		return report, nil
	}
	trace, err := x.trace(context.WithoutCancel(ctx)) // small systems: it is short
	switch {
	case errors.Is(err, errSpurious):
		report.Violation, report.Stopped = nil, spurious
		return report, nil
	case err == nil:
		report.Trace, report.Violation = trace, &trace.Violation
	}
	return report, err
}

type exhaustive struct {
	*Search
	space     *vnet.Space
	reduction *vnet.Reduction // nil: none
	byClass   bool            // a state stands for all of its class
	outdated  bool            // what was left out by it has to be visited
	most      uint64          // states

	width   int // of a vector
	batch   int // states in a full one
	seen    visited
	origins ancestry
	workers int
	count   atomic.Uint64 // states
	taken   atomic.Uint64 // moves
	done    atomic.Uint64 // states from which all moves have been taken
	layer   atomic.Int64  // distance of the states being expanded from the beginning
	halt    atomic.Bool   // a violation, a limit, or the end of the context

	memory     account
	components atomic.Int64 // bytes that they are known to take

	mu       sync.Mutex
	found    *finding
	crew     []*worker
	frontier []*batch // the states of the layer that is to be expanded next
	extended uint64   // states, when the reduction last took account of what was sent
	spare    []*batch // without room
	rooms    []room   // for batches
	refused  uint64
	refusal  string
	progress sync.Mutex
}

type finding struct {
	vnet.Violation
	state uint64
	move  int   // −1: the state itself
	way   []int // the moves that lead to it, if the state does not say; else nil
}

func newExhaustive(s *Search, workers int) *exhaustive {
	x := &exhaustive{Search: s, space: vnet.NewSpace(s.model), most: s.States, workers: workers}
	x.memory.limit = s.Memory
	x.seen = newVisited(workers, &x.memory)
	x.width = x.space.Width()
	x.batch = statesIn(1<<20, x.width, blockSize)
	return x
}

// statesIn returns how many states of a width fit into that many bytes: 1 to most.
func statesIn(bytes, width, most int) int { return min(max(1, bytes/(4*width)), most) }

// run expands layer after layer, and reports whether it came to an end by itself.
func (x *exhaustive) run(ctx context.Context) bool { return x.runTo(ctx, math.MaxUint64) }

// runTo does so until there are that many states; then it can be called again.
func (x *exhaustive) runTo(ctx context.Context, states uint64) bool {
	stop := context.AfterFunc(ctx, func() { x.halt.Store(true) })
	defer stop()
	if x.crew == nil && !x.first() {
		return true
	}
	for len(x.frontier) > 0 && !x.halt.Load() && x.count.Load() < states {
		x.frontier = x.expandLayer(x.crew, x.frontier)
		x.reserve(x.count.Load())
		if len(x.frontier) > 0 {
			x.layer.Add(1)
		}
		if count := x.count.Load(); x.reduction != nil && !x.byClass && !x.halt.Load() &&
			(len(x.frontier) == 0 || count >= 2*x.extended) {
			if x.extended = count; !x.reduction.Extend() {
				x.outdated = true
				return false
			}
		}
	}
	if x.paused() {
		return false
	}
	for _, w := range x.crew {
		x.end(w.Walker)
	}
	return !x.halt.Load() || x.found != nil
}

// paused: there is more to expand, and nothing forbids it.
func (x *exhaustive) paused() bool { return len(x.frontier) > 0 && !x.halt.Load() }

// first makes the first layer, and reports whether there is one.
func (x *exhaustive) first() bool {
	for range x.workers {
		x.crew = append(x.crew, newWorker(x))
	}
	v, h, ok := x.begin()
	if !ok {
		return false
	}
	w := x.crew[0]
	if x.byClass {
		v = w.classes.Of(v)
		h = x.space.HashOf(v)
	}
	w.offer(v, stepped{Hash: h}, 0)
	w.lookUp()
	x.frontier = w.filled()
	return true
}

func (x *exhaustive) begin() (v []uint32, h vnet.Hash, ok bool) {
	initial := vnet.New(x.model)
	if initial.Violation != nil {
		x.found = &finding{Violation: *initial.Violation, way: []int{}}
		return nil, h, false
	}
	v, h = x.space.Of(initial)
	if x.reduction != nil && !x.byClass {
		x.reduction.Begin(v)
	}
	x.count.Store(1)
	return v, h, true
}

// progressed adds what one goroutine has done since; its tables took held bytes, and take own.
func (x *exhaustive) progressed(own int, held *int, steps, states, expanded uint64) {
	x.taken.Add(steps)
	common := x.space.Footprint()
	if x.reduction != nil {
		common += x.reduction.Footprint()
	}
	if x.reduction != nil && x.reduction.Spent() {
		x.halt.Store(true)
	}
	x.hold(own - *held + common - int(x.components.Swap(int64(common))))
	*held = own
	if x.count.Add(states) >= x.most || x.memory.spent.Load() {
		x.halt.Store(true)
	}
	x.done.Add(expanded)
	x.say()
}

func (x *exhaustive) end(w *vnet.Walker) {
	count, reason := w.Refused()
	x.refused += count
	x.refusal = firstReason(x.refusal, reason)
}

func (x *exhaustive) expandLayer(workers []*worker, layer []*batch) (further []*batch) {
	var next atomic.Int64
	work := func(w *worker) {
		for !x.halt.Load() {
			i := int(next.Add(1) - 1)
			if i >= len(layer) {
				return
			}
			w.expandBatch(layer[i])
			x.recycle(layer[i], true)
		}
	}
	var wg sync.WaitGroup
	for _, w := range workers[1:min(len(workers), len(layer))] {
		wg.Go(func() { work(w) })
	}
	work(workers[0])
	wg.Wait()
	for _, w := range workers {
		further = append(further, w.filled()...)
	}
	return further
}

func (x *exhaustive) find(f *finding) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.found == nil {
		x.found = f
	}
	x.halt.Store(true)
}

// hold adds bytes to what is held, and ends the search if they are too many.
func (x *exhaustive) hold(bytes int) {
	if !x.memory.hold(bytes) {
		x.halt.Store(true)
	}
}

func (x *exhaustive) report(ctx context.Context) Report {
	r := Report{
		Seed: x.Seed, States: x.count.Load(), Depth: int(x.layer.Load()), Workers: x.workers,
		Tally:   Tally{Steps: x.taken.Load(), Refused: x.refused, Refusal: x.refusal, MaxBypass: x.space.MostOvertaken()},
		Reduced: x.reduction != nil, ByClass: x.byClass, NeverSent: x.space.NeverSent(),
	}
	switch {
	case x.found != nil:
		r.Violation = &x.found.Violation
	case !x.halt.Load():
		r.Complete = true
	case ctx.Err() != nil:
		r.Stopped = whyStopped(ctx)
	case x.memory.spent.Load():
		r.Stopped = fmt.Sprintf("limit of %v of memory", x.Memory)
	default:
		r.Stopped = fmt.Sprintf("limit of %d states", x.most)
	}
	return r
}

func (x *exhaustive) say() {
	if x.Progress == nil && x.Reach == nil || !x.progress.TryLock() {
		return
	}
	defer x.progress.Unlock()
	states := x.count.Load()
	if x.Progress != nil {
		x.Progress(states)
	}
	if x.Reach != nil {
		x.Reach(Reached{States: states, Open: states - min(states, x.done.Load()), Layer: int(x.layer.Load()), Held: Bytes(x.memory.held.Load())})
	}
}
