// Package fault is the grammar of faults that are done to a run on purpose: nodes that are killed,
// restarted, paused or cut off, that join and leave.
//
// A fault is written WHAT WHOM @WHEN:
//
//	kill 3 @2s                   node 3 is killed two seconds after the start
//	kill holder @entry:100       the node that makes the 100th entry, inside it
//	restart 3 @+500ms            half a second after node 3 was killed
//	pause 2,5 @1s-1.5s           nodes 2 and 5 stand still for half a second
//	partition 1,2|3-8 @1s-3s     nothing passes between the sides
//	leave 4 @3s                  node 4 leaves in an orderly way
//	join 6 @request:20           node 6, absent until then, joins at the 20th request
//	kill server:2 @2s            the second server of a lock service
//	pause leader @1s-3s          whichever of its servers leads
//	kill random @1s~3s           at an instant between the two that is drawn from the run's seed
package fault

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"dmebench/dme"
	"dmebench/units"
)

// Kind says what is done.
type Kind string

// The kinds of faults. Kill ends a node at once, and Restart brings it back with
// nothing kept. Pause makes it stand still, as a process that is not scheduled.
// Partition lets nothing pass between its sides. Leave and Join are no accidents:
// the node leaves, or becomes part of, the running system.
const (
	Kill      Kind = "kill"
	Restart   Kind = "restart"
	Pause     Kind = "pause"
	Partition Kind = "partition"
	Leave     Kind = "leave"
	Join      Kind = "join"
)

var kinds = []string{string(Kill), string(Restart), string(Pause), string(Partition), string(Leave), string(Join)}

func (k Kind) lasts() bool { return k == Pause || k == Partition }

// Role says which node a fault hits by what the node does at that moment.
type Role string

// The roles: the node inside the critical section, the root of the system's
// structure, the node that has the token, a node that waits, one that neither
// waits nor is inside, any node that is up. Among several the one is drawn from
// the run's seed.
const (
	Holder  Role = "holder"
	Root    Role = "root"
	Token   Role = "token"
	Waiting Role = "waiting"
	Idle    Role = "idle"
	Random  Role = "random"
)

// The roles of servers, of a run that measures a lock service: the one that leads, and all.
// One of them, from 1, is server:N.
const (
	Leader  Role = "leader"
	Servers Role = "servers"

	oneServer = "server:"
)

var roles = []string{
	string(Holder), string(Root), string(Token), string(Waiting), string(Idle), string(Random),
	string(Leader), string(Servers), oneServer + "N",
}

// OfServers reports whether a fault hits servers, and no nodes.
func (f *Fault) OfServers() bool {
	return f.Role == Leader || f.Role == Servers || strings.HasPrefix(string(f.Role), oneServer)
}

// server returns which server the fault names, from 1; 0 if it names none.
func (f *Fault) server() int {
	number, ok := strings.CutPrefix(string(f.Role), oneServer)
	if n, err := strconv.Atoi(number); ok && err == nil {
		return n
	}
	return 0
}

// Event is what a fault can wait for in place of a time.
type Event string

// The events: the n-th entry, or the n-th request, of all nodes together.
const (
	Entry   Event = "entry"
	Request Event = "request"
)

// Fault is one fault of a schedule.
type Fault struct {
	Kind  Kind
	Nodes []dme.NodeID   // nodes that it hits, in ascending order; nil with a role or sides
	Role  Role           // the role that it hits, if no nodes are named
	Sides [][]dme.NodeID // of a partition; nodes in none are one more side together

	Event Event         // what it waits for; "" for a time
	Count uint64        // the number of the event, counted from 1
	At    time.Duration // since the start of the run or, with AfterKill, since the kill
	// AfterKill counts At from the kill of the same nodes: of a Restart only.
	AfterKill bool
	Lasts     time.Duration // how long; 0: until the end of the run

	// If Latest is not 0, At is drawn from the run's seed: from Earliest to before Latest. Until
	// [Schedule.Draw] has done so it is Earliest.
	Earliest, Latest time.Duration
}

// Parse reads a fault.
func Parse(s string) (Fault, error) {
	var f Fault
	if err := f.parse(strings.Fields(s)); err != nil {
		return Fault{}, fmt.Errorf("fault %q: %w", s, err)
	}
	return f, nil
}

func (f *Fault) parse(words []string) error {
	if len(words) != 3 || !strings.HasPrefix(words[2], "@") {
		return errors.New("want WHAT WHOM @WHEN, such as: kill 3 @2s")
	}
	f.Kind = Kind(words[0])
	if !slices.Contains(kinds, words[0]) {
		return fmt.Errorf("%q cannot be done; want %s%s", words[0], list(kinds), units.Hint(words[0], kinds))
	}
	if err := f.parseWhom(words[1]); err != nil {
		return err
	}
	return f.parseWhen(words[2][1:])
}

