//go:build !linux

package netns

import "errors"

func monotonic() error { return errors.ErrUnsupported }
