package frame

import "io"

// Sizes of a Stream's buffer in bytes. A process may have a thousand
// connections, most of them quiet: the buffer starts small, grows while reads
// fill it, and beyond that only for a large frame.
const (
	smallBuffer = 2 << 10
	busyBuffer  = 64 << 10
	keptBuffer  = 1 << 20 // a larger one is given back once it is empty
)

// Stream takes the frames out of a byte stream.
type Stream struct {
	r          io.Reader
	buf        []byte
	start, end int  // buf[start:end] has been read and not yet returned
	filled     bool // the last read left no space: more is likely to be waiting
}

// NewStream returns a Stream that reads from r.
func NewStream(r io.Reader) *Stream { return &Stream{r: r} }

// Fill reads once from the underlying reader, and waits where that waits. The
// bodies of frames that Next returned before are no longer valid.
func (s *Stream) Fill() error {
	s.makeSpace()
	n, err := s.r.Read(s.buf[s.end:])
	s.end += n
	s.filled = s.end == len(s.buf)
	switch {
	case n > 0:
		return nil // an error that came with data comes again without
	case err != nil:
		return err
	default:
		return io.ErrNoProgress
	}
}

// Next reads the next frame that has arrived completely into f; false where
// there is none and Fill is due. Its body is valid until then.
func (s *Stream) Next(f *Frame) (bool, error) {
	if s.start == s.end {
		return false, nil
	}
	size, err := Decode(s.buf[s.start:s.end], f)
	s.start += size
	return size > 0, err
}

// Buffered returns how many bytes have arrived that are not part of a frame
// that Next has returned.
func (s *Stream) Buffered() int { return s.end - s.start }

// makeSpace moves an incomplete frame to the front and sees to it that there
// is space behind it. The buffer at most doubles each time it is full, so a
// frame that is announced and never sent takes no memory.
func (s *Stream) makeSpace() {
	rest := s.buf[s.start:s.end]
	size := len(s.buf)
	switch {
	case size == 0:
		size = smallBuffer
	case len(rest) == 0 && size > keptBuffer:
		size = busyBuffer
	case len(rest) == size:
		size *= 2
	case s.filled && size < busyBuffer:
		size *= 2
	}
	if size == len(s.buf) {
		if s.start > 0 {
			copy(s.buf, rest)
		}
	} else {
		b := make([]byte, size)
		copy(b, rest)
		s.buf = b
	}
	s.start, s.end = 0, len(rest)
}
