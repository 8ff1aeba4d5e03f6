package lamport

import "dmebench/dme"

// Quantities of the exercises.
var (
	// L1AtOnce and L2AtOnce count the requesting sites at which the condition holds at
	// one moment, BothAtOnce those at which both do.
	L1AtOnce   = dme.Quantity{ID: "l1-at-once", Name: "sites at which L1 holds at once"}
	L2AtOnce   = dme.Quantity{ID: "l2-at-once", Name: "sites at which L2 holds at once"}
	BothAtOnce = dme.Quantity{ID: "both-at-once", Name: "sites at which L1 and L2 hold at once"}

	// NotAtTop counts the sites at the top of whose queues another request is than that
	// of the site that executes. NotAtTopInSilence counts them while no message is on
	// its way.
	NotAtTop          = dme.Quantity{ID: "not-at-top", Name: "queues without the executing site's request at the top"}
	NotAtTopInSilence = dme.Quantity{
		ID: "not-at-top-in-silence", Name: "queues without the executing site's request at the top, with no message on its way",
	}
)

// exercises lists what is to be shown in the textbook's section 9.14.
func exercises() []dme.Claim {
	const needed = "textbook, Exercise 9.2"
	several := func(s dme.Setting) bool { return s.Nodes >= 4 && s.Nodes <= mostFollowed }
	return []dme.Claim{
		{
			Quantity: L1AtOnce, Formula: "2 or more: L1 can hold concurrently at several sites",
			Load: dme.Burst, Kind: dme.LowerBound, Source: needed, Applies: several,
		},
		{
			// Each of them would enter, if it were not for L1.
			Quantity: L2AtOnce, Formula: "2 or more: L1 is needed, since L2 alone lets several sites in",
			Load: dme.Burst, Kind: dme.LowerBound, Source: needed, Applies: several,
		},
		{
			Quantity: BothAtOnce, Formula: "1",
			Load: dme.AnyLoad, Kind: dme.UpperBound, Source: source + ", theorem 9.1", Applies: several,
		},
		{
			Quantity: NotAtTop, Formula: "1 or more: the request need not be at the top of another site's queue",
			Load: dme.Burst, Kind: dme.LowerBound, Source: "textbook, Exercise 9.3", Applies: several,
		},
		{
			Quantity: NotAtTopInSilence, Formula: "0: it is at the top of all where there are no messages in transit",
			Load: dme.Worst, Kind: dme.Exact, Source: "textbook, Exercise 9.3", Applies: several,
		},
	}
}

// mostFollowed is the largest system in which every queue is looked at.
const mostFollowed = 64

func gauges() []dme.Gauge {
	holds := func(l1, l2 bool) func(dme.Setting) dme.Meter {
		return func(s dme.Setting) dme.Meter {
			if s.Nodes > mostFollowed {
				return nil
			}
			at := make([]bool, s.Nodes+1)
			return dme.Largest(func(x dme.Moment) (float64, bool) {
				n := x.Node.(*site)
				at[x.ID] = n.requesting() && (!l1 || n.l1()) && (!l2 || n.l2())
				count := 0.0
				for _, holds := range at {
					if holds {
						count++
					}
				}
				return count, true
			})
		}
	}
	top := func(silent bool) func(dme.Setting) dme.Meter {
		return func(s dme.Setting) dme.Meter {
			if s.Nodes > mostFollowed {
				return nil
			}
			tops := make([]dme.NodeID, s.Nodes+1) // whose request is at the top of a site's queue
			executing := dme.None
			return dme.Largest(func(x dme.Moment) (float64, bool) {
				n := x.Node.(*site)
				tops[x.ID] = dme.None
				if len(n.requestQueue) > 0 {
					tops[x.ID] = n.requestQueue[0].Node
				}
				switch {
				case n.executing:
					executing = x.ID
				case executing == x.ID:
					executing = dme.None
				}
				if executing == dme.None || silent && x.OnTheWay > 0 {
					return 0, false
				}
				count := 0.0
				for _, who := range tops[1:] {
					if who != executing {
						count++
					}
				}
				return count, true
			})
		}
	}
	return []dme.Gauge{
		{Quantity: L1AtOnce, Begin: holds(true, false)}, {Quantity: L2AtOnce, Begin: holds(false, true)},
		{Quantity: BothAtOnce, Begin: holds(true, true)},
		{Quantity: NotAtTop, Begin: top(false)}, {Quantity: NotAtTopInSilence, Begin: top(true)},
	}
}
