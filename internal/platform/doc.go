// Package platform is the room of what knows nothing of nodes and runs: work that can be
// given up though it takes no context, and ports for servers, which are here; files written
// and read whole (fileio), processes (launch), system calls that do not disturb (rawio),
// clocks of this and other hosts (clock), the machine (environment), memory (hugepages), and
// how text is shown (layout).
//
// It imports nothing else of this module.
package platform
