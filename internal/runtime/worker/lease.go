package worker

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"dmebench/dme"
	"dmebench/internal/platform/clock"
	"dmebench/internal/record"
	"dmebench/internal/runtime/control"
	"dmebench/internal/runtime/noderun"
	"dmebench/internal/runtime/witness"
)

// lease lets a worker on another host than its coordinator's go on only while it hears that
// coordinator itself, whatever becomes of the agent or the network. It counts from when the worker
// asked, not from when it heard the answer: so it is over once its length has passed since the
// coordinator last answered. A worker that was stopped does not notice that; so every event looks
// at the clock before it has an effect. A nil lease never ends.
type lease struct {
	clock  *clock.Clock
	length time.Duration
	until  atomic.Int64     // on the host's clock
	exit   func(why string) // ends the process
}

// renewals is how many times a worker asks while its lease lasts.
const renewals = 8

var errRefused = errors.New("worker: the coordinator has given up this worker's host")

func (l *lease) check(now int64) {
	if l != nil && now > l.until.Load() {
		l.exit(fmt.Sprintf("nothing was heard from the coordinator for %v; "+
			"this worker ends, because its nodes may have been taken for crashed", l.length))
	}
}

// ask asks for the lease. It waits for the answer as long as two renewals take.
func (l *lease) ask(renew func(context.Context) (may bool, err error)) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*l.length/renewals)
	defer cancel()
	asked := l.clock.Now()
	may, err := renew(ctx)
	if err == nil && !may {
		err = errRefused
	}
	if err == nil {
		l.until.Store(asked + int64(l.length))
	}
	return err
}

func (w *worker) openLease() error {
	if w.assigned.Lease == 0 {
		return nil
	}
	l := &lease{clock: w.clock, length: w.assigned.Lease, exit: w.exit}
	err := l.ask(w.renew)
	for tries := 1; err != nil && tries < renewals; tries++ {
		err = l.ask(w.renew) // many may ask at the beginning
	}
	if err != nil && !errors.Is(err, errRefused) {
		l.check(math.MaxInt64) // its agent may be as silent, and nobody would end this process
	}
	if err != nil {
		return fmt.Errorf("worker: the coordinator grants no lease: %w", err)
	}
	w.lease = l
	go func() {
		for !errors.Is(l.ask(w.renew), errRefused) {
			time.Sleep(l.length / renewals)
		}
		w.fence() // the coordinator may ask for what is left until the lease is over
	}()
	go func() {
		for {
			now := l.clock.Now()
			l.check(now)
			time.Sleep(time.Duration(l.until.Load() - now + 1))
		}
	}()
	return nil
}

// fence keeps the nodes from doing anything more, for good, by holding their locks.
func (w *worker) fence() {
	w.fenced.Do(func() { w.each(func(n *node) { n.mu.Lock() }) })
}

// Left says what a node has left in a page: its counts and, if they outlive its process,
// its records.
func Left(page *witness.Page, id dme.NodeID) (left control.Left, log []record.Entry) {
	left = control.Left{Node: id, Counts: noderun.Read(page.Counters(id)), Traffic: noderun.ReadTraffic(page.Traffic(id))}
	if m, ok := page.Log(id); ok {
		left.Entered, log = page.LastEntered(id), m.Entries()
	}
	return left, log
}

// remains fences the nodes, and returns what they leave behind: what they have counted,
// and their records in chunks.
func (w *worker) remains() (left []control.Left, chunks [][]record.Entry) {
	w.fence()
	for _, id := range w.assigned.Local {
		x, log := Left(w.page, id)
		left, chunks = append(left, x), slices.AppendSeq(chunks, slices.Chunk(log, record.ChunkEntries))
	}
	return left, chunks
}
