// Package testbed is the room of other hosts: the agent that offers one, the queue from
// which agents take simulations and searches (workqueue, task), certificates of one's own
// (authority), and whether a host is fit for runs (doctor).
//
// Only the command line imports it.
package testbed
