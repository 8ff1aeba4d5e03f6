// Package worker is one process of a run: it hosts one or several nodes, binds them to a transport,
// executes their part of the workload and keeps their records. It does what its coordinator says
// over the control plane, and ends when that is gone for any reason.
package worker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"dmebench/dme"
	"dmebench/dme/collections"
	"dmebench/internal/platform/clock"
	"dmebench/internal/record"
	"dmebench/internal/runtime/control"
	"dmebench/internal/runtime/localprocess"
	"dmebench/internal/runtime/noderun"
	"dmebench/internal/runtime/run"
	"dmebench/internal/runtime/stall"
	"dmebench/internal/runtime/witness"
	"dmebench/transport"
	"dmebench/transport/link"
	"dmebench/transport/nats"
	"dmebench/workload/fault"
)

// How often a worker checks whether it was held up; the more of them there are, the
// less often, so that all together they take next to nothing.
const (
	lapseEvery   = 250 * time.Millisecond
	lapsePerNode = time.Millisecond
)

// worker executes one assignment.
type worker struct {
	catalog run.Catalog
	notify  func(control.Event) // tells the coordinator something unasked
	renew   func(context.Context) (may bool, err error)
	exit    func(why string) // ends this process
	clock   *clock.Clock
	memory  *os.File    // what the shared page lies in
	control nats.Broker // of the control plane
	exec    bool        // may start programs that the run names
	run     string      // names the run

	assigned  *control.Assignment
	job       *run.Job
	page      *witness.Page
	alarm     *alarm
	resource  shared // nil if critical sections use none
	transport transport.Transport
	nodes     []*node       // by NodeID; nil if the node is another process's
	down      []atomic.Bool // by NodeID: what is sent there is lost; nil in a run without faults
	missing   atomic.Int32  // how many of them are
	newcomer  bool          // the others were there before this process
	seized    *node         // its lock is held; see seize
	cut       link.Cut      // the partitions of the run's faults
	pings     pings
	base      transport.Counters // what the transport had counted before the workload began
	clocks    clock.Reading      // then
	marked    int64              // when that was
	lapses    *clock.Lapses
	guests    guests  // if nodes are processes of their own
	clients   clients // if they are clients of a lock service
	lease     *lease  // nil if the coordinator is on this host
	fenced    sync.Once

	failOnce sync.Once
}

var (
	_ transport.Handler = (*worker)(nil)
	_ transport.Monitor = (*worker)(nil)
)

// answer carries out one command of the coordinator.
func (w *worker) answer(c control.Command) (r control.Reply) {
	if w.assigned == nil && c.Op != control.OpAssign && c.Op != control.OpQuit {
		r.Error = fmt.Sprintf("worker: %s before %s", c.Op, control.OpAssign)
		return r
	}
	var err error
	switch c.Op {
	case control.OpAssign:
		r, err = w.assign(c.Assign)
	case control.OpConnect:
		if err = w.transport.Start(c.Book, w); err == nil {
			err = w.awaitGuests()
		}
	case control.OpPing:
		r.Delays, r.Lost, err = w.ping(c)
	case control.OpDown:
		err = w.expel(c.Nodes)
	case control.OpUp:
		err = w.readmit(c.Nodes, c.Addr, c.Life)
	case control.OpSeize:
		r.Seized, err = w.seize(c.Nodes, c.As)
	case control.OpFree:
		err = w.free(c.Nodes)
	case control.OpLeave:
		err = w.leave(c.Nodes)
	case control.OpAlive:
		w.each(func(n *node) { n.do(func(*localprocess.Process) {}) }) // to do nothing must be possible
	case control.OpMark:
		w.mark()
	case control.OpBegin:
		if w.newcomer {
			w.beginLate(c.At)
		} else {
			w.begin(c.At)
		}
	case control.OpStep:
		err = w.step(c.Arrives)
	case control.OpStop:
		w.each(func(n *node) { n.do(func(p *localprocess.Process) { p.Stop() }) })
	case control.OpReport:
		r = w.report()
	case control.OpEntries:
		r.Entries, err = w.entries(c.Chunk)
	case control.OpFence:
		var chunks [][]record.Entry
		r.Left, chunks = w.remains()
		if r.Chunks = len(chunks); c.Chunk > 0 && c.Chunk <= len(chunks) {
			r.Entries = record.Append(nil, chunks[c.Chunk-1])
		}
	case control.OpEvents:
		r.Entries, err = w.events(c.Nodes, c.Chunk)
	case control.OpStates:
		r.States, r.Waits = w.states(c.Limit), w.waits()
	case control.OpTraffic:
		r.Traffic = w.traffic()
	case control.OpCut:
		err = w.cut.Partition(c.Cut, c.Sides)
	case control.OpHeal:
		w.cut.Heal(c.Cut)
	case control.OpQuit:
		w.close()
	default:
		err = fmt.Errorf("worker: unknown command %q; are coordinator and worker of one build?", c.Op)
	}
	if err != nil {
		r.Error = err.Error()
	}
	return r
}

