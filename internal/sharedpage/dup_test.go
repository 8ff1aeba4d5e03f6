package sharedpage

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// dup is what inheriting a descriptor gives a worker.
func dup(t *testing.T, f *os.File) *os.File {
	t.Helper()
	fd, err := unix.Dup(int(f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	g := os.NewFile(uintptr(fd), "inherited")
	t.Cleanup(func() { g.Close() })
	return g
}
