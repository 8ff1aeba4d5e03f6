// Package platform is the room of what knows nothing of nodes and runs: files written
// whole or not at all (atomicfile), input with an end (input), work that can be given up
// (interrupt), processes (launch), system calls that do not disturb (rawio), clocks of this
// and other hosts (clock, clock/exchange), the machine
// (environment), and how text is shown (terminal, tables, suggest).
//
// It imports nothing else of this module.
package platform
