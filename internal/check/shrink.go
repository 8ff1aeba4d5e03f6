package check

import "dmebench/dme/vnet"

// maxReplays bounds the effort to shorten one schedule.
const maxReplays = 4000

// shrink returns a schedule that breaks the same property, and from which no
// single step can be left out: ever smaller parts are dropped (Zeller,
// Hildebrandt, Simplifying and Isolating Failure-Inducing Input, IEEE TSE 28(2),
// 2002). At first what remains is run on to its end where nothing is broken at
// once, so that a system that stalls does so with all its messages delivered;
// then it has to do with its own steps.
func (s *Search) shrink(m *vnet.Model, steps []vnet.Step, property vnet.Property) *Trace {
	r := &shrinker{Search: s, model: m, property: property}
	// Where that fails there is only the schedule as it was: the plain end
	// takes another turn than chance did.
	best, _ := s.replay(m, steps, false)
	if t, taken := r.fails(steps, true); t != nil {
		best = r.reduce(t, shorter(taken, steps), true)
	}
	kept := best.Steps()
	if t, _ := r.fails(kept, false); t != nil {
		best = r.reduce(best, kept, false)
	}
	return best
}

// shrinker drops steps from schedules that break a property.
type shrinker struct {
	*Search
	model    *vnet.Model
	property vnet.Property
	replays  int
}

// fails replays a schedule. If it breaks the property it returns what happened
// and the steps that were taken, else nil.
func (s *shrinker) fails(steps []vnet.Step, finish bool) (*Trace, []vnet.Step) {
	s.replays++
	t, taken := s.replay(s.model, steps, finish)
	if t.Violation.Property != s.property {
		return nil, nil
	}
	return t, taken
}

// reduce drops what can be dropped from a schedule, whose trace is best.
func (s *shrinker) reduce(best *Trace, kept []vnet.Step, finish bool) *Trace {
	for size := (len(kept) + 1) / 2; size > 0; {
		dropped := false
		for at := 0; at < len(kept); {
			if s.replays >= maxReplays {
				return best
			}
			to := min(at+size, len(kept))
			less := append(append([]vnet.Step(nil), kept[:at]...), kept[to:]...)
			t, taken := s.fails(less, finish)
			if t == nil || len(t.Events) > len(best.Events) {
				at = to
				continue
			}
			best, kept, dropped = t, shorter(taken, less), true
		}
		switch {
		case size > 1:
			size /= 2
		case !dropped:
			size = 0
		}
	}
	return best
}

// shorter returns the shorter of two schedules that come to the same.
func shorter(a, b []vnet.Step) []vnet.Step {
	if len(a) <= len(b) {
		return a
	}
	return b
}
