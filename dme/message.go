package dme

// Kind is the type of a message. Kinds 1, 2, … are the names in
// [Algorithm.Kinds], in order. Kind 0 is never an algorithm's: runtimes use it
// for frames of their own.
type Kind uint8

// MaxKinds is the largest number of message kinds that an algorithm may have.
const MaxKinds = 15

// Message is what nodes say to each other: one flat value for all algorithms.
// A field that an algorithm does not use stays zero and costs nothing on the
// wire.
type Message struct {
	Kind  Kind
	Flags uint8
	Node  NodeID   // a node that the message speaks of, if that is not the sender
	Clock uint64   // the sender's logical clock, or a request's sequence number
	Num   uint64   // a second number: a grant, a hop, a generation
	Req   Stamp    // the request that the message belongs to or answers
	Done  Stamp    // the last request known to be satisfied
	Vec   []uint64 // a vector: a token's array and queue. Handed over by Send, copied by Broadcast
}
