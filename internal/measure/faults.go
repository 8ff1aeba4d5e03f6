package measure

import (
	"math"
	"slices"

	"dmebench/dme"
	"dmebench/internal/entrylog"
	"dmebench/result"
	"dmebench/workload/fault"
)

// Strike is a fault as it was carried out. Times are on the entries' clock.
type Strike struct {
	Fault fault.Fault
	Nodes []dme.NodeID // whom it hit; of a partition, its first side
	At    int64
	Ended int64 // when it was over; 0 while it stays, and of what is done at once
}

// faults says what came of the faults of a run.
func (t *timeline) faults(o *Observation) []result.Fault {
	var all []result.Fault
	for i := range o.Strikes {
		all = append(all, t.fault(&o.Strikes[i], o))
	}
	return all
}

func (t *timeline) fault(s *Strike, o *Observation) result.Fault {
	f := result.Fault{Fault: s.Fault.String(), AtNS: s.At - o.Start, What: string(s.Fault.What)}
	for _, id := range s.Nodes {
		f.Nodes = append(f.Nodes, int(id))
	}
	if s.Ended > 0 {
		f.EndedNS = since(s.At, s.Ended)
	}
	// Of a partition no node is hit: those on both sides wait.
	hit := func(id dme.NodeID) bool { return s.Fault.What != fault.Partition && slices.Contains(s.Nodes, id) }
	served := int64(-1)                // when the last of those that waited entered
	recovered := int64(entrylog.Never) // when the first of those that live did
	entered := func(requested, at int64) {
		if at > s.At {
			recovered = min(recovered, at)
			if requested <= s.At {
				f.Waiting++
				served = max(served, at)
			}
		}
	}
	for i := range t.e {
		if e := &t.e[i]; !hit(e.Node) {
			entered(e.Requested, e.Entered)
		}
	}
	for _, a := range o.Abandoned {
		switch {
		case hit(a.Node):
			if a.Ended == s.At {
				f.Lost++
			}
		case a.Entered < entrylog.Never:
			entered(a.Requested, a.Entered)
		case a.Made && a.Requested <= s.At && a.Ended > s.At:
			f.Waiting++
			if a.Ended == entrylog.Never {
				served = entrylog.Never
			}
		}
	}
	if recovered < entrylog.Never {
		f.RecoveredNS = since(s.At, recovered)
		sent := t.sentAt(recovered, o.Start, o.Nodes) - t.sentAt(s.At, o.Start, o.Nodes)
		messages := uint64(math.Round(max(0, sent)))
		f.Messages = &messages
	}
	if served >= 0 && served < entrylog.Never {
		f.ServedNS = since(s.At, served)
	}
	return f
}

func since(from, until int64) *int64 {
	d := until - from
	return &d
}

// lost returns how many requests that were made ended with their nodes.
func lost(o *Observation) (n uint64) {
	for _, a := range o.Abandoned {
		if a.Made && a.Ended < entrylog.Never {
			n++
		}
	}
	return n
}

// diedInside returns when those entered who went while they were inside.
func diedInside(o *Observation) (entered []int64) {
	for _, a := range o.Abandoned {
		if a.Entered < entrylog.Never && a.Ended < entrylog.Never {
			entered = append(entered, a.Entered)
		}
	}
	return entered
}
