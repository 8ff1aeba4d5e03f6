package check

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"dmebench/dme/vnet"
)

// Exhaustive visits every state that a schedule can reach, in the order of
// their distance from the beginning, and reports the first violation it meets:
// no shorter schedule shows one, but for one step. The number of states is a
// function of the options; which of several shortest schedules is shown may
// depend on how the workers share the work, if the search was so large that it
// is not repeated by one of them alone.
//
// It needs memory for every state: about 50 bytes, and while its distance is
// being worked on 4·N² more. [Options.Memory] bounds it. An error says that the
// search itself is wrong.
func (s *Search) Exhaustive(ctx context.Context) (Report, error) {
	start := time.Now()
	if s.Time > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.Time)
		defer cancel()
	}
	x := newExhaustive(s, s.Workers)
	x.run(ctx)
	const little = 1_000_000
	if x.found != nil && x.workers > 1 && x.count.Load() < little && ctx.Err() == nil {
		if again := newExhaustive(s, 1); again.run(ctx) && again.found != nil {
			x = again
		}
	}
	report := x.report(ctx)
	report.Elapsed = time.Since(start)
	if x.found == nil {
		return report, nil
	}
	trace, err := x.trace()
	if err == nil {
		report.Trace, report.Violation = trace, &trace.Violation
	}
	return report, err
}

// exhaustive is one search, breadth first, layer by layer.
type exhaustive struct {
	*Search
	space   *vnet.Space
	width   int // of a vector
	batch   int // states in a full one
	seen    visited
	origins ancestry
	workers int
	count   atomic.Uint64 // states
	taken   atomic.Uint64 // moves
	depth   int
	halt    atomic.Bool // a violation, a limit, or the end of the context

	memory     account
	components atomic.Int64 // bytes that they are known to take

	mu       sync.Mutex
	found    *finding
	spare    []*batch
	refused  uint64
	refusal  string
	progress sync.Mutex
}

// finding is a violation and where it was met.
type finding struct {
	vnet.Violation
	state uint64
	move  int // −1: the state itself
}

// batch is a number of states of the same distance that are still to be
// expanded.
type batch struct {
	first   uint64 // the number of the first
	origins *[blockSize]origin
	vectors []uint32
	hashes  []vnet.Hash
}

func newExhaustive(s *Search, workers int) *exhaustive {
	x := &exhaustive{Search: s, space: vnet.NewSpace(s.model), workers: workers}
	x.memory.limit = s.Memory
	x.seen = newVisited(workers, &x.memory)
	x.width = x.space.Width()
	x.batch = statesIn(1<<20, x.width, blockSize)
	return x
}

// statesIn returns how many states of a width fit into so many bytes: at least
// one, and at most most.
func statesIn(bytes, width, most int) int { return min(max(1, bytes/(4*width)), most) }

// run expands layer after layer, and reports whether it came to an end by itself.
func (x *exhaustive) run(ctx context.Context) bool {
	stop := context.AfterFunc(ctx, func() { x.halt.Store(true) })
	defer stop()
	workers := make([]*worker, x.workers)
	for i := range workers {
		workers[i] = newWorker(x)
	}
	initial := vnet.New(x.model)
	if initial.Violation != nil {
		x.found = &finding{*initial.Violation, 0, -1}
		x.origins.block()
		return true
	}
	v, h := x.space.Of(initial)
	workers[0].offer(v, h, 0)
	workers[0].lookUp()
	x.count.Store(1)
	layer := workers[0].filled()
	for len(layer) > 0 && !x.halt.Load() {
		layer = x.expandLayer(workers, layer)
		if len(layer) > 0 {
			x.depth++
		}
	}
	for _, w := range workers {
		count, reason := w.Refused()
		x.refused += count
		x.refusal = firstReason(x.refusal, reason)
	}
	return !x.halt.Load() || x.found != nil
}

// expandLayer returns the states that are one step further.
func (x *exhaustive) expandLayer(workers []*worker, layer []*batch) (further []*batch) {
	var next atomic.Int64
	work := func(w *worker) {
		for !x.halt.Load() {
			i := int(next.Add(1) - 1)
			if i >= len(layer) {
				return
			}
			w.expandBatch(layer[i])
			x.recycle(layer[i])
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

func (x *exhaustive) find(v *vnet.Violation, state uint64, move int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.found == nil {
		x.found = &finding{*v, state, move}
	}
	x.halt.Store(true)
}

// Bytes that a block of origins and a state of a batch take, but for its vector.
const (
	blockBytes = 8 * blockSize
	hashBytes  = 16
)

// newBatch returns an empty batch, and recycle takes one back.
func (x *exhaustive) newBatch() *batch {
	first, origins := x.origins.block()
	x.hold(blockBytes)
	x.mu.Lock()
	defer x.mu.Unlock()
	var b *batch
	if n := len(x.spare); n > 0 {
		b, x.spare = x.spare[n-1], x.spare[:n-1]
	} else {
		b = &batch{vectors: make([]uint32, x.batch*x.width), hashes: make([]vnet.Hash, x.batch)}
		x.hold((4*x.width + hashBytes) * x.batch)
	}
	b.first, b.origins, b.vectors, b.hashes = first, origins, b.vectors[:0], b.hashes[:0]
	return b
}

func (x *exhaustive) recycle(b *batch) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.spare = append(x.spare, b)
}

// hold notes that so many bytes more are held, and ends the search where they
// are too many.
func (x *exhaustive) hold(bytes int) {
	if !x.memory.hold(bytes) {
		x.halt.Store(true)
	}
}

func (x *exhaustive) report(ctx context.Context) Report {
	r := Report{
		Seed: x.Seed, States: x.count.Load(), Steps: x.taken.Load(), Depth: x.depth, Workers: x.workers,
		Refused: x.refused, Refusal: x.refusal, MaxBypass: x.space.MostOvertaken(),
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
		r.Stopped = fmt.Sprintf("limit of %d states", x.States)
	}
	return r
}
