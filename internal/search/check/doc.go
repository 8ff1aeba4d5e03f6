// Package check searches the schedules of an algorithm for one that breaks a
// property: mutual exclusion, progress, entry on request only, and, where they
// are asked for, bounds on overtaking.
//
// A schedule is a sequence of steps, each of which is one event at one node:
// the local process asks or leaves, a message arrives, a timer fires. The nodes
// are those that run over networks; here the search decides what happens next.
// A [Search] tries schedules in one of three ways:
//
//   - [Search.Random] draws schedules, each a function of its seed: bursts,
//     churn and saturation, with choices that are uniform over the steps that
//     are possible, or an adversary's, which holds back what it chooses. Who asks
//     and how often can vary, and some schedules can try to starve a node. It
//     finds most faults on systems of any size and proves nothing.
//   - [Search.Exhaustive] visits every state that any schedule of a number of
//     requests leads to, breadth first, so that a counterexample is as short as
//     can be. What it has completed is a proof for that many nodes and requests
//     and these links, up to the collision of hashes of 128 bits: among n
//     states, with a probability of n²/2¹²⁹ (10⁻²¹ for a thousand million).
//     [Options.Reduce] has it leave out orders of steps that make no difference,
//     which leaves the proof what it is; with [Options.Bitstate] it keeps a few
//     bits of each state, and proves nothing.
//   - [Search.Liveness] lets every node ask any number of times, and visits every
//     state, up to the values of clocks. It looks for a schedule in which somebody
//     waits for ever although the schedule is fair. What it has completed is a
//     proof for that many nodes and these links; no hash stands for a state.
//
// The first two end with a [Report], the third with a [LivenessResult]; a broken
// property comes with a [Trace] that can be read, replayed and drawn.
//
// The rules of links and timers are those of [dmebench/dme/vnet]. A search takes
// the links that are given, whatever the algorithm needs; only its broadcasts are
// sequenced where it needs that, on links that keep order and are reliable.
// [Defaults] are the worst links that an algorithm supports.
//
// # Overtaking and starvation
//
// A random search with [Options.Watch] holds every schedule against the bound on
// overtaking that the algorithm's paper promises, if any. In one schedule of sixteen it
// tries to starve a node: what concerns the node waits as long as anything else can
// happen, but nothing for longer than a number of steps. Where more entries of others
// pass a node than 2·N times the longest delay in the schedule, in steps, it is
// [Starvation]: a violation where the algorithm claims to be free of it, else counted
// in the report.
//
// # What is not checked
//
// The exhaustive search finds schedules that come to a standstill, but not
// those in which messages flow for ever without an entry; that is the search for
// liveness's part, and the random one finds them when its patience ends. In a
// search for liveness nodes do not fail, and links neither lose nor repeat
// messages. Nodes do not join or leave. Delays have no length: claims about time
// are judged elsewhere.
package check
