// Package runtime is the room of real runs, from the outside in: package coordinator
// leads a run over hosts (host, control), whose worker processes (worker) each run nodes
// (localprocess, noderun). Beside them stand what a specification resolves to and what is
// shown of a run (run), nodes in other languages (foreign), what sees that mutual exclusion is
// kept (witness), why nothing moves (stall), and the networks' own limits (ping).
//
// noderun, run and stall know nothing of processes and networks: simulations, searches
// and records use them too. Nothing in here imports the rooms search, sim, testbed and
// experiment.
package runtime