// list writes names as a choice: a, b or c.
func list(names []string) string {
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

func (f *Fault) parseWhom(s string) (err error) {
	f.Role = Role(s)
	if f.Kind == Partition && !f.OfServers() {
		f.Role = ""
		for side := range strings.SplitSeq(s, "|") {
			nodes, err := dme.ParseNodes(side)
			if err != nil {
				return err
			}
			for _, other := range f.Sides {
				if i := slices.IndexFunc(nodes, func(id dme.NodeID) bool { return slices.Contains(other, id) }); i >= 0 {
					return fmt.Errorf("node %d is on two sides", nodes[i])
				}
			}
			f.Sides = append(f.Sides, nodes)
		}
		return nil
	}
	if f.server() > 0 || slices.Contains(roles, s) {
		if f.OfServers() && !slices.Contains([]Kind{Kill, Restart, Pause, Partition}, f.Kind) {
			return fmt.Errorf("servers cannot %s; they can be killed, restarted, paused and cut off (partition)", f.Kind)
		}
		if f.Kind == Join {
			return errors.New("a node that joins is given by number: no absent node has a role")
		}
		return nil
	}
	f.Role = ""
	if f.Nodes, err = dme.ParseNodes(s); err != nil {
		return fmt.Errorf("%w, nor one of %s%s", err, list(roles), units.Hint(s, roles))
	}
	return nil
}

func (f *Fault) parseWhen(s string) error {
	event, count, isEvent := strings.Cut(s, ":")
	switch {
	case Event(event) == Entry || Event(event) == Request:
		f.Event, f.Count = Event(event), 1
		if !isEvent {
			return nil
		}
		count, lasts, hasEnd := strings.Cut(count, "+")
		n, err := strconv.ParseUint(count, 10, 63)
		if err != nil || n == 0 {
			return fmt.Errorf("%q is not a count; want %s:N with N at least 1", count, event)
		}
		f.Count = n
		if !hasEnd {
			return nil
		}
		return f.setLasts(parseTime(lasts))
	case strings.HasPrefix(s, "+"):
		if f.Kind != Restart {
			return fmt.Errorf("only a restart can follow a kill; give a time for %s", f.Kind)
		}
		f.AfterKill = true
		return f.setAt(s[1:])
	}
	if strings.Contains(s, "~") {
		return f.setAt(s)
	}
	from, until, isSpan := strings.Cut(s, "-")
	if err := f.setAt(from); err != nil || !isSpan {
		return err
	}
	end, err := parseTime(until)
	if err == nil && end <= f.At {
		err = fmt.Errorf("it would end at %v, before it began", end)
	}
	return f.setLasts(end-f.At, err)
}

func (f *Fault) setAt(s string) (err error) {
	from, until, drawn := strings.Cut(s, "~")
	if f.At, err = parseTime(from); err != nil || !drawn {
		return err
	}
	f.Earliest = f.At
	if f.Latest, err = parseTime(until); err == nil && f.Latest <= f.Earliest {
		err = fmt.Errorf("there is no instant from %v to before %v", f.Earliest, f.Latest)
	}
	return err
}

func (f *Fault) setLasts(d time.Duration, err error) error {
	if err == nil && !f.Kind.lasts() {
		return fmt.Errorf("%s has no end; only %s and %s last", f.Kind, Pause, Partition)
	}
	if err == nil && d <= 0 {
		err = errors.New("it would have no duration")
	}
	f.Lasts = d
	return err
}

func parseTime(s string) (time.Duration, error) {
	d, err := dme.ParseDuration(s)
	if _, bad := strconv.ParseFloat(s, 64); err != nil && bad == nil {
		return 0, err
	}
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is not a time; want one such as 2s or 500ms, a span such as 1s-1.5s, one to be drawn such as 1s~3s, "+
			"or an event such as entry:100", s)
	}
	return d, nil
}

// Whom writes what the fault hits, as [Parse] reads it.
func (f Fault) Whom() string {
	switch {
	case f.Role != "":
		return string(f.Role)
	case f.Kind == Partition:
		return strings.Join(units.Texts(f.Sides, dme.FormatNodes), "|")
	}
	return dme.FormatNodes(f.Nodes)
}

// String writes the fault as [Parse] reads it.
func (f Fault) String() string {
	s := string(f.Kind) + " " + f.Whom() + " @"
	switch {
	case f.Event != "" && f.Lasts > 0:
		return s + fmt.Sprintf("%s:%d+%v", f.Event, f.Count, f.Lasts)
	case f.Event != "":
		return s + fmt.Sprintf("%s:%d", f.Event, f.Count)
	case f.AfterKill:
		s += "+"
	}
	switch {
	case f.Latest > 0:
		return s + f.Earliest.String() + "~" + f.Latest.String()
	case f.Lasts > 0:
		return s + f.At.String() + "-" + (f.At + f.Lasts).String()
	}
	return s + f.At.String()
}

