// Package record is the room of what is kept of a run: each critical section (entrylog), each
// event and the files made of them (recording), the quantities of a result
// (measure), and space-time diagrams (spacetime).
//
// Real runs and simulations write the same records, so a quantity means the same in both.
// It imports no network and starts no process.
package record
