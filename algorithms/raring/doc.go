// Package raring is the algorithm of Ricart and Agrawala on a logical ring:
// section 6.3 of TR-869 (G. Ricart, A. K. Agrawala, An Algorithm for Mutual
// Exclusion in Computer Networks, University of Maryland, 1980). A REQUEST
// travels from node to node through the circuit 1, 2, …, N, 1 instead of going
// to all at once. Two forms:
//
// form=echo: the REQUEST itself is the reply.
//
//  1. A node that asks chooses a number above any that it has seen and sends
//     REQUEST to its successor.
//  2. A node that receives somebody's REQUEST passes it on, unless it has
//     priority (it is requesting itself, with the smaller number, or among
//     equals the smaller node number); then it keeps it until it leaves.
//  3. A node whose own REQUEST has come home enters.
//
// That takes N messages, the fewest there can be where each node must receive
// and send one, and the delays of all stops add up.
//
// form=notes: the REQUEST goes round without a pause.
//
//  1. As above.
//  2. A node that has priority passes the REQUEST on too, with the note
//     «DEFERRED by» itself, and keeps a copy.
//  3. A node that leaves sends a REPLY to everybody of whom it keeps a copy.
//  4. A node enters when its REQUEST is home and everybody who noted a deferral
//     has replied.
//
// That takes N messages and one for each note.
//
// Departures from the printed text:
//
//   - Notes: the text sets Outstanding_Reply_Count from the notes when the
//     REQUEST is home. A REPLY may be home before it, and would be counted off
//     nothing: the node then waits for ever. Here a balance is kept for each
//     node.
//   - A REPLY names the request that it answers, and Highest_Sequence_Number
//     covers the node's own numbers.
//
// Links need not keep order.
package raring
