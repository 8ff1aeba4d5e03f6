// Package agent takes hosts into runs that a coordinator elsewhere leads.
//
// An [Agent] is a process that offers its host: it joins a NATS server, says what the
// host is ([Info]), and starts and ends workers for one coordinator at a time. A
// [Fleet] is the coordinator's end: it finds the agents, and its [Remote] hosts are
// what package coordinator leads a run through.
//
// A coordinator takes an agent for one run, by a lease, and renews it all the time. An
// agent that has heard nothing of its coordinator for [LeaseTime] kills the run's
// workers and is free again, whether the coordinator, the server or the network has
// failed. Its workers are children of the agent, which see their standard input end
// when the agent dies. One that stands still leaves them running: they ask the
// coordinator itself whether they may go on, and end when nobody answers.
//
// # Who can do what
//
// Whoever is let into the server can ask agents to take part in runs: that is the
// measure of trust. An agent starts nothing but the program that it is itself, as a
// worker, with typed values that were checked: no command line, file name or
// environment comes from outside. The connection is encrypted unless the server is on
// this host's loopback. A lease is known by a random number that the agent draws, its
// requests are numbered, and it is taken with a ticket that holds once: what was
// recorded of an earlier run, or of this one, and is sent again has no effect. What
// cannot be read, or is of no lease, is refused and counted.
//
// # Subjects
//
//	dmebench.agents               who is there?
//	dmebench.agent.INSTANCE       requests to one agent process
//	dmebench.agent.INSTANCE.LEASE what it tells the lease's coordinator unasked
//
// Questions and answers are JSON, and small: what grows with the number of nodes is
// asked for in pieces.
package agent
