//go:build !linux

package environment

func affinity() string { return "" }
