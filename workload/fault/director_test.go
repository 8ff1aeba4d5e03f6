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
	what := s.schedule[k].What
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
	s.note("end %s %s", s.schedule[k].What, dme.FormatNodes(nodes))
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
	s.director = NewDirector(schedule, dme.None, n, rand.New(rand.NewPCG(1, 1)), s)
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
	for _, x := range []struct {
		name, faults, done, missed string
	}{
		{"a pause within another", "pause 2 @1s-9s; pause 2 @3s-5s", "1: pause 2; 3: pause 2; 5: end pause; 9: end pause 2", ""},
		{"a pause that outlasts another", "pause 2 @1s-5s; pause 2-3 @3s-8s; pause 3 @4s", "1: pause 2; 3: pause 2-3; 4: pause 3; " +
			"5: end pause; 8: end pause 2", ""},
		{"a pause ends with its last node", "pause 2 @1s-9s; pause 2-3 @1s-9s; kill 2 @3s; kill 3 @4s",
			"1: pause 2; 1: pause 2-3; 3: kill 2; 3: end pause; 4: kill 3; 4: end pause", ""},
		{"a pause of the dead", "kill 2 @1s; pause 2 @2s-3s; pause 2-3 @4s-5s",
			"1: kill 2; 4: pause 3; 5: end pause 3", "pause 2 @2ns-3ns: the node was down"},
		{"an end comes before a beginning", "pause 3 @5s-6s; pause 2 @1s-5s; kill 2 @5s",
			"1: pause 2; 5: end pause 2; 5: pause 3; 5: kill 2; 6: end pause 3", ""},
		{"the dead do not join", "kill 2 @1s; join 2 @2s; restart 2 @3s", "1: kill 2; 3: restart 2",
			"join 2 @2ns: the node was part of the system"},
		{"the absent do not restart", "join 2 @3s; restart 2 @1s; restart 3 @1s", "3: join 2",
			"restart 2 @1ns: the node was not down; restart 3 @1ns: the node was not down"},
		{"who has left joins, and does not restart", "leave 2 @1s; restart 2 @3s; join 2 @4s", "1: leave 2; 2: left 2; 4: join 2",
			"restart 2 @3ns: the node was not down"},
		{"a leave waits for the end of a pause", "pause 2 @1s-4s; leave 2 @2s; leave 2 @5s",
			"1: pause 2; 4: end pause 2; 4: leave 2; 6: left 2", "leave 2 @5ns: the node was down or leaving"},
		{"who is about to leave may stand still and die", "leave 3 @2s; pause 3 @3s-12s; kill 3 @6s; restart 3 @7s",
			"2: leave 3; 3: pause 3; 6: kill 3; 6: end pause; 7: restart 3", ""},
		{"restarts bring back each whom its kill hit", "kill holder @1s; kill holder @3s; restart holder @5s; restart holder @+4s",
			"1: kill 1; 3: kill 3; 5: restart 1; 7: restart 3", ""},
		{"a restart of a role that nobody died in", "restart holder @1s; kill holder @3s", "3: kill 3",
			`restart holder @1ns: no node had the role "holder" until the run was over`},
		{"a restart follows no kill that hit nobody", "kill 2 @1s; kill 2 @2s; restart 2 @+1s; restart 2 @+1s", "1: kill 2; 2: restart 2",
			"kill 2 @2ns: the node was down; restart 2 @+1ns: the kill that it follows hit nobody"},
		{"a role that nobody has is waited for", "kill 1 @4s; kill holder @5s", "4: kill 1; 6: kill 3", ""},
		{"partitions overlap", "partition 1|2-4 @1s-4s; partition 1-2|3-4 @2s-6s",
			"1: partition 1; 2: partition 1-2; 4: end partition; 6: end partition", ""},
		{"all die", "kill 1-4 @2s; kill 1-4 @3s; restart 1,3 @4s; kill 1-2 @5s", "2: kill 1-4; 4: restart 1,3; 5: kill 1",
			"kill 1-4 @3ns: the node was down"},
		{"what is too late never comes", "kill 1 @100s; kill 2 @entry:5; restart 1 @+1s", "",
			"kill 1 @100ns: the run was over after 0s; kill 2 @entry:5: the run was over after 0s; " +
				"restart 1 @+1ns: the kill that it follows hit nobody"},
	} {
		holder := nobody
		if strings.Contains(x.faults, "holder") { // in turn, two seconds each
			holder = func(now int64) dme.NodeID { return dme.NodeID(now/2*2%4 + 1) }
		}
		s := perform(t, 4, scheduled(t, strings.Split(x.faults, "; ")...), 20, holder)
		if got := strings.Join(s.log, "; "); got != x.done {
			t.Errorf("%s: %s\n got %s\nwant %s", x.name, x.faults, got, x.done)
		}
		missed := strings.NewReplacer(`fault "`, "", `" never came to pass`, "").Replace(strings.Join(s.director.Missed(s.now), "; "))
		if missed != x.missed {
			t.Errorf("%s: %s\n missed %s\n want   %s", x.name, x.faults, missed, x.missed)
		}
	}
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
		if x := m.struck[k]; f.What == Pause && x != nil && slices.Contains(x.nodes, id) && !m.over[k] {
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
		if named != nil && f.What == Leave && m.is(id, "asleep") {
			return false
		}
		if m.can(f.What, id) && !(named == nil && f.What == Restart) {
			hit = append(hit, id)
		}
	}
	if f.What == Partition {
		hit = f.Sides[0]
	}
	if hit == nil {
		return named != nil
	}
	asleep := make(map[int]bool) // pauses that hold somebody
	pauses := func(then func(int)) {
		for p, x := range m.struck {
			for _, id := range x.nodes {
				if m.schedule[p].What == Pause && !m.over[p] && m.heldBy(p, id) {
					then(p)
				}
			}
		}
	}
	pauses(func(p int) { asleep[p] = true })
	m.do(k, string(f.What), hit)
	m.struck[k] = &m.done[len(m.done)-1]
	if f.What == Kill {
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
	if m.schedule[k].What == Pause {
		for _, id := range m.struck[k].nodes {
			elsewhere := false
			for p, x := range m.struck {
				elsewhere = elsewhere || m.schedule[p].What == Pause && !m.over[p] && slices.Contains(x.nodes, id) && m.heldBy(p, id)
			}
			if m.heldBy(k, id) && !elsewhere {
				on = append(on, id)
			}
		}
	}
	m.do(k, "end "+string(m.schedule[k].What), on)
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
	s.director = NewDirector(schedule, dme.None, 3, rand.New(rand.NewPCG(1, 1)), s)
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
		d := NewDirector(scheduled(t, f), dme.None, 3, rand.New(rand.NewPCG(1, 1)), s)
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

// However many kills and restarts of one node there are, which belong together is found
// at once.
func TestManyKillsAndRestarts(t *testing.T) {
	var s Schedule
	for range 20_000 {
		s = append(s, Fault{What: Kill, Nodes: []dme.NodeID{3}}, Fault{What: Restart, Nodes: []dme.NodeID{3}, AfterKill: true})
	}
	for i, kill := range s.Kills() {
		if want := i - 1; i%2 == 1 && kill != want || i%2 == 0 && kill != -1 {
			t.Fatalf("fault %d counts from %d", i, kill)
		}
	}
}
