package fault

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/internal/testkit"
)

// stage is a runtime of whole seconds in which nodes do nothing but what is done to them;
// one that has been told to leave leaves at every fourth second but one, if it is awake.
type stage struct {
	t        *testing.T
	n        int
	now      int64
	schedule Schedule
	director *Director
	down     map[dme.NodeID]bool
	asleep   map[dme.NodeID]bool
	holder   func(now int64) dme.NodeID
	log      []string
}

func (s *stage) Down(id dme.NodeID) bool { return s.down[id] }

func (s *stage) Players(_ int, nodes []dme.NodeID) ([]dme.NodeID, error) {
	id := s.holder(s.now)
	if s.down[id] || !slices.Contains(nodes, id) {
		return nil, nil
	}
	return []dme.NodeID{id}, nil
}

func (s *stage) Strike(k int, nodes []dme.NodeID) (int64, error) {
	what := s.schedule[k].Kind
	for _, id := range nodes {
		switch what {
		case Kill:
			s.down[id], s.asleep[id] = true, false
		case Restart, Join:
			s.down[id] = false
		case Pause:
			s.asleep[id] = true
		}
	}
	s.note("%s %s", what, dme.FormatNodes(nodes))
	return s.now, nil
}

func (s *stage) End(k int, nodes []dme.NodeID) error {
	for _, id := range nodes {
		if !s.asleep[id] {
			s.t.Errorf("%v: node %d goes on, which did not stand still", s.schedule, id)
		}
		s.asleep[id] = false
	}
	s.note("end %s %s", s.schedule[k].Kind, dme.FormatNodes(nodes))
	return nil
}

func (s *stage) note(format string, args ...any) {
	s.log = append(s.log, strings.TrimSpace(fmt.Sprintf("%d: ", s.now)+fmt.Sprintf(format, args...)))
}

func leavesNow(id dme.NodeID, now int64) bool { return (now+int64(id))%4 == 0 }

// perform carries out a schedule whose times are seconds, and stand for units of 1.
func perform(t *testing.T, n int, schedule Schedule, end int64, holder func(int64) dme.NodeID) *stage {
	t.Helper()
	s := &stage{t: t, n: n, schedule: schedule, down: map[dme.NodeID]bool{}, asleep: map[dme.NodeID]bool{}, holder: holder}
	s.director = NewDirector(schedule, dme.None, n, 0, rand.New(rand.NewPCG(1, 1)), s)
	for _, id := range schedule.Absent() {
		s.down[id] = true
	}
	s.director.Begin(0, Never)
	for ; s.now < end; s.now++ {
		for id := dme.NodeID(1); int(id) <= n; id++ {
			if s.director.Leaving(id) && !s.asleep[id] && leavesNow(id, s.now) {
				s.down[id] = true
				s.director.Left(id)
				s.note("left %d", id)
			}
		}
		for did, before := true, int64(-1); did || before != s.director.Next(); {
			before = s.director.Next()
			var err error
			if did, err = s.director.Step(s.now); err != nil {
				t.Fatal(err)
			}
		}
	}
	return s
}

// scheduled reads faults and makes a nanosecond of each second.
func scheduled(t *testing.T, faults ...string) Schedule {
	t.Helper()
	s, err := ParseAll(faults)
	if err != nil {
		t.Fatal(err)
	}
	for i := range s {
		s[i].At /= time.Second
		s[i].Lasts /= time.Second
	}
	return s
}

func nobody(int64) dme.NodeID { return dme.None }

// What is possible, whom it hits and in which order.
func TestCarriesOut(t *testing.T) {
	testkit.Cases(t, "testdata/director.txt", func(t *testing.T, faults []string) string {
		holder := func(now int64) dme.NodeID { return dme.NodeID(now/2*2%4 + 1) }
		s := perform(t, 4, scheduled(t, faults...), 20, holder)
		return strings.Join(append(s.log, s.director.Missed(s.now)...), "\n")
	})
}

// model carries out a schedule as plainly as can be: it remembers only what was done, and
// reads from that where nodes stand.
type model struct {
	schedule Schedule
	n        int
	now      int64
	done     []deed
	over     map[int]bool // faults that have struck, missed or ended
	struck   map[int]*deed
	due      []int
	holder   func(int64) dme.NodeID
}

