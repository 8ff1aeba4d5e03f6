package localprocess

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/internal/record"
	"dmebench/internal/runtime/noderun"
	"dmebench/workload"
)

// room is a runtime for one process: its own clock and calendar, and a critical
// section that is granted when the test says so.
type room struct {
	now      int64
	calendar []appointment
	p        Process
	log      *record.Log
	latency  int64 // how much later than asked an arrival is called
	did      []string
}

type appointment struct {
	at     int64
	arrive bool // else leave
}

func (r *room) Now() int64 { return r.now }

func (r *room) ArriveAt(_ dme.NodeID, at int64) {
	r.calendar = append(r.calendar, appointment{at, true})
}

func (r *room) ExitAt(_ dme.NodeID, at int64) {
	r.calendar = append(r.calendar, appointment{at, false})
}

func (r *room) Enter(_ dme.NodeID, shared bool) uint64 {
	r.did = append(r.did, fmt.Sprintf("enter at %d", r.now))
	return 42
}

func (r *room) Exit(dme.NodeID, bool) {
	r.did = append(r.did, fmt.Sprintf("leave at %d", r.now))
}

// script is a node whose handlers are functions.
type script struct{ request, shared, release func(*dme.Outbox) }

func (s *script) Request(out *dme.Outbox)                      { s.request(out) }
func (s *script) RequestShared(out *dme.Outbox)                { s.shared(out) }
func (s *script) Receive(dme.NodeID, dme.Message, *dme.Outbox) {}
func (s *script) State(*dme.Visitor)                           {}
func (s *script) Release(out *dme.Outbox) {
	if s.release != nil {
		s.release(out)
	}
}

// one is a system of one node.
type one struct{ node dme.Node }

func (o one) Node(dme.NodeID) dme.Node { return o.node }

// world passes entries on to the process, and nothing else happens in it.
type world struct{ *room }

func (world) Send(_, _ dme.NodeID, _ *dme.Message)            {}
func (world) Broadcast(dme.NodeID, *dme.Message) int          { return 1 }
func (w world) Enter(_ dme.NodeID, stamp dme.Stamp)           { w.p.Entered(stamp) }
func (world) SetTimer(dme.NodeID, dme.TimerID, time.Duration) {}
func (world) CancelTimer(dme.NodeID, dme.TimerID)             {}

