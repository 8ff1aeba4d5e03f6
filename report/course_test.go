package report

import (
	"math"
	"testing"

	"dmebench/report/cells"
	"dmebench/runs"
)

const ms = 1_000_000

// outage makes a run of 400 ms in intervals of 10 ms that makes five entries in
// each, but none for 100 ms from its fault on.
func outage(at int64) *runs.Result {
	s := &runs.Series{IntervalNS: 10 * ms}
	for i := range int64(40) {
		from := i * 10 * ms
		out := max(0, min(from+10*ms, at+100*ms)-max(from, at)) // of the interval, how much
		s.Entries = append(s.Entries, uint64(math.Round(5*(1-float64(out)/(10*ms)))))
	}
	recovered, served := int64(100*ms), int64(110*ms)
	return &runs.Result{Status: runs.OK, Series: s, Faults: []runs.Fault{
		{Fault: "restart 3 @+50ms", AtNS: at + 50*ms, RecoveredNS: &recovered},
		{Fault: "kill 3 @1s", AtNS: at, RecoveredNS: &recovered, ServedNS: &served},
	}}
}

// Runs whose faults struck at different times are laid upon one another by these.
func TestCourseIsCountedFromTheFirstFault(t *testing.T) {
	c := &cell{Cell: &cells.Cell{}}
	for _, at := range []int64{100, 130, 160, 200, 210, 240} {
		c.Good = append(c.Good, outage(at*ms))
	}
	co := c.course()
	if co == nil {
		t.Fatal("no course")
	}
	// All cover from 100 ms before, where the first began, to 160 ms after, where the
	// last ended.
	if first, last := co.middle[0], co.middle[len(co.middle)-1]; first != -95*ms || last != 155*ms {
		t.Errorf("from %v to %v", first, last)
	}
	for i, at := range co.middle {
		want := 500.0
		if at > 0 && at < 100*ms {
			want = 0
		}
		if e := co.rate[i]; e.Median != want || e.Lo != want || e.Hi != want || e.N != 6 {
			t.Errorf("%v ms: %+v, want %v", at/ms, e, want)
		}
	}
}

// Runs without a course are left out, and of few repetitions the range is shown.
func TestCourseOfFewRuns(t *testing.T) {
	bare := []*runs.Result{{Faults: []runs.Fault{{}}}, {Series: &runs.Series{IntervalNS: 1}}}
	if co := (&cell{Cell: &cells.Cell{Good: bare}}).course(); co != nil {
		t.Errorf("a course without entries or faults: %+v", co)
	}
	c := &cell{Cell: &cells.Cell{Good: []*runs.Result{outage(200 * ms), outage(200 * ms), outage(200 * ms)}}}
	co := c.course()
	if co.bounded() || co.spread() != "range of 3 repetitions, too few for an interval" {
		t.Errorf("the band is the %s", co.spread())
	}
}

// Of equal faults of a schedule the first of one run is the first of another, and
// a run that did not end well counts only for whether it recovered.
func TestStrokes(t *testing.T) {
	time := func(x int64) *int64 { return &x }
	run := func(at ...int64) *runs.Result {
		r := &runs.Result{}
		for _, x := range at {
			r.Faults = append(r.Faults, runs.Fault{Fault: "kill holder @1s", AtNS: x * ms, RecoveredNS: time(x * ms), Waiting: 1})
		}
		return r
	}
	c := &cell{Cell: &cells.Cell{Good: []*runs.Result{run(100, 300), run(100, 500)}, Bad: []*runs.Result{run(100)}}}
	c.Bad[0].Faults[0].RecoveredNS = nil
	c.Good[1].Faults[1].RecoveredNS, c.Good[1].Faults[1].Waiting = nil, 0 // nobody wanted to enter any more
	strokes := c.strokes()
	if len(strokes) != 2 {
		t.Fatalf("%+v", strokes)
	}
	for i, want := range []struct{ recovered, class, next string }{{"2 of 3", "bad", "100 ms"}, {"2 of 2", "", "300 ms"}} {
		values := strokes[i].values()
		if values[1].Text != want.recovered || values[1].Class != want.class || values[2].Text != want.next {
			t.Errorf("%+v, want %+v", values, want)
		}
	}
}
