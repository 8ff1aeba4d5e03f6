package tokenring

import (
	"slices"

	"dmebench/dme"
)

// The exercise asks for the response time under low and heavy load and leaves
// the answer to the reader; these are the answers.
func claims() []dme.Claim {
	const source = "textbook, Exercise 9.1"
	perpetual := map[string]string{optMode: "perpetual"}
	demand := map[string]string{optMode: "demand"}
	return slices.Concat(dme.SafeAndLive(source), []dme.Claim{
		{
			// The token is anywhere on its way round, N·T long.
			Quantity: dme.ResponseTime, Formula: "NT/2 + E (mode=perpetual)",
			Load: dme.Light, Kind: dme.Mean, Source: source + ".1",
			Set:     perpetual, // said, since workloads that go in steps choose the other
			Applies: inMode("perpetual"),
		},
		{
			// Every site executes once a round.
			Quantity: dme.ResponseTime, Formula: "N(T + E) (mode=perpetual)",
			Load: dme.Saturated, Kind: dme.Mean, Source: source + ".2", Applies: inMode("perpetual"),
		},
		{
			Quantity: dme.SyncDelay, Formula: "T (mode=perpetual)",
			Load: dme.Saturated, Kind: dme.Mean, Source: source + ", with section 9.2.3", Applies: inMode("perpetual"),
		},
		{
			Quantity: dme.Throughput, Formula: "1/(T + E) (mode=perpetual)",
			Load: dme.Saturated, Kind: dme.Mean, Source: source + ", with section 9.2.3", Applies: inMode("perpetual"),
		},
		{
			// The last requester has the token; the next one, drawn uniformly,
			// is 0 … N−1 hops behind it, each a REQUEST and a TOKEN.
			Quantity: dme.MessagesPerCS, Formula: "N − 1 (mode=demand, uniformly drawn requesters)",
			Load: dme.Light, Kind: dme.Mean, Source: source + ", with a token that rests",
			Set: demand, Applies: inMode("demand"),
		},
		{
			Quantity: dme.MessagesPerCS, Formula: "2(N−1) (mode=demand)",
			Load: dme.AnyLoad, Kind: dme.UpperBound, Source: source + ", with a token that rests",
			Set: demand, Applies: inMode("demand"),
		},
		{
			Quantity: dme.ResponseTime, Formula: "(N−1)T + E (mode=demand, uniformly drawn requesters)",
			Load: dme.Light, Kind: dme.Mean, Source: source + ", with a token that rests",
			Set: demand, Applies: inMode("demand"),
		},
		{
			Quantity: dme.LongestRun, Formula: "1 (mode=perpetual): the next site has its turn",
			Load: dme.Saturated, Kind: dme.Exact, Source: source, Applies: inMode("perpetual"),
		},
		{
			Quantity: dme.MessagesPerCS, Formula: "1 (mode=perpetual): a hop for each entry",
			Load: dme.Saturated, Kind: dme.Mean, Source: source + ".2", Applies: inMode("perpetual"),
		},
	})
}

// inMode is about systems in one mode, of at least two sites.
func inMode(mode string) func(dme.Setting) bool {
	return func(s dme.Setting) bool { return s.Nodes >= 2 && s.Options.Get(optMode) == mode }
}
