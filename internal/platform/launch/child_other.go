//go:build !linux

package launch

import (
	"errors"
	"os/exec"
)

func startPinned(*exec.Cmd, []int) error { return errors.ErrUnsupported }

// stopped reports whether a process is stopped by a signal, where the system
// tells.
func stopped(int) bool { return false }

// awaitStop does not wait where the system does not tell.
func awaitStop(int, <-chan struct{}) error { return nil }
