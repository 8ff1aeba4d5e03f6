// Package ping measures what the networks themselves can do in the topology of
// a run: processes of one host that pass small messages to each other. Each
// measurement has two sides: the least that could do the same (plain sockets of
// the net package, or the NATS client library alone) and the transport that
// runs use. What counts is the ratio of the two.
//
// # The tests
//
// Round trip: the first process sends the second a message, which sends it
// back; one at a time. Processes of a host share a clock, so the delay of one
// way is known too.
//
// Ring: tokens go around all processes; a hop is one message from a process to
// the next.
//
// Stream: the first process sends the second as many messages as that takes.
// Both sides keep the same bound on what is under way. Over TCP, the bare side
// is a coalescing writer: two buffers, of which one fills while the other is
// written. That is the limit of what one connection carries.
//
// # Ratios, and what they are worth
//
// On a shared machine, figures jump several-fold with the placement of
// processes, which differs between two sets of processes for as long as they
// live. So the two sides take turns in short stretches, each first in every
// other pair, with new processes every few pairs; a ratio is one of neighbours,
// and the median of the ratios is reported with its confidence interval. Every
// ratio is one of speeds: above 1 the transport is faster than the bare side.
//
// Processes are this program itself under a hidden sub-command, as workers are.
// They end when their standard input does, so none outlives whoever started it.
package ping
