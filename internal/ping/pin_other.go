//go:build !linux

package ping

import (
	"errors"
	"os/exec"
)

const canPin = false

func allowedCPUs() ([]int, error) { return nil, errors.ErrUnsupported }

func startPinned(*exec.Cmd, []int) error { return errors.ErrUnsupported }
