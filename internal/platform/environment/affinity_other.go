//go:build !linux

package environment

import "errors"

// CPUs returns the processors that this process may run on; an error where the
// system does not bind processes to processors.
func CPUs() ([]int, error) { return nil, errors.ErrUnsupported }
