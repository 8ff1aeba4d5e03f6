//go:build !linux

package coordinator

import "time"

func wait(d time.Duration) { time.Sleep(d) }