func (w *worker) assign(a *control.Assignment) (control.Reply, error) {
	var r control.Reply
	if a == nil || w.assigned != nil {
		return r, errors.New("worker: one assignment for each worker")
	}
	var err error
	w.job, err = run.Resolve(a.Spec, w.catalog, func(name string) ([]byte, error) {
		if b, ok := a.Files[name]; ok {
			return b, nil
		}
		return nil, fmt.Errorf("%s: %w", name, os.ErrNotExist)
	})
	if err != nil {
		return r, err
	}
	if w.page, err = witness.OpenPage(w.memory, a.Spec.Nodes); err != nil {
		return r, err
	}
	w.assigned = a
	w.alarm, err = newAlarm(w.clock, a.SpinShare, w.fire)
	if err != nil {
		return r, err
	}
	w.lapses = clock.WatchLapses(w.clock.Now, max(lapseEvery, time.Duration(a.Spec.Nodes)*lapsePerNode))
	w.nodes = make([]*node, a.Spec.Nodes+1)
	for _, id := range a.Local {
		w.nodes[id] = newNode(w, id)
	}
	if err := w.startGuests(); err != nil {
		return r, err
	}
	if err := w.openClients(); err != nil {
		return r, err
	}
	w.prepareFaults()
	if err := w.openResource(); err != nil {
		return r, err
	}
	w.transport, err = w.listen(transport.Config{
		Listen: a.Listen, Local: a.Local, Nodes: a.Spec.Nodes, Key: a.Key, Peers: w.peers(),
		Incarnation: a.Incarnation, Incarnations: a.Incarnations, Absent: a.Absent,
	})
	if err != nil {
		return r, err
	}
	if err := w.openLease(); err != nil {
		return r, err
	}
	r.Addr = w.transport.Addr()
	r.Edges = w.sampleEdges()
	return r, nil
}

// longestPatience is what a connection can be given in milliseconds of 32 bits, and more
// than any run lasts.
const longestPatience = 20 * 24 * time.Hour

func (w *worker) listen(c transport.Config) (transport.Transport, error) {
	network := w.job.Network
	e := run.Endpoint{Config: c, Options: w.job.NetOptions}
	for _, f := range w.job.Faults {
		switch f.Kind {
		case fault.Partition:
			e.Cut = &w.cut
		case fault.Pause: // one may begin before another ends
			e.Patience = min(e.Patience+min(f.Lasts, longestPatience), longestPatience)
		}
	}
	if network.Brokered {
		if w.assigned.Broker == nil {
			return nil, fmt.Errorf("worker: %s needs a broker and none was named; are coordinator and worker of one build?", network.Name)
		}
		e.Broker = *w.assigned.Broker
		if e.Broker.URL == "" {
			e.Broker = w.control
			e.Broker.Sequenced = w.assigned.Broker.Sequenced
		}
	}
	return network.Listen(e)
}

// peers returns the nodes that the local nodes are known to send to.
func (w *worker) peers() []dme.NodeID {
	if w.job.Algorithm.Peers == nil {
		return nil // any: connected on first use
	}
	known := collections.MakeNodeSet(w.job.Spec.Nodes)
	for _, id := range w.assigned.Local {
		for _, peer := range w.job.Algorithm.Peers(w.job.System, id) {
			known.Add(peer)
		}
	}
	var peers []dme.NodeID
	for id := range known.All() {
		peers = append(peers, id)
	}
	return peers
}

// mark remembers where counters and clocks stand as the process begins its part of
// the workload.
func (w *worker) mark() {
	w.base, w.clocks, w.marked = w.transport.Counters(), clock.Read(), w.clock.Now()
}

// begin starts the nodes, and their workload at the given time. Nodes whose messages only a stop
// ends start with it: what they send before is no part of the run.
func (w *worker) begin(at int64) {
	w.each(func(n *node) {
		n.do(func(p *localprocess.Process) {
			if _, endless := p.Node().(dme.Stopper); endless {
				w.alarm.add(event{at: at, due: startDue, node: n.id})
			} else {
				n.start()
			}
			p.Begin(at)
		})
		if n.guest != nil {
			n.guest.Begin() // what its process says takes effect
		}
	})
}

func (w *worker) step(arrivals []control.Arrival) error {
	for _, a := range arrivals {
		n, err := w.local([]dme.NodeID{a.Node})
		if err != nil {
			return err
		}
		n.do(func(p *localprocess.Process) { p.Expect(a.At) })
	}
	return nil
}

func (w *worker) each(f func(*node)) {
	for _, id := range w.assigned.Local {
		f(w.nodes[id])
	}
}

// locked is each, with the nodes' locks held.
func (w *worker) locked(f func(*node)) {
	w.each(func(n *node) {
		n.mu.Lock()
		defer n.mu.Unlock()
		f(n)
	})
}

