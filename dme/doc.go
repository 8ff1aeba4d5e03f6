// Package dme is the contract between a distributed mutual exclusion algorithm and everything that
// runs one. Its example is a whole algorithm; a main that calls dmebench.Main with it makes a
// dmebench that knows it, and
//
//	go run . check --algorithm door --nodes 3 --exhaustive
//
// searches every way in which its messages can arrive.
//
// An algorithm is a pure state machine. A [Node] handles what happens at one node (the local
// process asks, the local process leaves, a message arrives) and answers through an [Outbox]
// (messages, entry into the critical section, timers). It does no I/O, reads no clock, draws no
// random number, starts no goroutine and takes no lock. For that reason the same code runs,
// unchanged, in a worker process over a network, in the virtual-time simulator, under a schedule
// explorer and in golden traces.
//
// An [Algorithm] describes itself: its citation, what it needs from the network, its options, the
// kinds of its messages, and its claims. Formulas of papers stand nowhere else in the program.
// Package dme/claim has the words in which claims are made, dme/collections sets and queues that
// many algorithms need, dme/conformance the test that every algorithm passes.
//
// This package imports nothing that does I/O, reads a clock or starts a goroutine; a test keeps it
// so.
package dme
