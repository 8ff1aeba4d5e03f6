package peers

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"dmebench/dme"
	"dmebench/transport"
)

// A frame on the wire is the length of the body, the sending and the receiving node,
// each an unsigned varint in its shortest form, and the body. Three bytes of header are
// usual. There is exactly one encoding of a frame; anything else is malformed. Node 0 is
// no node, so the empty frame from 0 to 0 is free to mean something to the transport: it
// is the goodbye of a process that closes in good order.

const MaxHeader = maxLength + 2*maxNode

const (
	maxLength = 4 // bytes of the varint of transport.MaxFrame
	maxNode   = 5 // bytes of the varint of the largest NodeID
)

var ErrMalformed = errors.New("malformed frame")

// Frame is a decoded frame. Body lies in the bytes that it was decoded from.
type Frame struct {
	From, To dme.NodeID
	Body     []byte
}

func (f *Frame) IsGoodbye() bool { return f.From|f.To == dme.None && len(f.Body) == 0 }

// Goodbye says that its sender closes.
const Goodbye = "\x00\x00\x00"

// AppendFrame appends a frame, whose body must not be longer than transport.MaxFrame.
func AppendFrame(b []byte, from, to dme.NodeID, body []byte) []byte {
	if len(body)|int(from)|int(to) < 0x80 {
		b = append(b, byte(len(body)), byte(from), byte(to))
	} else {
		b = binary.AppendUvarint(b, uint64(len(body)))
		b = binary.AppendUvarint(b, uint64(from))
		b = binary.AppendUvarint(b, uint64(to))
	}
	return append(b, body...)
}

// DecodeFrame reads the frame that b begins with into f and returns its size in bytes; 0 if b holds
// only a part of it. Bytes that cannot become a frame are refused as early as possible.
func DecodeFrame(b []byte, f *Frame) (size int, err error) {
	if size = decodeShort(b, f); size > 0 {
		return size, nil
	}
	var length, from, to uint64
	header, err := decodeHeader(b, &length, &from, &to)
	if header == 0 || uint64(len(b)-header) < length {
		return 0, err
	}
	size = header + int(length)
	// The capacity ends with the body: appending to it does not write over the next frame.
	*f = Frame{dme.NodeID(from), dme.NodeID(to), b[header:size:size]}
	return size, nil
}

// decodeShort is DecodeFrame of a frame with the usual header that has arrived completely, else 0.
func decodeShort(b []byte, f *Frame) (size int) {
	if len(b) < 3 || b[0]|b[1]|b[2] >= 0x80 || len(b) < 3+int(b[0]) {
		return 0
	}
	size = 3 + int(b[0])
	f.From, f.To, f.Body = dme.NodeID(b[1]), dme.NodeID(b[2]), b[3:size:size]
	return size
}

func decodeHeader(b []byte, length, from, to *uint64) (int, error) {
	n, err := uvarint(b, maxLength, length)
	if err != nil {
		return 0, fmt.Errorf("%w length", err)
	}
	if *length > transport.MaxFrame {
		return 0, fmt.Errorf("frame of %d bytes announced, at most %d allowed: %w",
			*length, transport.MaxFrame, transport.ErrFrameTooLarge)
	}
	if n == 0 {
		return 0, nil
	}
	size := n
	for _, node := range [2]*uint64{from, to} {
		n, err := uvarint(b[size:], maxNode, node)
		if err != nil || *node > 1<<32-1 {
			return 0, fmt.Errorf("%w node number", ErrMalformed)
		}
		if n == 0 {
			return 0, nil
		}
		size += n
	}
	return size, nil
}

// uvarint reads a varint of at most limit bytes in its shortest form and returns its size; 0 if b
// ends before it does.
func uvarint(b []byte, limit int, x *uint64) (int, error) {
	b = b[:min(len(b), limit)]
	v, n := binary.Uvarint(b)
	if n == 0 && len(b) < limit {
		return 0, nil
	}
	if n <= 0 || n > 1 && b[n-1] == 0 {
		return 0, ErrMalformed
	}
	*x = v
	return n, nil
}

// Reader takes fields off the front of a slice, until it has failed.
type Reader struct {
	Rest   []byte
	Failed bool
}

// Uvarint takes a number, at most that large, in its shortest form.
func (r *Reader) Uvarint(most uint64) uint64 {
	v, n := binary.Uvarint(r.Rest)
	if n <= 0 || n > 1 && r.Rest[n-1] == 0 || v > most {
		*r = Reader{Failed: true}
		return 0
	}
	r.Rest = r.Rest[n:]
	return v
}

// Bytes takes the given number of bytes.
func (r *Reader) Bytes(n uint64) []byte {
	if n > uint64(len(r.Rest)) {
		*r = Reader{Failed: true}
		return nil
	}
	x := r.Rest[:n:n]
	r.Rest = r.Rest[n:]
	return x
}

// Sizes of a Stream's buffer in bytes. A process may have a thousand
// connections, most of them quiet: the buffer starts small, grows while reads
// fill it, and beyond that only for a large frame.
const (
	smallBuffer = 2 << 10
	busyBuffer  = 64 << 10
	keptBuffer  = 1 << 20 // a larger one is given back once it is empty
)

// Stream takes the frames out of a byte stream. The size of its buffer follows what has
// arrived, never what the other side announces.
type Stream struct {
	r          io.Reader
	buf        []byte
	start, end int  // buf[start:end] has been read and not yet returned
	filled     bool // the last read left no space: more is likely to be waiting
}

func NewStream(r io.Reader) *Stream { return &Stream{r: r} }

// Fill reads once from the underlying reader. The bodies of frames that Next returned
// before are no longer valid.
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

// Next reads the next frame that has arrived completely into f; false if Fill is due.
func (s *Stream) Next(f *Frame) (bool, error) {
	size := decodeShort(s.buf[s.start:s.end], f)
	if size == 0 && s.start < s.end {
		var err error
		if size, err = DecodeFrame(s.buf[s.start:s.end], f); err != nil {
			return false, err
		}
	}
	s.start += size
	return size > 0, nil
}

// Buffered returns how many bytes have arrived that no frame has been made of.
func (s *Stream) Buffered() int { return s.end - s.start }

// makeSpace moves an incomplete frame to the front and sees to it that there
// is space behind it. The buffer at most doubles each time it is full.
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

// NewSeal returns what authenticates messages between processes of a run, and hides their content
// if it is given as plaintext: AES-GCM, by a key that follows from the run's, a purpose and a
// context. No nonce may be used twice: every sender has a context of its own, and numbers what it
// sends.
//
// For a small message it takes a fifth of the time of HMAC-SHA256.
func NewSeal(key *transport.Key, purpose string, context ...byte) cipher.AEAD {
	return must(cipher.NewGCM(newBlock(key, purpose, context)))
}

// NewSharedSeal is [NewSeal] for many senders that share one key: it draws nonces by itself.
func NewSharedSeal(key *transport.Key, purpose string) cipher.AEAD {
	return must(cipher.NewGCMWithRandomNonce(newBlock(key, purpose, nil)))
}

func newBlock(key *transport.Key, purpose string, context []byte) cipher.Block {
	return must(aes.NewCipher(key.Derive(purpose, context...)[:16]))
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}