// newRoom makes node 1 of one node, whose request is granted at once if
// granted, and otherwise never.
func newRoom(t *testing.T, s workload.Spec, set map[string]string, granted bool) *room {
	t.Helper()
	kind, err := workload.Lookup(s.Name)
	if err != nil {
		t.Fatal(err)
	}
	if s.Options, err = dme.ResolveOptions(kind.Options, set); err != nil {
		t.Fatal(err)
	}
	if s.Name == "trace" {
		s.Options = dme.Options{"file": "x"}
	}
	plan, err := workload.New(s, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	r := &room{log: record.NewLog(100)}
	node := &script{request: func(out *dme.Outbox) {
		if granted {
			out.Enter(dme.Stamp{Clock: 9, Node: 1})
		}
	}}
	w := world{r}
	group := noderun.NewGroup(&dme.Algorithm{Name: "test", Kinds: []string{"A"}}, one{node}, 1, w)
	h := group.Runner(1, new(noderun.Counters), new(noderun.Traffic))
	r.p = New(h, r, plan.Client(1), r.log)
	return r
}

// run keeps all appointments, and checks after each that the process does not
// look finished before it is.
func (r *room) run(t *testing.T) []record.Entry {
	t.Helper()
	for len(r.calendar) > 0 {
		slices.SortStableFunc(r.calendar, func(a, b appointment) int { return cmp.Compare(a.at, b.at) })
		a := r.calendar[0]
		r.calendar = r.calendar[1:]
		r.now = max(r.now, a.at)
		if a.arrive {
			r.now += r.latency
			r.p.Arrive(a.at)
		} else {
			r.p.Exit()
		}
		c := r.p.Counters()
		arrivals := slices.ContainsFunc(r.calendar, func(a appointment) bool { return a.arrive })
		if (arrivals || len(r.p.waiting) > 0) && c.Pending.Load() == 0 {
			t.Fatalf("at %d requests are to come, but none are pending", r.now)
		}
	}
	if n := r.p.Counters().Pending.Load(); n != 0 {
		t.Errorf("%d requests pending at the end", n)
	}
	return slices.Concat(r.log.Chunks()...)
}

// times lists an entry's times.
func times(entries []record.Entry) (x [][5]int64) {
	for _, e := range entries {
		x = append(x, [5]int64{e.Intended, e.Arrived, e.Requested, e.Entered, e.Exited})
	}
	return x
}

func wantTimes(t *testing.T, got []record.Entry, want ...[5]int64) {
	t.Helper()
	if !slices.Equal(times(got), want) {
		t.Errorf("entries %v, want %v", times(got), want)
	}
}

var ten = workload.Distribution{Mean: 10}

func TestClosedLoop(t *testing.T) {
	r := newRoom(t, workload.Spec{Name: "saturate", Requests: 3, CS: ten}, nil, true)
	r.p.Begin(100)
	got := r.run(t)
	wantTimes(t, got, [5]int64{100, 100, 100, 100, 110}, [5]int64{110, 110, 110, 110, 120}, [5]int64{120, 120, 120, 120, 130})
	if e := got[0]; e.Node != 1 || e.Clock != 9 || e.Order != 42 || e.Shared {
		t.Errorf("entry %+v", e)
	}
	if c := r.p.Counters(); c.Requests.Load() != 3 || c.Entries.Load() != 3 {
		t.Errorf("%d requests, %d entries", c.Requests.Load(), c.Entries.Load())
	}
	if len(r.did) != 6 || r.did[0] != "enter at 100" || r.did[1] != "leave at 110" {
		t.Errorf("the witness saw %q", r.did)
	}
}

func TestClosedLoopEndsWithTheDuration(t *testing.T) {
	for _, think := range []string{"0", "1ns"} {
		r := newRoom(t, workload.Spec{Name: "saturate", Duration: 30, CS: ten}, map[string]string{"think": think}, true)
		r.p.Begin(100)
		// The last one asks before 130 and leaves after it.
		if got := r.run(t); len(got) != 3 || got[2].Requested >= 130 || got[2].Exited < 130 {
			t.Errorf("think=%s: %v", think, times(got))
		}
		if r.p.Unserved() != 0 {
			t.Errorf("%d unserved", r.p.Unserved())
		}
	}
}

func openSpec(text string, duration time.Duration) workload.Spec {
	return workload.Spec{
		Name: "trace", Duration: duration, CS: ten,
		ReadFile: func(string) ([]byte, error) { return []byte(text), nil },
	}
}

func TestOpenLoopWaitsInLine(t *testing.T) {
	// Three come while the first is inside; the generator is 2 ns late.
	r := newRoom(t, openSpec("0,1\n0.000000003,1\n0.000000003,1\n0.00000009,1\n", 0), nil, true)
	r.latency = 2
	r.p.Begin(100)
	wantTimes(t, r.run(t),
		[5]int64{100, 102, 102, 102, 112},
		[5]int64{103, 105, 112, 112, 122},
		[5]int64{103, 107, 122, 122, 132},
		[5]int64{190, 192, 192, 192, 202})
}

func TestWhatWaitsAtTheEndIsGivenUp(t *testing.T) {
	r := newRoom(t, openSpec("0,1\n0.000000001,1\n0.000000002,1\n0.000000003,1\n0.000000016,1\n", 15), nil, true)
	r.p.Begin(100)
	// 100–110 and 110–120; at 120 the duration is over, and two still wait. The
	// fifth would have come after it.
	wantTimes(t, r.run(t), [5]int64{100, 100, 100, 100, 110}, [5]int64{101, 101, 110, 110, 120})
	if r.p.Unserved() != 2 || len(r.p.waiting) != 0 {
		t.Errorf("%d unserved, %d waiting; want 2 and 0", r.p.Unserved(), len(r.p.waiting)/2)
	}
}

func TestSteps(t *testing.T) {
	r := newRoom(t, workload.Spec{Name: "serial", Requests: 2, CS: ten}, nil, true)
	r.p.Begin(100)
	if len(r.calendar) != 0 || r.p.Counters().Pending.Load() != 0 {
		t.Fatal("a stepped process asks by itself")
	}
	r.p.Expect(150)
	if r.p.Counters().Pending.Load() != 1 {
		t.Fatal("what is expected is not pending")
	}
	wantTimes(t, r.run(t), [5]int64{150, 150, 150, 150, 160})
	r.p.Expect(170)
	wantTimes(t, r.run(t), [5]int64{150, 150, 150, 150, 160}, [5]int64{170, 170, 170, 170, 180})
}

func TestUngranted(t *testing.T) {
	r := newRoom(t, openSpec("0,1\n0.000000001,1\n", 0), nil, false)
	r.p.Begin(0)
	for range 2 {
		a := r.calendar[0]
		r.calendar = r.calendar[1:]
		r.now = a.at
		r.p.Arrive(a.at)
	}
	if len(r.did) != 0 || r.p.Activity() != noderun.Requesting || len(r.p.waiting) != 2 || r.log.Len() != 0 {
		t.Errorf("did %q, %v, %d waiting, %d logged", r.did, r.p.Activity(), len(r.p.waiting)/2, r.log.Len())
	}
	if c := r.p.Counters(); c.Requests.Load() != 1 || c.Pending.Load() != 1 {
		t.Errorf("%d requests, %d pending: the one in line has not been made", c.Requests.Load(), c.Pending.Load())
	}
}

func TestNeverIdleBetweenReleaseAndTheNextRequest(t *testing.T) {
	// Quiescence is: idle, and nothing pending. The node's Release must find
	// that more is to come: of a closed loop, and of what waits in line.
	for name, r := range map[string]*room{
		"closed": newRoom(t, workload.Spec{Name: "saturate", Requests: 3, CS: ten}, nil, true),
		"open":   newRoom(t, openSpec("0,1\n0,1\n0,1\n", 0), nil, true),
	} {
		releases := 0
		r.p.Node().(*script).release = func(*dme.Outbox) {
			releases++
			if pending := r.p.Counters().Pending.Load(); (pending > 0) != (releases < 3) {
				t.Errorf("%s: release %d of 3: %d pending", name, releases, pending)
			}
		}
		r.p.Begin(0)
		r.run(t)
		if releases != 3 {
			t.Errorf("%s: %d releases", name, releases)
		}
	}
}

// A reader's request reaches the node as one, and its entry is recorded so.
func TestReadersAskAsReaders(t *testing.T) {
	for _, readers := range []string{"0", "1"} {
		r := newRoom(t, workload.Spec{Name: "saturate", Requests: 3, CS: ten}, map[string]string{"readers": readers}, true)
		node := r.p.Node().(*script)
		asked, shared := 0, 0
		node.request = func(out *dme.Outbox) { asked++; out.Enter(dme.Stamp{}) }
		node.shared = func(out *dme.Outbox) { shared++; out.Enter(dme.Stamp{}) }
		r.p.Begin(100)
		entries := r.run(t)
		want := 0
		if readers == "1" {
			want = 3
		}
		if shared != want || asked != 3-want || len(entries) != 3 {
			t.Errorf("readers=%s: %d readers and %d writers asked, %d entered", readers, shared, asked, len(entries))
		}
		for _, e := range entries {
			if e.Shared != (want == 3) {
				t.Errorf("readers=%s: entry %+v", readers, e)
			}
		}
	}
}

// crash ends the room's process as a fault does, and has its runtime forget what it
// was to call. It returns the arrival that was to come, -1 where none was.
func (r *room) crash() (due int64) {
	due = -1
	for _, a := range r.calendar {
		if a.arrive {
			due = a.at
		}
	}
	r.calendar = nil
	r.p.Crash()
	return due
}

// until keeps the appointments before a time.
func (r *room) until(at int64) {
	for len(r.calendar) > 0 && r.calendar[0].at < at {
		a := r.calendar[0]
		r.calendar = r.calendar[1:]
		if r.now = a.at; a.arrive {
			r.p.Arrive(a.at)
		} else {
			r.p.Exit()
		}
	}
	r.now = at
}

// back brings the process back; its node asks as soon as the process does.
func (r *room) back(due int64) {
	r.p.Restore(noderun.Idle, false)
	r.p.Resume(due)
}

// A process that was thinking asks when it comes back; the pause has been paid for.
// What it had asked for is lost, and the rest of its share is not.
func TestResumesAClosedLoop(t *testing.T) {
	set := map[string]string{"think": "5ns"}
	r := newRoom(t, workload.Spec{Name: "saturate", Requests: 4, CS: ten}, set, true)
	r.p.Begin(100)
	r.until(117) // in from 105 until 115, thinks until 120
	due := r.crash()
	if due != 120 || len(r.p.Unfinished()) != 0 || r.p.Counters().Pending.Load() != 0 {
		t.Errorf("due at %d, unfinished %v, %d pending", due, r.p.Unfinished(), r.p.Counters().Pending.Load())
	}
	r.now = 300
	r.back(due)
	r.until(304) // inside since 300
	inside := record.Abandoned{Node: 1, Made: true, Requested: 300, Entered: 300, Ended: record.Never}
	if left := r.p.Unfinished(); len(left) != 1 || left[0] != inside {
		t.Errorf("unfinished %+v", left)
	}
	due = r.crash()
	r.now = 400
	r.back(due)
	// The second of four was lost at 304; the third asks after its pause.
	wantTimes(t, r.run(t), [5]int64{105, 105, 105, 105, 115}, [5]int64{405, 405, 405, 405, 415}, [5]int64{420, 420, 420, 420, 430})
}

// What an open schedule wanted while the node was down nobody asks for; what it
// wants afterwards comes when it is due.
func TestResumesAnOpenLoop(t *testing.T) {
	for _, x := range []struct {
		back int64
		want [][5]int64
	}{
		{150, [][5]int64{{103, 103, 103, 103, 113}, {160, 160, 160, 160, 170}, {190, 190, 190, 190, 200}}},
		{165, [][5]int64{{103, 103, 103, 103, 113}, {190, 190, 190, 190, 200}}},
		{195, [][5]int64{{103, 103, 103, 103, 113}}},
	} {
		r := newRoom(t, openSpec("0.000000003,1\n0.00000006,1\n0.00000009,1\n", 0), nil, true)
		r.p.Begin(100)
		r.until(120)
		due := r.crash()
		r.now = x.back
		r.back(due)
		wantTimes(t, r.run(t), x.want...)
	}
}

// The line of a node that goes ends with it.
func TestUnfinished(t *testing.T) {
	r := newRoom(t, openSpec("0,1\n0.000000001,1\n0.000000002,1\n", 0), nil, false)
	r.p.Begin(100)
	r.until(150)
	left := r.p.Unfinished()
	if len(left) != 3 || !left[0].Made || left[0].Requested != 100 || left[0].Entered != record.Never ||
		left[1].Made || left[2].Requested != 102 {
		t.Errorf("unfinished %+v", left)
	}
	r.crash()
	if left = r.p.Unfinished(); left != nil || len(r.p.waiting) != 0 || r.p.Counters().Pending.Load() != 0 {
		t.Errorf("%+v, %d in line", left, len(r.p.waiting)/2)
	}
}
