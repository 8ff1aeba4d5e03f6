//go:build !linux

// Package hugepages gives large slices memory that is mapped 2 MiB at a time, if the system offers it.
package hugepages

// Make is make: huge pages are for Linux.
func Make[T any](length int) []T { return make([]T, length) }

// Reserve is for Linux.
func Reserve(int) {}
