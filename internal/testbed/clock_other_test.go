//go:build !linux

package testbed

import "errors"

func monotonic() error { return errors.ErrUnsupported }
