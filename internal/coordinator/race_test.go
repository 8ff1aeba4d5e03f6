//go:build race

package coordinator

// sampled says which of many similar cases are tried: one in four. What differs between
// them is a pure state machine, in which nothing can race; processes that are built with
// the race detector take long to start.
func sampled(i int) bool { return i%4 == 0 }
