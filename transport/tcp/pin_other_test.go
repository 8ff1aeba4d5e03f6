//go:build !linux

package tcp

import (
	"errors"
	"os/exec"
)

const canPin = false

func startPinned(*exec.Cmd) error { return errors.ErrUnsupported }
