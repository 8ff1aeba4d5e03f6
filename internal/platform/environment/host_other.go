//go:build !linux

package environment

import "errors"

func limitsAt(string) Limits { return unlimited() }

func leftOfGroups(string) (bytes uint64, limited bool) { return Unlimited, false }

func cpuQuotaAt(string) (processors float64, limited bool) { return 0, false }

func CPUs() ([]int, error) { return nil, errors.ErrUnsupported }
