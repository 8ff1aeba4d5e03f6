package sharedpage

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// Whoever can open the page, as any process of the user can, cannot alter its size:
// touching what was cut off would end everybody.
func TestThePageKeepsItsSize(t *testing.T) {
	p, err := Create(Room{Nodes: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	f, err := os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", p.File().Fd()), os.O_RDWR, 0)
	if err != nil {
		t.Skip("the memory of a process cannot be opened here:", err)
	}
	defer f.Close()
	for _, size := range []int64{0, int64(Room{Nodes: 3}.size()) + 1} {
		if err := f.Truncate(size); !errors.Is(err, unix.EPERM) {
			t.Errorf("truncated to %d bytes: %v", size, err)
		}
	}
	if _, err := unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_WRITE); !errors.Is(err, unix.EPERM) {
		t.Errorf("sealed again: %v", err)
	}
	p.Enter(2, false)
	if n, _ := p.Violations(); n != 0 {
		t.Errorf("%d violations", n)
	}
}
