package ping

import "encoding/binary"

// A message is as long as it was asked for. It begins with its kind; numbers
// follow at fixed places.
const (
	numberAt  = 8  // when a ping was sent; what a progress report counts
	arrivedAt = 16 // when a ping arrived; the serial number of a last message
)

// The kinds of messages.
const (
	data     = iota + 1 // of a stream
	last                // the end of a stream, which is to be answered
	progress            // how much of the stream has arrived
	token
	ping
	pong
)

func newMessage(kind byte, size int) []byte {
	m := make([]byte, size)
	m[0] = kind
	return m
}

func number(m []byte, at int) uint64        { return binary.LittleEndian.Uint64(m[at:]) }
func setNumber(m []byte, at int, to uint64) { binary.LittleEndian.PutUint64(m[at:], to) }
