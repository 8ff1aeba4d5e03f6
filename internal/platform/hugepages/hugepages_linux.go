// Package hugepages gives large slices memory that is mapped 2 MiB at a time, if the system offers it.
package hugepages

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// hugePage is the size of the pages that replace many small ones, in bytes.
const hugePage = 2 << 20

// Make returns a slice of zeroes that is going to be used as a whole. If it is large, the kernel is
// asked for huge pages: to map 4 KiB at a time costs as much as to fill them.
func Make[T any](length int) []T {
	s := make([]T, length)
	begin, size := unsafe.Pointer(unsafe.SliceData(s)), uintptr(length)*unsafe.Sizeof(*new(T))
	skip := -uintptr(begin) % hugePage // to where such a page can begin
	if size >= skip+hugePage {
		pages := unsafe.Slice((*byte)(unsafe.Add(begin, skip)), (size-skip)/hugePage*hugePage)
		_ = unix.Madvise(pages, unix.MADV_HUGEPAGE) // without them it only takes longer
	}
	return s
}

// Reserve puts the next allocations into huge pages, up to that many bytes. It takes no memory:
// what was never written to is given back, and the place stays with the program.
func Reserve(bytes int) {
	if bytes > hugePage {
		Make[byte](bytes)
		runtime.GC()
	}
}
