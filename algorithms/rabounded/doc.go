// Package rabounded is the algorithm of Ricart and Agrawala with numbers of a
// fixed size: section 6.4 of TR-869 (G. Ricart, A. K. Agrawala, An Algorithm for
// Mutual Exclusion in Computer Networks, University of Maryland, 1980).
//
// A number exceeds the highest that its node has seen by one, and a request is
// not granted while one with a smaller number waits: at any time the numbers of
// all requests lie between some x and x+N−1. So it is enough to know a number
// modulo M, where M ≥ 2N−1. To compare two residues, the smaller is first
// increased by M if they differ by N or more. All else is as in section 2.2.
//
// Two algorithms are described here. [AsPublished] is the literal text. There
// Highest_Sequence_Number does not cover the numbers that the node has sent
// itself, although the comment at its declaration says so. The number of a
// REQUEST can then exceed the receiver's Highest_Sequence_Number by N; the
// comparison takes it for one from the distant past, the receiver forgets it,
// and asks with a number that is too small: whatever M is, two nodes enter.
// [Algorithm] has the repair, Highest_Sequence_Number := Our_Sequence_Number
// when a node asks. Then M = 2N−1 is enough, and 2N−2 is not.
//
// Further departures from the printed text: replies are a set of nodes and no
// count, a REPLY names the request that it answers, and the reaction to an event
// is one atomic step.
//
// No timestamp leaves the node with its entry: no number is left that would
// order entries for longer than N requests. Links need not keep order.
package rabounded
