package tokenring

import (
	"slices"

	"dmebench/dme"
	"dmebench/dme/claim"
)

// The exercise asks for the response time under low and heavy load and leaves
// the answer to the reader; these are the answers.
func claims() claim.List {
	const source = "textbook, Exercise 9.1"
	perpetual := map[string]string{optMode: "perpetual"}
	demand := map[string]string{optMode: "demand"}
	return slices.Concat(claim.SafeAndLive(source), claim.List{
		{
			// The token is anywhere on its way round, N·T long.
			Quantity: claim.ResponseTime, Formula: "NT/2 + E (mode=perpetual)",
			Load: claim.Light, Kind: claim.Mean, Source: source + ".1",
			Set:     perpetual, // said, since workloads that go in steps choose the other
			Applies: inMode("perpetual"),
		},
		{
			// Every site executes once a round.
			Quantity: claim.ResponseTime, Formula: "N(T + E) (mode=perpetual)",
			Load: claim.Saturated, Kind: claim.Mean, Source: source + ".2", Applies: inMode("perpetual"),
		},
		{
			Quantity: claim.SyncDelay, Formula: "T (mode=perpetual)",
			Load: claim.Saturated, Kind: claim.Mean, Source: source + ", with section 9.2.3", Applies: inMode("perpetual"),
		},
		{
			Quantity: claim.Throughput, Formula: "1/(T + E) (mode=perpetual)",
			Load: claim.Saturated, Kind: claim.Mean, Source: source + ", with section 9.2.3", Applies: inMode("perpetual"),
		},
		{
			// The last requester has the token; the next one, drawn uniformly,
			// is 0 … N−1 hops behind it, each a REQUEST and a TOKEN.
			Quantity: claim.MessagesPerCS, Formula: "N − 1 (mode=demand, uniformly drawn requesters)",
			Load: claim.Light, Kind: claim.Mean, Source: source + ", with a token that rests",
			Set: demand, Applies: inMode("demand"),
		},
		{
			Quantity: claim.MessagesPerCS, Formula: "2(N−1) (mode=demand)",
			Load: claim.AnyLoad, Kind: claim.UpperBound, Source: source + ", with a token that rests",
			Set: demand, Applies: inMode("demand"),
		},
		{
			Quantity: claim.ResponseTime, Formula: "(N−1)T + E (mode=demand, uniformly drawn requesters)",
			Load: claim.Light, Kind: claim.Mean, Source: source + ", with a token that rests",
			Set: demand, Applies: inMode("demand"),
		},
		{
			Quantity: claim.LongestRun, Formula: "1 (mode=perpetual): the next site has its turn",
			Load: claim.Saturated, Kind: claim.Exact, Source: source, Applies: inMode("perpetual"),
		},
		{
			Quantity: claim.MessagesPerCS, Formula: "1 (mode=perpetual): a hop for each entry",
			Load: claim.Saturated, Kind: claim.Mean, Source: source + ".2", Applies: inMode("perpetual"),
		},
	})
}

// inMode is about systems in one mode, of at least two sites.
func inMode(mode string) func(dme.Setting) bool {
	return func(s dme.Setting) bool { return s.Nodes >= 2 && s.Options.Get(optMode) == mode }
}
