//go:build !linux

package platform

// Make is make: huge pages are for Linux.
func Make[T any](length int) []T { return make([]T, length) }
