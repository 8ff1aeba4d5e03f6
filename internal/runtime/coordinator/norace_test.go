//go:build !race

package coordinator

// sampled says which of many similar cases are tried: all.
func sampled(_, _ int) bool { return true }

// crowd is how many strangers there are.
const crowd = 2000
