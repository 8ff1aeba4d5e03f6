// Package rabroadcast is the algorithm of Ricart and Agrawala on a network that
// broadcasts: section 6.2 of TR-869 (G. Ricart, A. K. Agrawala, An Algorithm for
// Mutual Exclusion in Computer Networks, University of Maryland, 1980). A
// message to all nodes is one transmission there. Two forms:
//
// form=listed (section 6.2.2) is for a medium on which nodes cannot tell in
// which order requests were transmitted:
//
//  1. A node that asks chooses a number above any that it has seen and
//     broadcasts REQUEST.
//  2. A node that receives a REQUEST replies at once, to its sender alone, or
//     defers the reply, as in section 2.2.
//  3. A node that leaves broadcasts one REPLY for all whom it deferred, with the
//     list of them. The list is needed: a node that is not on it must not take
//     the REPLY for its own, since the leaver may not even have received its
//     REQUEST (the text's footnote 2).
//  4. A node enters when everybody has replied.
//
// form=sequenced (section 6.2.1) is for a medium that puts all broadcasts into
// one order, which every node observes, its own broadcasts among the others':
//
//  1. A node that asks broadcasts REQUEST, without a number.
//  2. Every node queues the REQUESTs as it hears them, its own too. Since all
//     hear them in one order, all have the same queue.
//  3. A node enters when its own REQUEST is at the head: all that were
//     transmitted before have been answered by the REPLY of their nodes.
//  4. A node that leaves drops its entry at once and broadcasts REPLY, at which
//     everybody else drops it.
//
// That takes two transmissions, whatever the load.
//
// Departures from the printed text:
//
//   - Listed: each REPLY names the request that it answers, replies are a set of
//     nodes and no count, and Highest_Sequence_Number covers the node's own
//     numbers.
//   - Sequenced: the text does not say when a node's own entry leaves its own
//     queue. Were it to wait for the REPLY on the medium, a node that asks again
//     at once would find its old entry at the head, and enter.
//   - Sequenced: broadcasts of one node must keep their order, lest a REPLY be
//     overtaken by the next REQUEST of its node.
package rabroadcast
