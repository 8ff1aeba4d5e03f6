//go:build !linux

package coordinator

import "testing"

func listeningSockets(*testing.T, []int) int { return -1 } // cannot be told here
