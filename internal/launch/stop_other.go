//go:build !linux

package launch

// stopped reports whether a process is stopped by a signal, where the system
// tells.
func stopped(int) bool { return false }
