// Package check searches the schedules of an algorithm for one that breaks a property: mutual
// exclusion, progress, entry on request only, and, if they are asked for, bounds on overtaking.
//
// A schedule is a sequence of steps, each of which is one event at one node. The nodes are those
// that run over networks; here a [Search] decides what happens next:
//
//   - [Search.Random] draws schedules, each a function of its seed, with choices that are uniform
//     or an adversary's. It finds most faults on systems of any size and proves nothing. With
//     [Options.Watch] it holds overtaking against what the paper promises, and tries to starve a
//     node in one schedule of sixteen: see [Starvation].
//   - [Search.Exhaustive] visits every state that any schedule of a number of requests leads to,
//     breadth first, so that a counterexample is as short as can be. If completed, it is a
//     proof for that many nodes and requests and these links, up to the collision of hashes of 128
//     bits: among n states, with a probability of n²/2¹²⁹ (10⁻²¹ for a thousand million).
//   - [Search.Liveness] lets every node ask any number of times, and visits every state, up to the
//     values of clocks. It looks for a fair schedule in which a node waits for ever. If
//     completed, it is a proof for that many nodes and these links; no hash stands for a state.
//
// A broken property comes with a [Trace] that can be read, replayed and drawn. The rules of links
// and timers are those of [dmebench/dme/vnet]; [Defaults] are the worst links that an algorithm
// supports.
//
// The exhaustive search finds standstills, but not messages that flow for ever without an entry;
// that is the search for liveness's part, and the random one finds them when its patience ends. In
// a search for liveness nodes do not fail, and links neither lose nor repeat messages. In none do
// nodes join or leave. Delays have no length: claims about time are judged elsewhere.
package check