// Frame is called by the transport.
func (w *worker) Frame(from, to dme.NodeID, b []byte) {
	if int(to) >= len(w.nodes) || w.nodes[to] == nil {
		w.fail(fmt.Errorf("a frame for node %d came here", to))
		return
	}
	if w.lease != nil {
		w.lease.check(w.clock.Now())
	}
	if len(b) > 0 && b[0] == 0 { // kind 0: the runtime's own
		w.pinged(from, to, b)
		return
	}
	if err := w.nodes[to].receive(from, b); err != nil {
		w.fail(err)
	}
}

// Transmitted is called by a transport that puts broadcasts into one order, for
// those of the local nodes.
func (w *worker) Transmitted(from dme.NodeID, b []byte) {
	if err := w.nodes[from].transmitted(b); err != nil {
		w.fail(err)
	}
}

// Down is called by the transport. Nodes hear of it only from the coordinator,
// which knows what has become of the process: a transport may be wrong.
func (w *worker) Down(peer dme.NodeID, err error) {
	if errors.Is(err, errExpelled) {
		return
	}
	w.notify(control.Event{Peer: uint32(peer), Fatal: fmt.Sprintf("node %d can no longer be reached: %v", peer, err)})
}

func (w *worker) flush() {
	if err := w.transport.Flush(); err != nil {
		w.fail(err)
	}
}

// fail tells the coordinator, once, that the run cannot go on. It does not wait:
// it is called with a node's lock held.
func (w *worker) fail(err error) {
	w.failOnce.Do(func() { go w.notify(control.Event{Fatal: err.Error()}) })
}

func (w *worker) report() control.Reply {
	var r control.Reply
	c := w.transport.Counters().Minus(w.base)
	change := w.clocks.Until(clock.Read())
	r.Wire, r.Clocks, r.Lapses = &c, &change, w.lapses.Since(w.marked)
	r.Procs, r.Misread, r.Types = runtime.GOMAXPROCS(0), w.clock.Error(), w.guests.types.Names()
	r.Failed, r.Expired = w.clients.failed.Load(), w.clients.expired.Load()
	if t, ok := w.transport.(transport.Warner); ok {
		r.Warnings = t.Warnings()
	}
	w.locked(func(n *node) {
		r.Unserved += uint64(n.proc.Unserved())
		r.Dropped += n.log.Dropped()
		r.Chunks += len(n.log.Chunks())
		if n.events != nil {
			dropped, until := n.events.Dropped()
			r.Recorded = append(r.Recorded, control.Recorded{Node: n.id, Chunks: len(n.events.Chunks()), Dropped: dropped, Until: until})
		}
		if reason := n.proc.LastRefusal(); reason != "" && len(r.Refusals) < 8 {
			r.Refusals = append(r.Refusals, fmt.Sprintf("node %d: %s", n.id, reason))
		}
	})
	return r
}

func (w *worker) entries(k int) (b []byte, err error) {
	err = errors.New("worker: no such chunk of records")
	w.locked(func(n *node) {
		chunks := n.log.Chunks()
		if k >= 0 && k < len(chunks) {
			b, err = record.Append(nil, chunks[k]), nil
		}
		k -= len(chunks)
	})
	return b, err
}

// states describes the local nodes, at most limit of them, those that wait first.
func (w *worker) states(limit int) []string {
	var waiting, others []string
	w.locked(func(n *node) {
		to := &waiting
		if n.proc.Activity() == noderun.Idle {
			to = &others
		}
		*to = append(*to, n.describe())
	})
	all := append(waiting, others...)
	return all[:min(limit, len(all))]
}

// traffic returns what local nodes have sent to others, and what has come from them.
func (w *worker) traffic() (all []control.Traffic) {
	w.locked(func(n *node) {
		for peer, x := range n.traffic {
			x.Peer = dme.NodeID(peer)
			if x.Sent+x.Came > 0 && x.Peer != n.id && x.Peer != dme.None {
				all = append(all, x)
			}
		}
	})
	return all
}

func (w *worker) waits() *stall.Standstill {
	s := &stall.Standstill{Tokens: -1}
	w.locked(func(n *node) {
		s.Add(w.job.Algorithm, n.proc.ID(), n.proc.Node(), n.proc.Activity() == noderun.Requesting)
	})
	return s
}

func (w *worker) close() {
	w.endGuests()
	w.closeClients()
	if w.lapses != nil {
		w.lapses.Close()
	}
	if w.alarm != nil {
		w.alarm.close()
	}
	if w.transport != nil {
		w.transport.Close()
	}
	if r, ok := w.resource.(*witness.Resource); ok {
		r.Close()
	}
}

func (w *worker) events(nodes []dme.NodeID, chunk int) ([]byte, error) {
	n, err := w.local(nodes)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.events != nil && chunk >= 0 && chunk < len(n.events.Chunks()) {
		return slices.Clone(n.events.Chunks()[chunk]), nil // the node may go on
	}
	return nil, errors.New("worker: no such chunk of events")
}
