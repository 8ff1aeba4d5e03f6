package fault

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"dmebench/dme"
	"dmebench/dme/collections"
	"dmebench/dme/vnet"
)

// Never is later than any time of a run.
const Never = math.MaxInt64

// Runtime is a run as its director sees it. Times are nanoseconds on its clock.
type Runtime interface {
	// Down reports whether a node has no process: it was killed, has left or has not joined.
	Down(id dme.NodeID) bool
	// Players returns those of the nodes that have the role of fault k: [Holder],
	// [Token], [Waiting] or [Idle]; or of the servers, [Leader]. It may return one of them alone, which it keeps in
	// its role until the fault has struck.
	Players(k int, nodes []dme.NodeID) ([]dme.NodeID, error)
	// Strike carries out fault k, and returns when. Of a partition nodes is the first side.
	Strike(k int, nodes []dme.NodeID) (at int64, err error)
	// End ends fault k, which lasted. Of a pause nodes are those that go on.
	End(k int, nodes []dme.NodeID) error
}

// Director carries out the faults of a run, in real time and in virtual time alike: it decides
// which nodes are hit, what is possible, in which order, and what did not take place.
//
// Among due faults, the earliest comes first; at one instant, what ends comes before what begins,
// and faults come in the order of the schedule. A fault that is possible for none of its nodes hits
// none; one that is possible for some of them hits those. The rules are those of [vnet.Member.May].
// A fault for a role waits until a node has it. A paused node is told to leave once it goes on. A
// node is paused until all its pauses are over; when it is killed they are. A restart that names a
// role, or follows a kill, is for the nodes that kill hit.
//
// A Director is not safe for concurrent use.
type Director struct {
	schedule Schedule
	kills    []int
	root     dme.NodeID // the node all depend on; None if there is no such node
	nodes    int
	servers  int // numbered after the nodes
	rng      *rand.Rand
	run      Runtime

	start, deadline int64 // the run's; nothing comes back at the deadline or later
	faults          []progress
	due             int   // faults that wait for a node to hit
	next            int64 // when the next fault begins or ends; Never if none does
	absent, leaving collections.NodeSet
	warnings        []string
}

// progress is how far a fault has come.
type progress struct {
	at, end int64      // when it is due, or over; Never if that is not known or has passed
	due     bool       // to strike as soon as there is a node to hit
	by      dme.NodeID // the node that caused the event that it waited for
	hit     []dme.NodeID
	holds   []dme.NodeID // a pause: the nodes that stand still for it
	missed  bool         // was due, but no node could be hit
}

// NewDirector returns the director of a run of that many nodes, and of servers beside them, which
// get the numbers after those of the nodes. If several nodes have a role, rng draws one.
func NewDirector(s Schedule, root dme.NodeID, nodes, servers int, rng *rand.Rand, run Runtime) *Director {
	d := &Director{
		schedule: s, kills: s.Kills(), root: root, nodes: nodes, servers: servers,
		rng: rng, run: run, next: Never, faults: make([]progress, len(s)),
		absent: collections.MakeNodeSet(nodes + servers), leaving: collections.MakeNodeSet(nodes + servers),
	}
	for _, id := range s.Absent() {
		d.absent.Add(id)
	}
	for k := range d.faults {
		d.faults[k].at, d.faults[k].end = Never, Never
	}
	return d
}

// Begin starts the clock of the schedule. The run makes no request at the deadline or later;
// [Never] if it has none.
func (d *Director) Begin(start, deadline int64) {
	d.start, d.deadline = start, deadline
	for k, f := range d.schedule {
		if f.Event == "" && !f.AfterKill {
			d.faults[k].at = later(start, f.At)
		}
	}
	d.lookAhead()
}

// later returns the time after a duration; Never if that is beyond 64 bits.
func later(from int64, after time.Duration) int64 {
	if at := from + int64(after); at >= from {
		return at
	}
	return Never
}

func (d *Director) lookAhead() {
	d.next = Never
	for k := range d.faults {
		d.next = min(d.next, d.faults[k].at, d.faults[k].end)
	}
}

// Next returns when the next fault whose time is known begins or ends, [Never] if there is none.
func (d *Director) Next() int64 { return d.next }

// Waits reports whether faults are due without a node to hit at the moment.
func (d *Director) Waits() bool { return d.due > 0 }

// Happened notes an event that faults may wait for: the count-th, by a node, None if that is not
// known. Faults that wait for an earlier one are due as well.
func (d *Director) Happened(what Event, count uint64, by dme.NodeID) {
	for k, f := range d.schedule {
		if p := &d.faults[k]; f.Event == what && f.Count <= count && !p.due && !p.over() {
			p.due, p.by = true, by
			d.due++
		}
	}
}

