package validate

import "strconv"

// adaptive is how many entries there are for each node before the means of an algorithm
// are steady whose nodes learn whom to ask.
const adaptive = 8

// warmup returns how many of the requests of a simulation begin it, so that means are
// taken without them.
func (c *condition) warmup(nodes, requests int, dynamic bool) string {
	const (
		contended = 2  // of each node: the first find nobody waiting
		alone     = 20 // of the first holder, until the others' requests arrive: more than T/E
		share     = 20 // one in so many, where a queue has to fill or a token starts at one node
	)
	cut := requests / share
	switch {
	case dynamic:
		cut = max(cut, adaptive*nodes)
	case !c.Isolated():
		cut = max(cut, contended*nodes+alone)
	}
	return strconv.Itoa(max(1, min(cut, requests/2)))
}