type deed struct {
	at    int64
	what  string
	fault int
	nodes []dme.NodeID
}

// last returns the last deed of some kinds to a node, nil for none.
func (m *model) last(id dme.NodeID, what ...string) *deed {
	for i := range slices.Backward(m.done) {
		if d := &m.done[i]; slices.Contains(what, d.what) && slices.Contains(d.nodes, id) {
			return d
		}
	}
	return nil
}

func (m *model) is(id dme.NodeID, state string) bool {
	d := m.last(id, "kill", "restart", "join", "leave", "left")
	absent := d == nil && slices.Contains(m.schedule.Absent(), id)
	switch state {
	case "down":
		return absent || d != nil && (d.what == "kill" || d.what == "left")
	case "absent":
		return absent || d != nil && d.what == "left"
	case "leaving":
		return d != nil && d.what == "leave"
	}
	// Asleep: some pause since it came last hit it, and has not ended.
	for k, f := range m.schedule {
		if x := m.struck[k]; f.Kind == Pause && x != nil && slices.Contains(x.nodes, id) && !m.over[k] {
			if kill := m.last(id, "kill"); kill == nil || slices.IndexFunc(m.done, func(d deed) bool { return d.fault == k }) >
				slices.IndexFunc(m.done, func(d deed) bool { return d.fault == kill.fault && d.what == "kill" }) {
				return true
			}
		}
	}
	return false
}

func (m *model) can(what Kind, id dme.NodeID) bool {
	switch what {
	case Restart, Join:
		return m.is(id, "down") && m.is(id, "absent") == (what == Join)
	case Leave:
		return !m.is(id, "down") && !m.is(id, "leaving") && !m.is(id, "asleep")
	}
	return !m.is(id, "down")
}

func (m *model) do(k int, what string, nodes []dme.NodeID) {
	m.done = append(m.done, deed{m.now, what, k, nodes})
}

// strike tries one fault that is due; false where it waits.
func (m *model) strike(k int) bool {
	f := m.schedule[k]
	named := f.Nodes
	if kill := m.schedule.Kills()[k]; kill >= 0 && m.struck[kill] != nil && (f.AfterKill || f.Role != "") {
		named = m.struck[kill].nodes
	}
	var hit []dme.NodeID
	for id := dme.NodeID(1); int(id) <= m.n; id++ {
		if named == nil && id != m.holder(m.now) || named != nil && !slices.Contains(named, id) {
			continue
		}
		if named != nil && f.Kind == Leave && m.is(id, "asleep") {
			return false
		}
		if m.can(f.Kind, id) && !(named == nil && f.Kind == Restart) {
			hit = append(hit, id)
		}
	}
	if f.Kind == Partition {
		hit = f.Sides[0]
	}
	if hit == nil {
		return named != nil
	}
	asleep := make(map[int]bool) // pauses that hold somebody
	pauses := func(then func(int)) {
		for p, x := range m.struck {
			for _, id := range x.nodes {
				if m.schedule[p].Kind == Pause && !m.over[p] && m.heldBy(p, id) {
					then(p)
				}
			}
		}
	}
	pauses(func(p int) { asleep[p] = true })
	m.do(k, string(f.Kind), hit)
	m.struck[k] = &m.done[len(m.done)-1]
	if f.Kind == Kill {
		pauses(func(p int) { delete(asleep, p) })
		var ended []int
		for p := range asleep {
			ended = append(ended, p)
		}
		// In the order in which their last nodes die.
		slices.SortFunc(ended, func(a, b int) int {
			lastOf := func(p int) (last int) {
				for i, id := range hit {
					if slices.Contains(m.struck[p].nodes, id) {
						last = i
					}
				}
				return last
			}
			if x := lastOf(a) - lastOf(b); x != 0 {
				return x
			}
			return a - b
		})
		for _, p := range ended {
			m.over[p] = true
			m.do(p, "end pause", nil)
		}
	}
	return true
}

// heldBy reports whether a node stands still for a pause that is not over.
func (m *model) heldBy(pause int, id dme.NodeID) bool {
	began := slices.IndexFunc(m.done, func(d deed) bool { return d.fault == pause })
	return !slices.ContainsFunc(m.done[began:], func(d deed) bool { return d.what == "kill" && slices.Contains(d.nodes, id) })
}

