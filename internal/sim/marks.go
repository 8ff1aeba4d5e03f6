package sim

import (
	"dmebench/internal/measure"
	"dmebench/workload"
)

// mostMarks bounds the memory for marks. Where there would be more, every other is
// forgotten.
const mostMarks = 128

// marks counts, at exits from the given warm-up on, what was sent until then. Where
// nodes ask again at their exits it does so once a round: only over whole rounds does
// what a system repeats have the same mean wherever one begins.
type marks struct {
	exits, first, every uint64
	taken               []measure.Mark
}

// newMarks returns nil where no warm-up is given: then it is found out later, and
// nobody knows in time where to count.
func newMarks(s *simulation) *marks {
	if s.job.Warmup <= 0 {
		return nil
	}
	m := &marks{first: uint64(s.job.Warmup), every: 1}
	if s.job.Plan.Drive() == workload.Closed {
		m.every = uint64(s.job.Spec.Nodes)
	}
	return m
}

// exit counts an exit.
func (m *marks) exit(s *simulation) {
	if m == nil {
		return
	}
	if m.exits++; m.exits < m.first || (m.exits-m.first)%m.every != 0 {
		return
	}
	if len(m.taken) == mostMarks {
		for i := range mostMarks / 2 {
			m.taken[i] = m.taken[2*i]
		}
		m.taken, m.every = m.taken[:mostMarks/2], 2*m.every
		if (m.exits-m.first)%m.every != 0 {
			return
		}
	}
	mark := measure.Mark{At: s.now, Exits: m.exits}
	for i := range s.counters {
		c := &s.counters[i]
		for kind := range mark.Sent {
			mark.Sent[kind] += c.Sent[kind].Load()
		}
		mark.Transmissions += c.Transmissions.Load()
	}
	m.taken = append(m.taken, mark)
}