// Awaits reports whether a fault waits for such an event.
func (d *Director) Awaits(what Event) bool {
	for k, f := range d.schedule {
		if p := &d.faults[k]; f.Event == what && !p.due && !p.over() {
			return true
		}
	}
	return false
}

// over reports whether a fault has struck, or cannot any more.
func (p *progress) over() bool { return p.hit != nil || p.missed }

// Leaving reports whether a node is to leave, and has not left.
func (d *Director) Leaving(id dme.NodeID) bool { return d.leaving.Has(id) }

// AnyLeaves reports whether there is such a node.
func (d *Director) AnyLeaves() bool { return !d.leaving.Empty() }

// Left notes that a node has left. It may join again.
func (d *Director) Left(id dme.NodeID) {
	d.leaving.Remove(id)
	d.absent.Add(id)
}

// Step does the next thing that is to be done by now, and reports whether there was any.
func (d *Director) Step(now int64) (did bool, err error) {
	if did, err = d.StrikeDue(); did || err != nil || d.next > now {
		return did, err
	}
	at := d.next
	for k := range d.faults {
		if d.faults[k].end == at {
			return true, d.end(k)
		}
	}
	for k := range d.faults {
		if p := &d.faults[k]; p.at == at {
			p.at, p.due = Never, true
			d.due++
		}
	}
	d.lookAhead()
	return d.StrikeDue()
}

// StrikeDue has the first fault strike that is due and finds a node to hit, or turns out to be
// impossible; it reports whether there was one.
func (d *Director) StrikeDue() (did bool, err error) {
	for k := range d.faults {
		p := &d.faults[k]
		if d.due == 0 || !p.due {
			continue
		}
		nodes, wait, err := d.whom(k)
		if err != nil {
			return false, err
		}
		if wait {
			continue
		}
		p.due = false
		d.due--
		if p.missed = nodes == nil; !p.missed {
			err = d.strike(k, nodes)
		}
		return true, err
	}
	return false, nil
}

// whom returns the nodes that a fault hits, nil if it is possible for none. If that may change, it
// waits.
func (d *Director) whom(k int) (nodes []dme.NodeID, wait bool, err error) {
	f := &d.schedule[k]
	named := f.Nodes
	if kill := d.kills[k]; kill >= 0 && d.faults[kill].hit != nil && (f.AfterKill || f.Role != "") {
		named = d.faults[kill].hit
	}
	first, count := 1, d.nodes
	if f.OfServers() {
		first, count = d.nodes+1, d.servers
		if one := f.server(); one > 0 {
			first, count = d.nodes+one, 1
		}
	}
	all := make([]dme.NodeID, count)
	for i := range all {
		all[i] = dme.NodeID(first + i)
	}
	if f.OfServers() && f.Role != Leader && named == nil {
		named = all
	}
	switch {
	case f.Kind == Partition && !f.OfServers():
		return f.Sides[0], false, nil
	case named != nil:
		if f.Kind == Leave && slices.ContainsFunc(named, d.paused) {
			return nil, true, nil
		}
		able, unable := d.able(f.Kind, named)
		if able != nil && unable != nil {
			d.warnings = append(d.warnings,
				fmt.Sprintf("fault %q did not hit node %s: %s", *f, dme.FormatNodes(unable), impossible[f.Kind]))
		}
		return able, false, nil
	}
	all, _ = d.able(f.Kind, all)
	switch {
	case len(all) == 0:
	case f.Role == Root:
		all = slices.DeleteFunc(all, func(id dme.NodeID) bool { return id != d.root })
	case f.Role != Random:
		all, err = d.run.Players(k, all)
	}
	switch by := d.faults[k].by; {
	case err != nil || len(all) == 0:
		return nil, true, err
	case slices.Contains(all, by):
		return []dme.NodeID{by}, false, nil
	}
	return []dme.NodeID{all[d.rng.IntN(len(all))]}, false, nil
}

// able returns for which of the nodes it is possible, and for which it is not.
func (d *Director) able(what Kind, nodes []dme.NodeID) (able, unable []dme.NodeID) {
	for _, id := range nodes {
		if d.can(what, id) {
			able = append(able, id)
		} else {
			unable = append(unable, id)
		}
	}
	return able, unable
}

var steps = map[Kind]dme.EventKind{
	Kill: dme.Crash, Pause: dme.Crash, Partition: dme.Crash, // of servers
	Restart: dme.Restart, Leave: dme.Depart, Join: dme.Join,
}

