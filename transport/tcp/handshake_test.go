package tcp

import (
	"bytes"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/transport"
	"dmebench/transport/peers"
	"dmebench/transport/transporttest"
)

// shaken is how a handshake over a pipe went, and what each side has written.
type shaken struct {
	from             ends
	dialer, listener *session
	dialed, listened error
	said             [2]bytes.Buffer // by the dialer, by the listener
}

const fromDialer, fromListener = 0, 1

// shake runs both halves of a handshake. tamper may change what passes, or be nil;
// offset counts the bytes of each direction.
func shake(dialer, listener transport.Key, encrypt bool, to dme.NodeID, tamper func(side, offset int, b []byte)) *shaken {
	r := new(shaken)
	a, b := net.Pipe()
	deadline := time.Now().Add(10 * time.Second)
	a.SetDeadline(deadline)
	b.SetDeadline(deadline)
	var both sync.WaitGroup
	both.Go(func() {
		r.dialer, r.dialed = introduce(&tampered{a, &r.said[fromDialer], fromDialer, tamper}, &dialer, encrypt, ends{3, to, 1, 1})
		if r.dialed != nil {
			a.Close()
		}
	})
	both.Go(func() {
		conn := &tampered{b, &r.said[fromListener], fromListener, tamper}
		r.listener, r.from, r.listened = receive(conn, &transport.Config{Key: listener, Local: []dme.NodeID{7}, Incarnation: 1}, encrypt)
		if r.listened != nil {
			b.Close()
		} else {
			io.WriteString(r.listener, welcome)
		}
	})
	both.Wait()
	return r
}

type tampered struct {
	net.Conn
	said   *bytes.Buffer
	side   int
	tamper func(side, offset int, b []byte)
}

func (c *tampered) Write(b []byte) (int, error) {
	b = bytes.Clone(b)
	if c.tamper != nil {
		c.tamper(c.side, c.said.Len(), b)
	}
	c.said.Write(b)
	return c.Conn.Write(b)
}

// bothWays runs a test without encryption and with it.
func bothWays(t *testing.T, f func(t *testing.T, encrypt bool)) {
	t.Run("plain", func(t *testing.T) { f(t, false) })
	t.Run("encrypted", func(t *testing.T) { f(t, true) })
}

func TestHandshake(t *testing.T) {
	bothWays(t, func(t *testing.T, encrypt bool) {
		key := transporttest.NewKey()
		if r := shake(key, key, encrypt, 7, nil); r.from.from != 3 || r.dialed != nil || r.listened != nil {
			t.Fatalf("%+v, %v, %v", r.from, r.dialed, r.listened)
		}
		if r := shake(key, transporttest.NewKey(), encrypt, 7, nil); !errors.Is(r.dialed, errWrongKey) || r.listened == nil {
			t.Errorf("different keys: dialer %v, listener %v", r.dialed, r.listened)
		}
		if r := shake(key, key, encrypt, 8, nil); !errors.Is(r.dialed, errElsewhere) || !errors.Is(r.listened, errElsewhere) {
			t.Errorf("to a node that lives elsewhere: dialer %v, listener %v", r.dialed, r.listened)
		}
	})
}

// Whatever was changed on the way, the listener must not take the dialer in.
func TestHandshakeCoversEveryBit(t *testing.T) {
	key := transporttest.NewKey()
	for side, size := range []int{helloSize + proofSize, challengeSize} {
		for bit := range 8 * size {
			r := shake(key, key, false, 7, func(from, offset int, b []byte) {
				if at := bit/8 - offset; from == side && at >= 0 && at < len(b) {
					b[at] ^= 1 << (bit % 8)
				}
			})
			if r.listened == nil {
				t.Errorf("from side %d, bit %d flipped: accepted", side, bit)
			}
		}
	}
}