func (m *model) end(k int) {
	var on []dme.NodeID
	m.over[k] = true
	if m.schedule[k].Kind == Pause {
		for _, id := range m.struck[k].nodes {
			elsewhere := false
			for p, x := range m.struck {
				elsewhere = elsewhere || m.schedule[p].Kind == Pause && !m.over[p] && slices.Contains(x.nodes, id) && m.heldBy(p, id)
			}
			if m.heldBy(k, id) && !elsewhere {
				on = append(on, id)
			}
		}
	}
	m.do(k, "end "+string(m.schedule[k].Kind), on)
}

func (m *model) run(end int64) (log []string) {
	tried := make(map[int]bool) // due once
	for ; m.now < end; m.now++ {
		for id := dme.NodeID(1); int(id) <= m.n; id++ {
			if m.is(id, "leaving") && !m.is(id, "asleep") && leavesNow(id, m.now) {
				m.do(-1, "left", []dme.NodeID{id})
			}
		}
	again:
		slices.Sort(m.due)
		for i, k := range m.due {
			if m.strike(k) {
				m.due = slices.Delete(m.due, i, i+1)
				goto again
			}
		}
		for k, f := range m.schedule {
			if x := m.struck[k]; x != nil && !m.over[k] && f.Lasts > 0 && x.at+int64(f.Lasts) <= m.now {
				m.end(k)
				goto again
			}
		}
		before := len(m.due)
		for k, f := range m.schedule {
			at := int64(f.At)
			if f.AfterKill {
				x := m.struck[m.schedule.Kills()[k]]
				if x == nil {
					continue
				}
				at += x.at
			}
			if at <= m.now && !tried[k] {
				tried[k] = true
				m.due = append(m.due, k)
			}
		}
		if len(m.due) > before {
			goto again
		}
	}
	for _, d := range m.done {
		log = append(log, strings.TrimSpace(fmt.Sprintf("%d: %s %s", d.at, d.what, dme.FormatNodes(d.nodes))))
	}
	return log
}

// Whatever the schedule, what is done is what the plain model does.
func TestCarriesOutAsThePlainModel(t *testing.T) {
	kinds, struck := make(map[string]int), 0
	for seed := range uint64(4000) {
		rng := rand.New(rand.NewPCG(seed, 11))
		const n, end = 4, 30
		node := func() string { return fmt.Sprint(1 + rng.IntN(n)) }
		var faults []string
		for range 1 + rng.IntN(9) {
			whom := []string{node(), node(), "1-2", "2,4", "1-4", "holder"}[rng.IntN(6)]
			at := rng.IntN(20)
			switch rng.IntN(6) {
			case 0:
				faults = append(faults, fmt.Sprintf("kill %s @%ds", whom, at), fmt.Sprintf("restart %s @+%ds", whom, rng.IntN(6)))
			case 1:
				faults = append(faults, fmt.Sprintf("%s %s @%ds", []string{"kill", "restart"}[rng.IntN(2)], whom, at))
			case 2:
				faults = append(faults, fmt.Sprintf("pause %s @%ds-%ds", whom, at, at+1+rng.IntN(8)))
			case 3:
				faults = append(faults, fmt.Sprintf("leave %s @%ds", whom, at))
			case 4:
				faults = append(faults, fmt.Sprintf("join %s @%ds", node(), at))
			case 5:
				faults = append(faults, fmt.Sprintf("partition 1|2-4 @%ds-%ds", at, at+1+rng.IntN(8)))
			}
		}
		holder := func(now int64) dme.NodeID { return dme.NodeID(now / 3 % (n + 1)) }
		schedule := scheduled(t, faults...)
		m := &model{schedule: schedule, n: n, over: map[int]bool{}, struck: map[int]*deed{}, holder: holder}
		s := perform(t, n, schedule, end, holder)
		if want := m.run(end); !slices.Equal(s.log, want) {
			t.Fatalf("seed %d: %q\n got %q\nwant %q", seed, faults, s.log, want)
		}
		if missed := len(s.director.Missed(end)); missed != len(faults)-len(m.struck) {
			t.Fatalf("seed %d: %q: %d missed, %d of %d struck", seed, faults, missed, len(m.struck), len(faults))
		}
		struck += len(m.struck)
		for _, line := range s.log {
			_, what, _ := strings.Cut(line, ": ")
			kinds[strings.Join(strings.FieldsFunc(what, func(r rune) bool { return r < 'a' }), " ")]++
		}
	}
	for _, what := range []string{"kill", "restart", "pause", "partition", "leave", "left", "join", "end pause", "end partition"} {
		if kinds[what] < 500 {
			t.Errorf("only %d times %s in all: %v", kinds[what], what, kinds)
		}
	}
}

