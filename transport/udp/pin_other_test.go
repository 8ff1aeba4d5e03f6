//go:build !linux

package udp

import (
	"errors"
	"os/exec"
)

const canPin = false

func startPinned(*exec.Cmd) error { return errors.ErrUnsupported }
