//go:build !linux

package environment

// cpuQuotaAt returns how many processors this process is allowed; here nothing is
// known of it.
func cpuQuotaAt(string) (processors float64, limited bool) { return 0, false }
