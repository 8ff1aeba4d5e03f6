//go:build race

package sim

// slower is how many times slower the race detector makes a run, roughly: long
// searches are cut by it. There is one goroutine here, so that nothing is lost.
const slower = 20
