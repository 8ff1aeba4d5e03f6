package localprocess

import (
	"testing"

	"dmebench/internal/record/entrylog"
	"dmebench/internal/runtime/noderun"
	"dmebench/workload"
)

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
	inside := entrylog.Abandoned{Node: 1, Made: true, Requested: 300, Entered: 300, Ended: entrylog.Never}
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
	if len(left) != 3 || !left[0].Made || left[0].Requested != 100 || left[0].Entered != entrylog.Never ||
		left[1].Made || left[2].Requested != 102 {
		t.Errorf("unfinished %+v", left)
	}
	r.crash()
	if left = r.p.Unfinished(); left != nil || r.p.Waiting() != 0 || r.p.Counters().Pending.Load() != 0 {
		t.Errorf("%+v, %d in line", left, r.p.Waiting())
	}
}
