//go:build !linux

package launch

import (
	"errors"
	"os/exec"
)

func startPinned(*exec.Cmd, []int) error { return errors.ErrUnsupported }
