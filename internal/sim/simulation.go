package sim

import (
	"context"
	"fmt"
	"slices"
	"time"

	"dmebench/dme"
	"dmebench/internal/platform/hugepages"
	"dmebench/internal/record"
	"dmebench/internal/record/measure"
	"dmebench/internal/record/recording"
	"dmebench/internal/runtime/localprocess"
	"dmebench/internal/runtime/noderun"
	"dmebench/internal/runtime/run"
	"dmebench/internal/runtime/stall"
	"dmebench/runs"
	"dmebench/workload"
)

// manyNodes is from how many nodes on the memory of a simulation matters.
const manyNodes = 100_000

// maxEntries bounds the memory for entries, of all nodes together.
const maxEntries = 8 << 20

type simulation struct {
	ctx context.Context
	job *run.Job

	now    int64 // ns since the nodes were started
	agenda agenda
	flight flight
	timers timers
	delays *delays
	links  *links        // nil if they are left alone
	faults *faults       // nil if there are none
	losses *stall.Losses // nil if nothing gets lost

	procs    []localprocess.Process // of node i+1
	counters []noderun.Counters
	traffic  *noderun.Traffic // of all nodes
	lastMove []int64
	asked    []uint64 // requests until its last event; nil if nothing gets lost
	stoppers bool     // the nodes are Stoppers
	log      *record.Log
	events   *recording.Log  // nil if nothing is recorded
	meters   *noderun.Meters // nil if no gauges are read

	witness  witness
	resource *record.SharedMemory // nil if critical sections use none
	seen     []uint64             // its version, by node
	watch    watch
	dealt    uint64     // events carried out
	current  dme.NodeID // the node of this event, to name it if it panics
	messages uint64     // sent so far
	perEntry map[int]uint64

	exitInstant int64 // of the last exit
	exitsAtOnce int   // exits at that instant

	begun  bool   // the workload has begun
	start  int64  // then
	looks  *looks // nil without a viewer
	marks  *marks // nil if not counted
	status runs.Status
	err    string
	failed []int

	partial bool // interrupted
}

func newSimulation(ctx context.Context, job *run.Job) *simulation {
	n := job.Spec.Nodes
	if n >= manyNodes {
		hugepages.Reserve(n << 10) // what belongs to a node is a little less
	}
	s := &simulation{
		ctx: ctx, job: job, delays: newDelays(job),
		procs: hugepages.Make[localprocess.Process](n), counters: hugepages.Make[noderun.Counters](n), traffic: new(noderun.Traffic),
		lastMove: hugepages.Make[int64](n),
		log:      record.NewLog(maxEntries), status: runs.OK,
	}
	if most := job.Plan.Requests(); most > 0 {
		s.log = record.NewLogOf(hugepages.Make[record.Entry](min(most, maxEntries)))
	}
	s.links = newLinks(job.Links(), n)
	s.watch = watch{patience: s.patience(), standing: hugepages.Make[standing](n)}
	s.marks = newMarks(s)
	s.faults = newFaults(s)
	if s.losses = newLosses(s); s.losses != nil {
		s.asked = make([]uint64, n)
	}
	s.agenda.heap = hugepages.Make[event](n)[:0] // each has an arrival or an exit to come
	return s
}

// patience is how long virtual time may pass without an entry while requests
// are pending: as long as the job says, but in a slow system at least as long
// as every node may need for many turns.
func (s *simulation) patience() int64 {
	turns := 100 * float64(s.job.Spec.Nodes) * float64(s.delays.mean+s.links.typical()+s.job.Plan.MeanHold())
	longest := max(float64(s.job.Spec.StallAfter.Std()), turns, s.delays.longest())
	return int64(min(longest, float64(1<<62))) // beyond 64 bits a float turns into nothing that is defined
}

