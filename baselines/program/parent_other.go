//go:build !linux

package program

import "syscall"

// endWithParent can be had on Linux only: elsewhere a server outlives a parent that is killed.
func endWithParent(*syscall.SysProcAttr) {}