// What is to come back, and what ends, at a time that is known.
func TestWhatIsToCome(t *testing.T) {
	schedule := scheduled(t, "kill 3 @1s", "restart 3 @+4s", "kill 4 @1s", "restart 4 @+9s", "kill 1-2 @1s", "restart 2 @entry:3",
		"pause 5 @1s-3s", "partition 1|2-5 @1s-4s", "kill holder @20s", "restart holder @30s")
	s := perform(t, 5, schedule, 2, nobody)
	back := func() (all []dme.NodeID) {
		for id := dme.NodeID(1); id <= 5; id++ {
			if s.director.ComesBack(id) {
				all = append(all, id)
			}
		}
		return all
	}
	s.director.deadline = 9
	if got := back(); !slices.Equal(got, []dme.NodeID{3}) || !s.director.Lasts(Pause) || !s.director.Lasts(Partition) {
		t.Errorf("%v come back before second 9; pause %v, partition %v", got, s.director.Lasts(Pause), s.director.Lasts(Partition))
	}
	s.director.deadline = Never
	if got := back(); !slices.Equal(got, []dme.NodeID{3, 4}) {
		t.Errorf("%v come back", got)
	}
	if next := s.director.Next(); next != 3 {
		t.Errorf("next at %d", next)
	}
	s.director.Happened(Entry, 5, 1) // two of them were not seen
	if did, err := s.director.Step(2); !did || err != nil || s.down[2] || s.director.Awaits(Entry) {
		t.Errorf("node 2 is not back after the third entry: %v %v", did, err)
	}
}

// Who caused the event that a fault waits for is hit before all others with its role.
func TestWhoCausesTheEvent(t *testing.T) {
	schedule := scheduled(t, "kill random @entry:1", "kill random @entry:2")
	s := perform(t, 9, schedule, 1, nobody)
	for count, id := range []dme.NodeID{7, 3} {
		s.director.Happened(Entry, uint64(count+1), id)
		if did, err := s.director.Step(1); !did || err != nil || !s.down[id] {
			t.Errorf("node %d made entry %d; %v", id, count+1, s.log)
		}
	}
}

// No time is too late: it does not come round from the other side.
func TestTimesBeyondAllTimes(t *testing.T) {
	schedule, err := ParseAll([]string{"kill 1 @2562047h", "pause 2 @entry:1+2562047h", "kill 3 @2562047h47m16.854775807s"})
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{t: t, schedule: schedule, down: map[dme.NodeID]bool{}, asleep: map[dme.NodeID]bool{}, now: math.MaxInt64 / 2}
	s.director = NewDirector(schedule, dme.None, 3, 0, rand.New(rand.NewPCG(1, 1)), s)
	s.director.Begin(s.now, Never)
	s.director.Happened(Entry, 1, 2)
	for did := true; did; {
		did, _ = s.director.Step(s.now)
	}
	if len(s.log) != 1 || s.director.Next() != Never || s.director.Lasts(Pause) {
		t.Errorf("%q, next at %d", s.log, s.director.Next())
	}
}

// An error of the runtime is the director's.
func TestErrorsAreTold(t *testing.T) {
	s := &failing{err: errors.New("no")}
	for _, f := range []string{"kill 1 @1s", "kill holder @1s"} {
		d := NewDirector(scheduled(t, f), dme.None, 3, 0, rand.New(rand.NewPCG(1, 1)), s)
		d.Begin(0, Never)
		if _, err := d.Step(5); !errors.Is(err, s.err) {
			t.Errorf("%s: %v", f, err)
		}
	}
}

type failing struct {
	stage
	err error
}

func (f *failing) Players(int, []dme.NodeID) ([]dme.NodeID, error) { return nil, f.err }
func (f *failing) Strike(k int, nodes []dme.NodeID) (int64, error) { return 0, f.err }
