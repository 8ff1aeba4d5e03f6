// Package frame is the wire form of a frame on a byte stream: the length of
// the body, the sending and the receiving node, each an unsigned varint in its
// shortest form, and the body. Three bytes of header are usual.
//
// There is exactly one encoding of a frame; anything else is malformed. Node 0
// is no node, so the empty frame from 0 to 0 is free to mean something to the
// transport: it is the goodbye of a process that closes in good order.
//
// [Append] and [Decode] are the codec, [Stream] takes a byte stream apart with
// a buffer that is reused and whose size follows what has arrived, never what
// the other side announces. Nothing here authenticates: that is the
// transport's part.
package frame

import (
	"encoding/binary"
	"errors"
	"fmt"

	"dmebench/dme"
	"dmebench/transport"
)

// MaxHeader is the largest size of a header in bytes.
const MaxHeader = maxLength + 2*maxNode

const (
	maxLength = 4 // bytes of the varint of transport.MaxFrame
	maxNode   = 5 // bytes of the varint of the largest NodeID
)

// ErrMalformed is wrapped by every error of [Decode], besides
// [transport.ErrFrameTooLarge].
var ErrMalformed = errors.New("frame: malformed")

// Frame is a decoded frame. Body lies in the bytes that it was decoded from.
type Frame struct {
	From, To dme.NodeID
	Body     []byte
}

// IsGoodbye reports whether the frame says that its sender closes.
func (f *Frame) IsGoodbye() bool { return f.From|f.To == dme.None && len(f.Body) == 0 }

// Goodbye is the encoded goodbye.
const Goodbye = "\x00\x00\x00"

// Append appends a frame to b. It allocates only where b must grow. The body
// must not be longer than transport.MaxFrame.
func Append(b []byte, from, to dme.NodeID, body []byte) []byte {
	if len(body)|int(from)|int(to) < 0x80 {
		b = append(b, byte(len(body)), byte(from), byte(to))
	} else {
		b = binary.AppendUvarint(b, uint64(len(body)))
		b = binary.AppendUvarint(b, uint64(from))
		b = binary.AppendUvarint(b, uint64(to))
	}
	return append(b, body...)
}

// Decode reads the frame that b begins with into f and returns its size in
// bytes; 0 where b holds only a part of it. What cannot become a frame is
// refused as early as it shows: no length beyond transport.MaxFrame makes the
// caller wait or buffer.
func Decode(b []byte, f *Frame) (size int, err error) {
	var length, from, to uint64
	header := 3
	if len(b) >= 3 && (b[0]|b[1]|b[2]) < 0x80 {
		length, from, to = uint64(b[0]), uint64(b[1]), uint64(b[2])
	} else if header, err = decodeHeader(b, &length, &from, &to); header == 0 {
		return 0, err
	}
	if uint64(len(b)-header) < length {
		return 0, nil
	}
	size = header + int(length)
	f.From, f.To = dme.NodeID(from), dme.NodeID(to)
	// The capacity ends with the body: who appends to it does not write over
	// the next frame.
	f.Body = b[header:size:size]
	return size, nil
}

// decodeHeader reads a header and returns its size; 0 where b ends before it
// does.
func decodeHeader(b []byte, length, from, to *uint64) (int, error) {
	n, err := uvarint(b, maxLength, length)
	if err != nil {
		return 0, fmt.Errorf("%w length", err)
	}
	if *length > transport.MaxFrame {
		return 0, fmt.Errorf("frame: %d bytes announced, at most %d allowed: %w",
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

// uvarint reads a varint of at most limit bytes in its shortest form and
// returns its size; 0 where b ends before it does.
func uvarint(b []byte, limit int, x *uint64) (int, error) {
	var v uint64
	for i := range min(len(b), limit) {
		v |= uint64(b[i]&0x7f) << (7 * i)
		if b[i] < 0x80 {
			if b[i] == 0 && i > 0 {
				return 0, ErrMalformed // a longer form of a shorter number
			}
			*x = v
			return i + 1, nil
		}
	}
	if len(b) >= limit {
		return 0, ErrMalformed
	}
	return 0, nil
}
