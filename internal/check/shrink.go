package check

// maxReplays bounds the effort to shorten one schedule.
const maxReplays = 4000

// shrink returns a schedule that breaks the same property, and from which no
// single step can be left out: ever smaller parts are dropped (Zeller,
// Hildebrandt, Simplifying and Isolating Failure-Inducing Input, IEEE TSE 28(2),
// 2002). At first what remains is run on to its end where nothing is broken at
// once, so that a system that stalls does so with all its messages delivered;
// then it has to do with its own steps.
func shrink(m *model, steps []Step, v *Violation) *Trace {
	s := &shrinker{model: m, property: v.Property}
	// Where that fails there is only the schedule as it was: the plain end
	// takes another turn than chance did.
	best, _ := replay(m, steps, false)
	if t, taken := s.fails(steps, true); t != nil {
		best = s.reduce(t, shorter(taken, steps), true)
	}
	kept := make([]Step, len(best.Events))
	for i, e := range best.Events {
		kept[i] = e.Step
	}
	if t, _ := s.fails(kept, false); t != nil {
		best = s.reduce(best, kept, false)
	}
	return best
}

// shrinker drops steps from schedules that break a property.
type shrinker struct {
	*model
	property Property
	replays  int
}

// fails replays a schedule. If it breaks the property it returns what happened
// and the steps that were taken, else nil.
func (s *shrinker) fails(steps []Step, finish bool) (*Trace, []Step) {
	s.replays++
	t, taken := replay(s.model, steps, finish)
	if t.Violation.Property != s.property {
		return nil, nil
	}
	return t, taken
}

// reduce drops what can be dropped from a schedule, whose trace is best.
func (s *shrinker) reduce(best *Trace, kept []Step, finish bool) *Trace {
	for size := (len(kept) + 1) / 2; size > 0; {
		dropped := false
		for at := 0; at < len(kept); {
			if s.replays >= maxReplays {
				return best
			}
			to := min(at+size, len(kept))
			less := append(append([]Step(nil), kept[:at]...), kept[to:]...)
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
func shorter(a, b []Step) []Step {
	if len(a) <= len(b) {
		return a
	}
	return b
}
