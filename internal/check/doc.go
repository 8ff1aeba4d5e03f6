// Package check searches the schedules of an algorithm for one that breaks a
// property: mutual exclusion, progress, entry on request only, and, where they
// are asked for, bounds on overtaking.
//
// A schedule is a sequence of steps, each of which is one event at one node:
// the local process asks or leaves, a message arrives, a timer fires. The nodes
// are those that run over networks; here the search decides what happens next.
// A [Search] tries schedules in one of two ways:
//
//   - [Search.Random] draws schedules, each a function of its seed: bursts,
//     churn and saturation, with choices that are uniform over the steps that
//     are possible, or an adversary's, who holds back what he chooses. It finds
//     most faults on systems of any size and proves nothing.
//   - [Search.Exhaustive] visits every state that any schedule of a number of
//     requests leads to, breadth first, so that a counterexample is as short as
//     can be. What it has completed is a proof for that many nodes and requests
//     and these links, up to the collision of hashes of 128 bits: among n
//     states, with a probability of n²/2¹²⁹ (10⁻²¹ for a thousand million).
//
// Both end with a [Report]; a broken property comes with a [Trace], shortened,
// that can be read, replayed and drawn.
//
// # Links
//
// They deliver every message once and in order, unless the options let them
// reorder, duplicate or lose messages. A search takes the links as it is told,
// whatever the algorithm needs. On ordered links the second copy of a message
// arrives before the messages behind it.
//
// Links broadcast by sending to each, except for an algorithm that needs
// broadcasts to be sequenced, on links that keep order and are reliable: then
// every node hears all broadcasts in one order, its own among them, each at its
// own pace. The first node to hear a broadcast decides on its place, so that a
// broadcast may come before one that was sent earlier by another node.
//
// # Timers
//
// A timer may fire at any time after it was set, except where the algorithm
// needs bounded delay. There it fires only after the messages that by then must
// have arrived. If B is the bound (the algorithm's option "bound"; where it has
// none, every timer is taken to be set to B), a message that is on the way when
// the timer is set arrives within B, one that is sent in answer to it within
// 2B, and so on: a timer set to kB waits for the first k of each such chain. Of
// two timers, the one that was set first and to no more fires first. Real time
// allows no order of events that these rules forbid; where several chains and
// timers meet it may forbid more.
//
// # What is not checked
//
// The exhaustive search finds schedules that come to a standstill, but not
// those in which messages flow for ever without an entry; the random one does,
// when its patience ends. Nodes do not crash, join or leave. Delays have no
// length: claims about time are judged elsewhere.
package check
