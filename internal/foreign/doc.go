// Package foreign runs nodes of a mutual exclusion algorithm that are written in
// other languages, as processes of their own.
//
// A node reads JSON from its standard input and writes JSON to its standard
// output, one message a line, as the nodes of Maelstrom do
// (https://github.com/jepsen-io/maelstrom/blob/main/doc/protocol.md):
//
//	{"src": "n1", "dest": "n2", "body": {"type": "REQUEST", "clock": 7}}
//
// Nodes are called n1, n2, … nN. The client of node n3 is c3: it is the local
// process that asks for the critical section. What passes between the two is
//
//	c3 → n3   init      node_id, node_ids, msg_id; once, before anything else
//	n3 → c3   init_ok   in_reply_to
//	c3 → n3   request   msg_id: the local process asks for the critical section
//	n3 → c3   entered   in_reply_to: it may enter; "clock" is the request's time stamp, if it has one
//	c3 → n3   release   msg_id: it leaves
//	n3 → c3   released  in_reply_to
//	c3 → n3   stop      no more requests will come; only where init_ok said "stop": true
//
// A client has one call under way at a time: it asks again only after released.
// Everything that a node addresses to another node is carried to that node as it
// is, over the network of the run; its type is what messages are counted by.
//
// [Algorithm] describes such nodes to everything that looks at algorithms. A
// [Child] is the process of one node, and a [Host] what it lives in. A process
// that breaks the protocol ends the run, with an error that names the node and the
// line; one that enters when it was not asked is a violation of mutual exclusion.
//
// What goes on in the process cannot be seen: its schedules cannot be searched,
// its steps not be simulated or replayed, and that it is idle is found out from
// outside, see [Child.idle].
package foreign