// A stranger who repeats what was overheard of a good handshake gets nowhere.
func TestReplay(t *testing.T) {
	bothWays(t, func(t *testing.T, encrypt bool) {
		key := transporttest.NewKey()
		good := shake(key, key, encrypt, 7, nil)
		c := &transport.Config{Key: key, Local: []dme.NodeID{7}, Incarnation: 1}
		if _, _, err := receive(script(good.said[fromDialer].Bytes()), c, encrypt); !errors.Is(err, errWrongKey) {
			t.Errorf("a dialer's part repeated: %v", err)
		}
		if _, err := introduce(script(good.said[fromListener].Bytes()), &key, encrypt, ends{3, 7, 1, 1}); !errors.Is(err, errWrongKey) {
			t.Errorf("a listener's part repeated: %v", err)
		}
	})
}

// script is the other side of a handshake that says what was written down.
func script(b []byte) io.ReadWriter {
	return struct {
		io.Reader
		io.Writer
	}{bytes.NewReader(b), io.Discard}
}

// What passes an encrypted connection, in pieces of any size, arrives and cannot be
// read on the way; a bit that is changed there, anywhere, ends the connection before
// anything of that record arrives.
func TestEncryption(t *testing.T) {
	key := transporttest.NewKey()
	secret := bytes.Repeat([]byte("what anybody would notice "), 3*maxRecord/26)
	bothWays(t, func(t *testing.T, encrypt bool) {
		r := shake(key, key, encrypt, 7, nil)
		go func() {
			r.dialer.Write(secret[:100])
			r.dialer.Write(secret[100:])
		}()
		got := make([]byte, len(secret))
		if _, err := io.ReadFull(r.listener, got); err != nil || !bytes.Equal(got, secret) {
			t.Errorf("%d bytes arrive changed: %v", len(got), err)
		}
		if seen := bytes.Contains(r.said[fromDialer].Bytes(), secret[:26]); seen == encrypt {
			t.Errorf("seen on the way: %v", seen)
		}
	})
	const size = 40
	for bit := range 8 * (3 + size + 16) {
		r := shake(key, key, true, 7, nil)
		record := r.dialer.seal(nil, secret[:size])
		record[bit/8] ^= 1 << (bit % 8)
		r.listener.records = peers.NewStream(bytes.NewReader(record))
		if n, err := r.listener.Read(make([]byte, size)); err == nil || n > 0 {
			t.Errorf("bit %d changed: %d bytes, %v", bit, n, err)
		}
	}
}

// FuzzHandshake feeds both halves whatever there is: neither may accept it,
// since it was made without the share of this handshake, nor read beyond the
// handshake's size.
func FuzzHandshake(f *testing.F) {
	key := transport.Key{1, 2, 3}
	hello := append(preamble(false), make([]byte, shareSize+endsSize)...)
	f.Add(append(bytes.Clone(hello), prove(&key, "dialer", append(hello, make([]byte, shareSize)...))...), false)
	f.Add(append(make([]byte, shareSize), prove(&key, "listener", append(hello, make([]byte, shareSize)...))...), true)
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"), false)
	f.Fuzz(func(t *testing.T, b []byte, encrypt bool) {
		r := bytes.NewReader(b)
		rw := struct {
			io.Reader
			io.Writer
		}{r, io.Discard}
		if _, who, err := receive(rw, &transport.Config{Key: key, Local: []dme.NodeID{0}, Incarnation: 1}, encrypt); err == nil {
			t.Fatalf("a stranger was taken for node %d", who.from)
		}
		if read := len(b) - r.Len(); read > helloSize+proofSize {
			t.Fatalf("read %d bytes of a stranger", read)
		}
		r.Reset(b)
		if _, err := introduce(rw, &key, encrypt, ends{3, 7, 1, 1}); err == nil {
			t.Fatal("a stranger was taken for a listener")
		}
		if read := len(b) - r.Len(); read > challengeSize+len(welcome) {
			t.Fatalf("read %d bytes of a stranger", read)
		}
	})
}
