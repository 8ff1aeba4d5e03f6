//go:build !race

package noderun

import (
	"runtime/debug"
	"syscall"
	"testing"
	"unsafe"

	"dmebench/dme"
)

// Who sees a node idle has also seen its entry counted and what it sent: quiescence is
// told by these words alone. The words from Activity on lie on a page that cannot be
// written, so that the moment before the node turns idle is there to look at. The race
// detector knows no memory but its own.
func TestEntryIsCountedBeforeTheNodeIsIdle(t *testing.T) {
	page := syscall.Getpagesize()
	mem, err := syscall.Mmap(-1, 0, 2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Skip(err)
	}
	defer syscall.Munmap(mem) //nolint:errcheck // the test is over
	c := (*Counters)(unsafe.Pointer(&mem[page-int(unsafe.Offsetof(Counters{}.Activity))]))
	node := new(script)
	node.request = func(out *dme.Outbox) { out.Enter(dme.Stamp{}) }
	node.release = func(out *dme.Outbox) { out.Send(1, dme.Message{Kind: 1}) }
	h := newRunner(&dme.Algorithm{Name: "test", Kinds: []string{"A"}}, one{node}, 3, 2, nowhere{}, c)
	h.Request()
	if err := syscall.Mprotect(mem[page:], syscall.PROT_READ); err != nil {
		t.Skip(err)
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	func() {
		defer func() {
			if recover() == nil {
				t.Fatal("the node's activity was not told")
			}
		}()
		h.Release()
	}()
	if a := Activity(c.Activity.Load()); a != Inside {
		t.Fatalf("the node is %v already", a)
	}
	if c.Entries.Load() != 1 || c.Sent.Load() != 1 {
		t.Errorf("when the node turns idle, %d entries and %d messages are counted; want 1 and 1", c.Entries.Load(), c.Sent.Load())
	}
}
