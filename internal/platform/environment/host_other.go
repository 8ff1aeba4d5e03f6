//go:build !linux

package environment

import "errors"

// limitsAt returns what is left of all but memory; here nothing is known of it.
func limitsAt(string) Limits { return unlimited() }

func leftOfGroups(string) (bytes uint64, limited bool) { return Unlimited, false }

// cpuQuotaAt returns how many processors this process is allowed; here nothing is
// known of it.
func cpuQuotaAt(string) (processors float64, limited bool) { return 0, false }

// CPUs returns the processors that this process may run on; an error where the
// system does not bind processes to processors.
func CPUs() ([]int, error) { return nil, errors.ErrUnsupported }
