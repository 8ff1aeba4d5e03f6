//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package experiment

// lock does nothing if there is no lock that ends with its process: one that outlives a killed
// sweep does more harm than two sweeps at once.
func lock(string) (release func(), err error) { return func() {}, nil }
