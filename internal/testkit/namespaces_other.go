//go:build !linux

package testkit

import (
	"errors"
	"os"
	"time"
)

func impossible() string { return "namespaces are Linux's" }

func clockAhead(time.Duration) (*os.File, error) { return nil, errors.ErrUnsupported }
