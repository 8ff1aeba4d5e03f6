//go:build !linux

package environment

// HostLimits returns what is left on this host; here nothing is known of it.
func HostLimits() Limits { return unlimited() }
