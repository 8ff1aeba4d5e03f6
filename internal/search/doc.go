// Package search is the room of what is found out on the network in memory (dme/vnet):
// schedules searched for violations and for starvation, proofs for a number of nodes
// (check), and worked examples replayed (trace).
//
// It imports no network and starts no process. Its findings are drawn by the room record.
package search
