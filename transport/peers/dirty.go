package peers

import "sync/atomic"

// Dirty is a list of links that have something queued which nobody has begun to
// write. Any goroutine may push, and take all.
type Dirty[Link any] struct{ head atomic.Pointer[Entry[Link]] }

// Entry is the place of a link in a list; it is part of the link, so that a push
// allocates nothing. The link sees to it that it is in the list once.
type Entry[Link any] struct {
	Link *Link
	next *Entry[Link]
}

// Push adds a link.
func (d *Dirty[Link]) Push(e *Entry[Link]) {
	for {
		head := d.head.Load()
		e.next = head
		if d.head.CompareAndSwap(head, e) {
			return
		}
	}
}

// Drain empties the list and calls f for each link, in the order of the pushes: who
// broadcasts in ascending order is not served in descending order. f may push the
// link again.
func (d *Dirty[Link]) Drain(f func(*Link)) {
	if d.head.Load() == nil {
		return
	}
	var first *Entry[Link]
	for e := d.head.Swap(nil); e != nil; {
		e.next, first, e = first, e, e.next
	}
	for e := first; e != nil; {
		next := e.next // before e may enter the list anew
		f(e.Link)
		e = next
	}
}
