package udp

const (
	// windowSegments is how many segments a sender may be ahead of the oldest
	// that is not acknowledged, and a receiver keeps account of. A multiple of 64.
	windowSegments = 512

	// maxWindow bounds the bytes in flight on a link: a quarter of a receiver's
	// buffer.
	maxWindow = 1 << 20

	// firstWindow is what a link begins with. Sixty processes that all begin to
	// send to one at a time do not overflow its buffer.
	firstWindow = 64 << 10
)

// window bounds the bytes in flight on a link, and finds out how many the way
// takes: slow start, additive increase, and half of it after a loss, at most
// once a round (RFC 5681).
type window struct {
	size, threshold int
	segment         int    // bytes of the largest segment
	reacted         uint64 // losses of transmissions up to this one have been reacted to
}

func newWindow(segment int) window {
	return window{size: max(firstWindow, 4*segment), threshold: maxWindow, segment: segment}
}

// acknowledged enlarges a window that was in use.
func (w *window) acknowledged(bytes int) {
	if w.size < w.threshold {
		w.size += bytes
	} else {
		w.size += max(1, w.segment*bytes/w.size)
	}
	w.size = min(w.size, maxWindow)
}

// lost reacts to the loss of a transmission, where last is the latest.
func (w *window) lost(transmission, last uint64) {
	if transmission <= w.reacted {
		return
	}
	w.reacted = last
	w.threshold = max(w.size/2, 2*w.segment)
	w.size = w.threshold
}

// timedOut reacts to a silence.
func (w *window) timedOut(last uint64) {
	w.lost(w.reacted+1, last)
	w.size = 2 * w.segment
}