// Schedule is the faults of a run, in the order in which they were given.
type Schedule []Fault

// ParseAll reads a schedule, and reports every fault that cannot be read.
func ParseAll(faults []string) (Schedule, error) {
	var all Schedule
	var errs []error
	for _, s := range faults {
		f, err := Parse(s)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		all = append(all, f)
	}
	return all, errors.Join(errs...)
}

// drawStream separates the random numbers of instants from those that others draw
// from the same seed.
const drawStream = 0xfb << 56

// Draw returns the schedule of the run with this seed, in which every random instant is drawn.
// Faults at given times draw nothing.
func (s Schedule) Draw(seed uint64) Schedule {
	drawn := slices.Clone(s)
	rng := rand.New(rand.NewPCG(seed, drawStream))
	for i := range drawn {
		if f := &drawn[i]; f.Latest > 0 {
			f.At = f.Earliest + time.Duration(rng.Int64N(int64(f.Latest-f.Earliest)))
		}
	}
	return drawn
}

// Absent returns the nodes that are not part of the system at the start: those whose first fault is
// a join.
func (s Schedule) Absent() []dme.NodeID {
	var absent, present []dme.NodeID
	for _, f := range s {
		for _, id := range f.Nodes {
			switch {
			case f.Kind != Join:
				present = append(present, id)
			case !slices.Contains(present, id):
				absent = append(absent, id)
			}
		}
	}
	slices.Sort(absent)
	return slices.Compact(absent)
}

// Kills returns, for each restart, the index of the kill that it answers: the first of the same
// nodes or role before it that no earlier restart answers; -1 if there is none, and for all other
// faults.
func (s Schedule) Kills() []int {
	kills := make([]int, len(s))
	open := make(map[string][]int)
	for i, f := range s {
		kills[i] = -1
		switch whom := f.Whom(); {
		case f.Kind == Kill:
			open[whom] = append(open[whom], i)
		case f.Kind == Restart && len(open[whom]) > 0:
			kills[i], open[whom] = open[whom][0], open[whom][1:]
		}
	}
	return kills
}

// Check reports what keeps the schedule from being carried out in a system of a
// on n nodes.
func (s Schedule) Check(a *dme.Algorithm, sys dme.System, n int) error {
	var errs []error
	refuse := func(f Fault, wrong bool, text string, args ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf("fault %q: %w", f, fmt.Errorf(text, args...)))
		}
	}
	if n < 1 {
		return nil
	}
	node, kills, servers := sys.Node(1), s.Kills(), ServersOf(sys)
	for i, f := range s {
		for _, nodes := range append(f.Sides, f.Nodes) {
			refuse(f, len(nodes) > 0 && int(nodes[len(nodes)-1]) > n, "there are only %d nodes", n)
		}
		ok := true
		refuse(f, f.OfServers() && servers == 0, "%s has no servers; those of a lock service can be hit", a.Name)
		refuse(f, f.server() > servers && servers > 0, "there are only %d servers", servers)
		if f.OfServers() {
			refuse(f, f.AfterKill && kills[i] < 0, "no kill of %s comes before it", f.Whom())
			continue
		}
		switch f.Kind {
		case Restart:
			_, ok = node.(dme.Restarter)
		case Join, Leave:
			_, ok = node.(dme.Member)
		}
		refuse(f, !ok, "nodes of %s cannot %s; 'dmebench list algorithms' shows which can", a.Name, f.Kind)
		refuse(f, f.AfterKill && kills[i] < 0, "no kill of %s comes before it", f.Whom())
		refuse(f, f.Role == Root && a.Root == dme.None, "%s has no root", a.Name)
		refuse(f, f.Role == Token && a.HasToken == nil, "%s has no token", a.Name)
	}
	if len(s.Absent()) >= n {
		errs = append(errs, errors.New("faults: all nodes join later; at least one must be there at the start"))
	}
	return errors.Join(errs...)
}

// ServersOf returns how many servers a system has that are none of its nodes.
func ServersOf(sys dme.System) int {
	if s, ok := sys.(interface{ Servers() int }); ok {
		return s.Servers()
	}
	return 0
}

// Supported lists what a is made for, with its default options: "crash" if it goes on without a
// node, wherever that is possible, and "restart", "join" and "leave" if its nodes know how to.
func Supported(a *dme.Algorithm) []string {
	var all []string
	if a.Survives != nil {
		all = append(all, "crash")
	}
	node := anyNode(a)
	if _, ok := node.(dme.Restarter); ok {
		all = append(all, string(Restart))
	}
	if _, ok := node.(dme.Member); ok {
		all = append(all, string(Join), string(Leave))
	}
	return all
}

// anyNode returns a node of some small system, nil if there is none.
func anyNode(a *dme.Algorithm) dme.Node {
	for n := 2; n <= 16; n++ {
		if sys, err := a.New(n, 1, nil); err == nil {
			return sys.Node(1)
		}
	}
	return nil
}
