// Package record is what is kept of a run: here one [Entry] for each critical section, in
// chunks up to a bound and written in a compact form; below it each event and the files
// made of them (recording), the quantities of a result (measure), and space-time diagrams
// (spacetime).
//
// Real runs and simulations write the same records, so a quantity means the same in both.
// It carries nothing over a network and starts no process; measure knows of both by the job of a run.
package record
