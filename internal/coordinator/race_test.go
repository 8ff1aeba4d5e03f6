//go:build race

package coordinator

// sampled says whether case i of many similar ones is tried: one in so many is. What
// differs between the cases is a pure state machine, in which nothing can race, or what
// is waited for; and processes that are built with the race detector take long to start.
func sampled(i, of int) bool { return i%of == 0 }
