package helaryplouzeauraynal

import "dmebench/algorithms"

func claims() []algorithms.Claim {
	const source = "Chaudhuri and Karaata 1998, section 1"
	return []algorithms.Claim{
		{
			Quantity: algorithms.MessagesPerCS, Formula: "2e + n − 1",
			Load: algorithms.AnyLoad, Kind: algorithms.UpperBound, Source: source,
			Predict: onGraph(func(g *graph) float64 { return float64(2*g.links + g.nodes() - 1) }),
		},
		{
			Quantity: algorithms.MessagesPerCS, Formula: "n",
			Load: algorithms.AnyLoad, Kind: algorithms.LowerBound, Source: source,
			Predict:    onGraph(func(g *graph) float64 { return float64(g.nodes()) }),
			KnownFalse: "a process that has the token enters without a message; every other entry takes n at least",
		},
		{
			// The token rests with the last requester: where requesters are
			// drawn uniformly, the next one is the same with probability 1/n.
			Quantity: algorithms.MessagesPerCS, Formula: "n (complete graph): n(n−1)/n for uniformly drawn requesters",
			Load: algorithms.Light, Kind: algorithms.Mean, Source: source,
			Predict: func(s algorithms.Setting) (float64, bool) {
				return float64(s.Nodes - 1), s.Options.Get(optGraph) == "complete"
			},
		},
	}
}

// onGraph is a prediction from the graph.
func onGraph(f func(*graph) float64) func(algorithms.Setting) (float64, bool) {
	return func(s algorithms.Setting) (float64, bool) {
		sys, ok := s.System.(*system)
		if !ok {
			return 0, false
		}
		return f(sys.graph), true
	}
}
