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
	const perpetual = optMode + "=perpetual"
	const demand = optMode + "=demand"
	return slices.Concat(claim.SafeAndLive(source), claim.List{
		// The token is anywhere on its way round, N·T long. The mode is named, since workloads
		// that go in steps choose the other.
		claim.ResponseTime.Averages("NT/2 + E (mode=perpetual)", claim.Light, source+".1").With(perpetual).
			Where(inMode("perpetual")),
		// Every site executes once a round.
		claim.ResponseTime.Averages("N(T + E) (mode=perpetual)", claim.Saturated, source+".2").
			Where(inMode("perpetual")),
		claim.SyncDelay.Averages("T (mode=perpetual)", claim.Saturated, source+", with section 9.2.3").
			Where(inMode("perpetual")),
		claim.Throughput.Averages("1/(T + E) (mode=perpetual)", claim.Saturated, source+", with section 9.2.3").
			Where(inMode("perpetual")),
		// The last requester has the token; the next one, drawn uniformly,
		// is 0 … N−1 hops behind it, each a REQUEST and a TOKEN.
		claim.MessagesPerCS.Averages("N − 1 (mode=demand, uniformly drawn requesters)",
			claim.Light, source+", with a token that rests").With(demand).Where(inMode("demand")),
		claim.MessagesPerCS.AtMost("2(N−1) (mode=demand)", claim.AnyLoad, source+", with a token that rests").
			With(demand).Where(inMode("demand")),
		claim.ResponseTime.Averages("(N−1)T + E (mode=demand, uniformly drawn requesters)",
			claim.Light, source+", with a token that rests").With(demand).Where(inMode("demand")),
		claim.LongestRun.Is("1 (mode=perpetual): the next site has its turn", claim.Saturated, source).
			Where(inMode("perpetual")),
		claim.MessagesPerCS.Averages("1 (mode=perpetual): a hop for each entry", claim.Saturated, source+".2").
			Where(inMode("perpetual")),
	})
}

// inMode is about systems in one mode, of at least two sites.
func inMode(mode string) func(dme.Setting) bool {
	return func(s dme.Setting) bool { return s.Nodes >= 2 && s.Options.Get(optMode) == mode }
}
