package check

import "context"

// sampled is how many schedules Overtaking runs.
const sampled = 300

// Overtaking returns the most entries of others between a request and its entry in some
// random schedules: what an exhaustive search, which would have to tell apart states
// that differ in this alone, does not count unless it is to bound it. More may be possible.
func (s *Search) Overtaking(ctx context.Context) (most, schedules int) {
	o := *s
	o.Schedules, o.Progress = sampled, nil
	r := o.Random(ctx)
	return r.MaxBypass, int(r.Schedules)
}
