package tcp

import (
	"bytes"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/transport"
	"dmebench/transport/transporttest"
)

// shake runs both halves of a handshake over a pipe. tamper may change what
// passes, or be nil; offset counts the bytes of both directions on their own.
func shake(dialer, listener transport.Key, to dme.NodeID, tamper func(fromDialer bool, offset int, b []byte)) (
	node dme.NodeID, dialed, listened error,
) {
	a, b := net.Pipe()
	deadline := time.Now().Add(10 * time.Second)
	a.SetDeadline(deadline)
	b.SetDeadline(deadline)
	var wg sync.WaitGroup
	wg.Go(func() {
		defer a.Close()
		dialed = introduce(&tampered{Conn: a, fromDialer: true, tamper: tamper}, &dialer, ends{3, to, 1, 1})
	})
	wg.Go(func() {
		defer b.Close()
		conn := &tampered{Conn: b, tamper: tamper}
		var who ends
		who, listened = receive(conn, &transport.Config{Key: listener, Local: []dme.NodeID{7}, Incarnation: 1})
		node = who.From
		if listened == nil {
			io.WriteString(conn, welcome)
		}
	})
	wg.Wait()
	return node, dialed, listened
}

type tampered struct {
	net.Conn
	fromDialer bool
	offset     int
	tamper     func(fromDialer bool, offset int, b []byte)
}

func (c *tampered) Write(b []byte) (int, error) {
	if c.tamper != nil {
		b = bytes.Clone(b)
		c.tamper(c.fromDialer, c.offset, b)
		c.offset += len(b)
	}
	return c.Conn.Write(b)
}

// TestHandshakeCoversEveryBit flips each bit of each message: whatever was
// changed on the way, the listener must not take the dialer in.
func TestHandshakeCoversEveryBit(t *testing.T) {
	key := transporttest.NewKey()
	for _, side := range []struct {
		fromDialer bool
		bytes      int
	}{{true, helloSize + proofSize}, {false, challengeSize}} {
		for bit := range 8 * side.bytes {
			_, _, err := shake(key, key, 7, func(fromDialer bool, offset int, b []byte) {
				if at := bit/8 - offset; fromDialer == side.fromDialer && at >= 0 && at < len(b) {
					b[at] ^= 1 << (bit % 8)
				}
			})
			if err == nil {
				t.Errorf("from the dialer %v, bit %d flipped: accepted", side.fromDialer, bit)
			}
		}
	}
}

// FuzzHandshake feeds both halves whatever there is: neither may accept it,
// since it was made without the nonce of this handshake, nor read beyond the
// handshake's size.
func FuzzHandshake(f *testing.F) {
	key := transport.Key{1, 2, 3}
	hello := append([]byte(magic), version)
	hello = append(hello, make([]byte, nonceSize+endsSize)...)
	f.Add(append(bytes.Clone(hello), prove(&key, "dialer", append(hello, make([]byte, nonceSize)...))...))
	f.Add(append(make([]byte, nonceSize), prove(&key, "listener", append(hello, make([]byte, nonceSize)...))...))
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := bytes.NewReader(b)
		rw := struct {
			io.Reader
			io.Writer
		}{r, io.Discard}
		if who, err := receive(rw, &transport.Config{Key: key, Local: []dme.NodeID{0}, Incarnation: 1}); err == nil {
			t.Fatalf("a stranger was taken for node %d", who.From)
		}
		if read := len(b) - r.Len(); read > helloSize+proofSize {
			t.Fatalf("read %d bytes of a stranger", read)
		}
		r.Reset(b)
		if err := introduce(rw, &key, ends{3, 7, 1, 1}); err == nil {
			t.Fatal("a stranger was taken for a listener")
		}
		if read := len(b) - r.Len(); read > challengeSize+len(welcome) {
			t.Fatalf("read %d bytes of a stranger", read)
		}
	})
}
