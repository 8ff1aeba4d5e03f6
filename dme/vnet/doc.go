// Package vnet is a network of nodes in memory that does nothing by itself: it says which steps are
// possible, and takes one. Each is one event at one node: the local process asks or leaves, a
// message arrives, a timer fires. These are the only rules of such a network; searches, scenarios
// and tests decide which step comes next.
//
// A [Network] holds nodes that run. A [Space] holds states as vectors of numbers, for searches that
// keep millions; a [Walker] takes steps between them by the same rules. A [Schedule] draws the
// steps of a run at random.
//
// # Links
//
// They deliver every message once and in order, unless the configuration lets them reorder,
// duplicate or lose messages. On ordered links the second copy of a message arrives before the
// messages behind it.
//
// Links broadcast by sending to each, unless broadcasts are sequenced: then every node hears all
// broadcasts in one order, its own among them, each at its own pace. The first node to hear a
// broadcast decides on its place, so that a broadcast may come before one that was sent earlier by
// another node.
//
// # Timers
//
// A timer may fire at any time after it was set, except if delays are bounded. There it fires only
// after the messages that by then must have arrived. If B is the bound (the algorithm's option
// "bound"; if it has none, every timer is taken to be set to B), a message that is on the way when
// the timer is set arrives within B, one that is sent in answer to it within 2B, and so on: a timer
// set to kB waits for the first k of each such chain. Of two timers, the one that was set first and
// to no more fires first. Real time allows no order of events that these rules forbid; if several
// chains and timers meet it may forbid more.
package vnet