// build makes the nodes. It is apart from newSimulation because an algorithm may panic here too.
func (s *simulation) build() {
	group := noderun.NewGroup(s.job.Algorithm, s.job.System, len(s.procs), s)
	group.CountFar(s.job.Far())
	for i := range s.procs {
		id := dme.NodeID(i + 1)
		s.current = id
		h := group.Runner(id, &s.counters[i], s.traffic)
		if _, ok := h.Node().(dme.Stopper); ok {
			s.stoppers = true
		}
		s.procs[i] = localprocess.New(h, env{s}, s.job.Plan.Client(id), s.log)
		if s.looks != nil {
			s.procs[i].Watch(&s.looks.waits)
		}
		s.procs[i].Fences = s.job.Algorithm.Fences(s.job.Options)
	}
	if s.job.Spec.Resource == record.InMemory {
		s.resource, s.seen = new(record.SharedMemory), make([]uint64, len(s.procs))
	}
	for _, id := range s.job.Faults.Absent() {
		s.process(id).Crash()
	}
	// From now on: absent nodes have not crashed.
	if s.job.Gauged() {
		s.meters = noderun.NewMeters(s.job.Algorithm, s.job.Setting(),
			func(id dme.NodeID) dme.Node { return s.process(id).Node() }, func() time.Duration { return time.Duration(s.now) })
	}
	switch {
	case s.meters != nil:
		if s.events != nil {
			s.meters.Also(s.events)
		}
		group.SetObserver(s.meters)
	case s.events != nil:
		group.SetObserver(s.events)
	}
}

func (s *simulation) process(id dme.NodeID) *localprocess.Process { return &s.procs[id-1] }

// eventsPerCheck is how often a run checks whether it has been cancelled.
const eventsPerCheck = 4096

// step carries out the next event. more is false once there is none; err is the context's.
func (s *simulation) step() (more bool, err error) {
	for {
		if s.faults != nil && s.faults.strike() {
			return true, nil
		}
		if s.agenda.empty() {
			return false, nil
		}
		if s.dealt++; s.dealt%eventsPerCheck == 0 {
			if err := s.ctx.Err(); err != nil {
				return false, fmt.Errorf("sim: interrupted after %d events: %w", s.dealt, err)
			}
			s.looks.show()
		}
		e := s.agenda.pop()
		if s.dispatch(e) {
			return true, nil
		}
	}
}

// dispatch carries out an event; false for timers cancelled and nodes paused: no time passes.
func (s *simulation) dispatch(e event) bool {
	if s.faults != nil && s.faults.holds(e) {
		return false
	}
	switch e.class() {
	case delivery:
		p := s.flight.at(e.what)
		s.now, s.current = e.at, p.to
		if s.losses != nil {
			s.losses.Arrives(uint64(e.what))
		}
		switch {
		case p.from == p.to:
			s.process(p.to).Transmitted(&p.msg)
		case p.msg.Kind == kindNews:
			s.faults.hear(p)
		default:
			s.process(p.to).Receive(p.from, &p.msg)
		}
		s.flight.release(e.what)
	case timeout:
		t, ok := s.timers.fire(e.what)
		if !ok {
			return false
		}
		s.now, s.current = e.at, t.node
		s.process(t.node).Timeout(t.id)
	case exit:
		s.now, s.current = e.at, dme.NodeID(e.what)
		p := s.process(s.current)
		if s.resource != nil && !p.Shared() {
			s.resource.Write(s.seen[s.current-1], p.Fencing())
		}
		p.Exit()
	case arrival:
		s.now, s.current = e.at, dme.NodeID(e.what)
		intended := e.at
		if s.faults != nil {
			intended = s.faults.intended(s.current, e.at)
		}
		s.process(s.current).Arrive(intended)
	}
	s.moved(s.current)
	return true
}

func (s *simulation) moved(id dme.NodeID) {
	s.meters.Settle()
	s.lastMove[id-1] = s.now
	p := s.process(id)
	pending := s.counters[id-1].Pending.Load() > 0
	if s.faults != nil {
		pending = s.faults.moved(id) || pending
	}
	if s.losses != nil {
		s.losses.Moved(id)
		s.asked[id-1] = s.counters[id-1].Requests.Load()
	}
	s.watch.moved(id, s.now, p.Activity(), pending)
}

func (s *simulation) schedule(c class, at int64, what uint32) {
	s.checkTime(at)
	s.agenda.add(c, at, what)
}

// checkTime keeps virtual time within 64 bits: what lies in the past can only have overflowed.
func (s *simulation) checkTime(at int64) {
	if at < s.now {
		panic("virtual time has passed 292 years")
	}
}

// deliver sends a message. A node's own broadcast that it hears on a sequenced medium does not count.
func (s *simulation) deliver(at int64, from, to dme.NodeID, m *dme.Message) {
	if from != to {
		s.messages++
	}
	slot := s.flight.put(from, to, m)
	if s.faults != nil {
		s.sent(slot, from, to)
		s.schedule(delivery, s.faults.after(at, from, to), slot)
	} else if s.delays.constant() {
		s.checkTime(at)
		s.agenda.append(at, slot)
	} else {
		s.schedule(delivery, at, slot)
	}
}

