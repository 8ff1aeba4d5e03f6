package check

import (
	"encoding/binary"
	"slices"

	"dmebench/dme"
)

// cycle notices when a system that runs on by a fixed rule, and achieves
// nothing, is in a state in which it was before: it will go round for ever.
type cycle struct {
	seen map[string]int // state: the step after which it was reached
}

// closed returns the length of the cycle that has just closed, 0 if none has.
func (c *cycle) closed(s *system) int {
	// A system that gets on is not worth the effort.
	if s.quietFor < 4*s.Nodes*s.Nodes+16 {
		c.seen = nil
		return 0
	}
	if c.seen == nil {
		c.seen = make(map[string]int)
	}
	key := s.everything()
	if at, ok := c.seen[key]; ok {
		return s.steps - at
	}
	c.seen[key] = s.steps
	return 0
}

// everything returns all on which the system's further way depends.
func (s *system) everything() string {
	var b []byte
	put := func(x int) { b = binary.AppendUvarint(b, uint64(x)) }
	for i := range s.ids() {
		put(int(s.hosts[i].Activity()))
		put(s.budget[i])
		b = dme.SaveState(b, s.hosts[i].Node())
	}
	type sent struct {
		*letter
		link int
	}
	var all []sent
	for _, at := range s.busy {
		for i := range s.links[at].queue {
			all = append(all, sent{&s.links[at].queue[i], at})
		}
	}
	slices.SortFunc(all, func(x, y sent) int { return int(x.number) - int(y.number) })
	for _, l := range all {
		put(l.link)
		put(l.place)
		b = dme.AppendMessage(b, &l.msg)
		for _, m := range l.marks {
			put(int(m.node))
			put(int(m.id))
			put(m.hops)
		}
	}
	for _, a := range s.alarms {
		put(int(a.node))
		put(int(a.id))
		put(int(a.delay))
	}
	if len(s.alarms) > 0 {
		put(s.steps % timersTurn)
	}
	return string(b)
}
