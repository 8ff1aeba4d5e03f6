//go:build !linux

package launch

import (
	"errors"
	"os/exec"
)

func startPinned(*exec.Cmd, []int) error { return errors.ErrUnsupported }

func stopped(int) bool { return false }

func awaitStop(int, <-chan struct{}) error { return nil }