func (s *simulation) Send(from, to dme.NodeID, m *dme.Message) {
	if s.faults != nil && s.faults.loses(from, to, m) {
		return
	}
	if s.links != nil {
		s.condition(from, to, m)
		return
	}
	s.deliver(s.delays.arrival(s.now, from, to), from, to, m)
}

// Broadcast implements [noderun.World]. Receivers keep the vectors that they are
// given, so that each gets its own. Over links that are not left alone it is, as over a
// real network, a message to each, in no order of all.
func (s *simulation) Broadcast(from dme.NodeID, m *dme.Message) (transmissions int) {
	sequenced := s.job.Needs.SequencedBroadcast && s.links == nil
	var at int64
	if sequenced {
		at = s.delays.sequenced(s.now, from, len(s.procs))
	}
	vec := m.Vec
	for to := dme.NodeID(1); int(to) <= len(s.procs); to++ {
		if to == from && !sequenced {
			continue
		}
		if s.links == nil && !sequenced {
			at = s.delays.arrival(s.now, from, to)
		}
		if s.faults != nil && s.faults.loses(from, to, m) {
			continue
		}
		m.Vec = slices.Clone(vec)
		if s.links != nil {
			s.condition(from, to, m)
		} else {
			s.deliver(at, from, to, m)
		}
	}
	m.Vec = vec
	if s.links != nil {
		return len(s.procs) - 1
	}
	return 1
}

func (s *simulation) Enter(id dme.NodeID, stamp dme.Stamp) {
	p := s.process(id)
	p.Entered(stamp)
	if s.resource != nil {
		var err error
		if s.seen[id-1], err = s.resource.Read(p.Fencing()); err != nil {
			panic(err)
		}
	}
}

type env struct{ s *simulation }

func (v env) Now() int64 { return v.s.now }

func (v env) ArriveAt(id dme.NodeID, at int64) {
	if v.s.faults != nil {
		at = v.s.faults.punctual(id, at)
	}
	v.s.schedule(arrival, at, uint32(id))
}

func (v env) ExitAt(id dme.NodeID, at int64) { v.s.schedule(exit, at, uint32(id)) }

func (v env) Enter(id dme.NodeID, shared bool) (order uint64) {
	v.s.watch.progress(v.s.now)
	if v.s.faults != nil {
		v.s.faults.entry(id)
	}
	return v.s.witness.enter(shared)
}

func (v env) Exit(_ dme.NodeID, shared bool) {
	v.s.watch.progress(v.s.now)
	v.s.witness.leave(shared)
	v.s.countExit()
	v.s.marks.exit(v.s)
}

// mostMarks bounds the memory for marks. If there would be more, every other is forgotten.
const mostMarks = 128

// marks counts, at exits from the given warm-up on, what was sent until then. If nodes ask again at
// their exits it does so once a round: only over whole rounds does what a system repeats have the
// same mean wherever one begins.
type marks struct {
	exits, first, every uint64
	taken               []measure.Mark
}

// newMarks returns nil without a given warm-up: it is not known in time where to count then.
func newMarks(s *simulation) *marks {
	if s.job.Warmup <= 0 {
		return nil
	}
	m := &marks{first: uint64(s.job.Warmup), every: 1}
	if s.job.Plan.Drive() == workload.Closed {
		m.every = uint64(s.job.Spec.Nodes)
	}
	return m
}

func (m *marks) exit(s *simulation) {
	if m == nil {
		return
	}
	if m.exits++; m.exits < m.first || (m.exits-m.first)%m.every != 0 {
		return
	}
	if len(m.taken) == mostMarks {
		for i := range mostMarks / 2 {
			m.taken[i] = m.taken[2*i]
		}
		m.taken, m.every = m.taken[:mostMarks/2], 2*m.every // this exit is still one of the marks
	}
	sent := noderun.ReadTraffic(s.traffic)
	mark := measure.Mark{At: s.now, Exits: m.exits, Sent: sent.Sent, Transmissions: sent.Transmissions}
	m.taken = append(m.taken, mark)
}

// witness counts the nodes in the critical section, at the very instants of entry and exit.
type witness struct {
	entries    uint64
	writers    int
	readers    int
	violations uint64 // entries that found a conflicting one inside
}

func (w *witness) enter(shared bool) (order uint64) {
	if w.writers > 0 || !shared && w.readers > 0 {
		w.violations++
	}
	if shared {
		w.readers++
	} else {
		w.writers++
	}
	w.entries++
	return w.entries
}

func (w *witness) leave(shared bool) {
	if shared {
		w.readers--
	} else {
		w.writers--
	}
}