func (d *Director) can(what Kind, id dme.NodeID) bool {
	m := vnet.Member{Down: d.run.Down(id), Absent: d.absent.Has(id), Leaving: d.leaving.Has(id), Paused: d.paused(id)}
	return m.May(steps[what])
}

func (d *Director) paused(id dme.NodeID) bool {
	return slices.ContainsFunc(d.faults, func(p progress) bool { return slices.Contains(p.holds, id) })
}

func (d *Director) strike(k int, nodes []dme.NodeID) error {
	f, p := &d.schedule[k], &d.faults[k]
	p.hit = nodes
	var over []int
	for _, id := range nodes {
		switch f.Kind {
		case Kill:
			d.leaving.Remove(id)
			over = append(over, d.release(id)...)
		case Pause:
			p.holds = append(p.holds, id)
		case Partition:
			if f.OfServers() {
				p.holds = append(p.holds, id)
			}
		case Leave:
			d.leaving.Add(id)
		case Join:
			d.absent.Remove(id)
		}
	}
	at, err := d.run.Strike(k, nodes)
	if p.end = Never; f.Lasts > 0 {
		p.end = later(at, f.Lasts)
	}
	for r, kill := range d.kills {
		if q := &d.faults[r]; kill == k && d.schedule[r].AfterKill && f.Kind == Kill {
			q.at = later(at, d.schedule[r].At)
		}
	}
	for _, pause := range over {
		if err == nil {
			err = d.end(pause)
		}
	}
	d.lookAhead()
	return err
}

// release ends the pauses of a node, and returns those that are over by that.
func (d *Director) release(id dme.NodeID) (over []int) {
	for k := range d.faults {
		p := &d.faults[k]
		if i := slices.Index(p.holds, id); i >= 0 {
			if p.holds = slices.Delete(p.holds, i, i+1); len(p.holds) == 0 {
				over = append(over, k)
			}
		}
	}
	return over
}

func (d *Director) end(k int) error {
	p := &d.faults[k]
	held := p.holds
	p.end, p.holds = Never, nil
	d.lookAhead()
	return d.run.End(k, slices.DeleteFunc(held, d.paused))
}

// ComesBack reports whether the schedule brings a node back, that is down, at a time
// that is known.
func (d *Director) ComesBack(id dme.NodeID) bool {
	for k, f := range d.schedule {
		p := &d.faults[k]
		if f.Kind != Restart && f.Kind != Join || p.at >= d.deadline || !d.can(f.Kind, id) {
			continue
		}
		hit := f.Nodes
		if kill := d.kills[k]; hit == nil && kill >= 0 {
			hit = d.faults[kill].hit
		}
		if hit == nil && f.Role == Random || slices.Contains(hit, id) {
			return true
		}
	}
	return false
}

// Lasts reports whether a fault of a kind is in force that will be over at a time that
// is known.
func (d *Director) Lasts(what Kind) bool {
	for k := range d.faults {
		if d.faults[k].end < Never && d.schedule[k].Kind == what {
			return true
		}
	}
	return false
}

// Warnings says what could be done in part only.
func (d *Director) Warnings() []string {
	all := slices.Clone(d.warnings)
	if d.AnyLeaves() {
		all = append(all, fmt.Sprintf("node %s was to leave, and had not left when the run was over",
			dme.FormatNodes(slices.Collect(d.leaving.All()))))
	}
	return all
}

// Missed says of each fault that did not take place why, in a run that was over at the
// time end.
func (d *Director) Missed(end int64) (all []string) {
	for k, f := range d.schedule {
		p := &d.faults[k]
		why := ""
		switch {
		case p.hit != nil:
			continue
		case p.missed:
			why = impossible[f.Kind]
		case p.due && f.Role == "":
			why = "the node stood still until the run was over"
		case p.due:
			why = fmt.Sprintf("no node had the role %q until the run was over", f.Role)
		case f.AfterKill && d.faults[d.kills[k]].hit == nil:
			why = "the kill that it follows hit no node"
		default:
			why = fmt.Sprintf("the run was over after %v", time.Duration(end-d.start).Round(time.Microsecond))
		}
		all = append(all, fmt.Sprintf("fault %q did not take place: %s", f, why))
	}
	return all
}

// impossible says why something was possible for none of the nodes.
var impossible = map[Kind]string{
	Kill: "the node was down", Pause: "the node was down", Partition: "the server was down", Leave: "the node was down or leaving",
	Restart: "the node was not down", Join: "the node was part of the system",
}
