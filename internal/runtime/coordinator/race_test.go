//go:build race

package coordinator

// sampled says whether case i of many similar ones is tried: one in so many is. What
// differs between the cases is a pure state machine, in which nothing can race, or what
// is waited for; and processes that are built with the race detector take long to start.
func sampled(i, of int) bool { return i%of == 0 }

// crowd is how many strangers there are: their connections are this process's at both
// ends, and the race detector looks at each.
const crowd = 500
