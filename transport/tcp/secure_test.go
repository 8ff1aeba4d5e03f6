package tcp

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"crypto/tls"
	"encoding/binary"
	"encoding/hex"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/transport"
	"dmebench/transport/peers"
	"dmebench/transport/transporttest"
)

// tap stands between a dialer and a listener, keeps what the dialer says, and may
// change it on the way.
type tap struct {
	net.Listener
	to     string
	change func(offset int, b []byte) // nil for nothing

	mu   sync.Mutex
	said []byte // by dialers
	over bool
	open []net.Conn
}

func newTap(t *testing.T, to string, change func(offset int, b []byte)) *tap {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &tap{Listener: l, to: to, change: change}
	var passing sync.WaitGroup
	t.Cleanup(func() {
		l.Close()
		p.close()
		passing.Wait()
	})
	passing.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			passing.Go(func() { p.pass(in) })
		}
	})
	return p
}

func (p *tap) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	for _, c := range p.open {
		c.Close()
	}
}

func (p *tap) pass(in net.Conn) {
	defer in.Close()
	out, err := net.Dial("tcp", p.to)
	if err != nil {
		return
	}
	defer out.Close()
	p.mu.Lock()
	over := p.over
	p.open = append(p.open, in, out)
	p.mu.Unlock()
	if over {
		return
	}
	back := make(chan struct{})
	go func() {
		defer close(back)
		defer in.Close()
		io.Copy(in, out)
	}()
	defer func() { <-back }()
	defer out.Close()
	b := make([]byte, 4096)
	for offset := 0; ; {
		n, err := in.Read(b)
		if err != nil {
			return
		}
		p.mu.Lock()
		p.said = append(p.said, b[:n]...)
		p.mu.Unlock()
		if p.change != nil {
			p.change(offset, b[:n])
		}
		offset += n
		if _, err := out.Write(b[:n]); err != nil {
			return
		}
	}
}

func (p *tap) heard() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return bytes.Clone(p.said)
}

// tapped opens transports of nodes 1 and 2, of which the first reaches the second
// through a tap.
func tapped(t *testing.T, e Encryption, change func(offset int, b []byte)) (from, to *Transport, events *transporttest.Events, p *tap) {
	t.Helper()
	var open [2]*Transport
	for i := range open {
		tr, err := Listen(transport.Config{
			Listen: "127.0.0.1:0", Local: []dme.NodeID{dme.NodeID(i + 1)}, Nodes: 2, Key: testKey,
		}, Options{Encryption: e})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { tr.Close() })
		open[i] = tr
	}
	p = newTap(t, open[1].Addr(), change)
	events = transporttest.NewEvents()
	for i, h := range []transport.Handler{transporttest.NewEvents(), events} {
		if err := open[i].Start(transport.AddressBook{open[0].Addr(), p.Addr().String()}, h); err != nil {
			t.Fatal(err)
		}
	}
	return open[0], open[1], events, p
}

func sendNow(t *testing.T, tr *Transport, from, to dme.NodeID, body string) {
	t.Helper()
	if err := tr.Send(from, to, []byte(body)); err != nil {
		t.Fatal(err)
	}
	tr.Flush()
}

const noticeable = "a frame that anybody would notice"

// Who listens on the way sees frames where nothing is encrypted, and else none.
func TestEncryptedFramesCannotBeRead(t *testing.T) {
	for _, c := range []struct {
		e    Encryption
		seen bool
	}{{Off, true}, {Auto, true}, {On, false}} { // the tap is on the loopback
		from, _, events, p := tapped(t, c.e, nil)
		sendNow(t, from, 1, 2, noticeable)
		if got := next(t, "the frame", events.Frames); got != "1>2 "+noticeable {
			t.Errorf("%s: delivered %q", c.e, got)
		}
		if seen := bytes.Contains(p.heard(), []byte(noticeable)); seen != c.seen {
			t.Errorf("%s: the frame is seen on the way: %v", c.e, seen)
		}
	}
}

// A bit that was changed on the way, anywhere in an encrypted connection, makes it no
// frame: the connection ends.
func TestEncryptedFramesCannotBeAltered(t *testing.T) {
	// The length of what precedes frames differs by a few bytes from connection to
	// connection, with the signatures' encoding: the changes are made behind it.
	const frames = 200
	for bit := range 8 {
		var armed sync.Once
		start := make(chan struct{})
		from, to, events, _ := tapped(t, On, func(_ int, b []byte) {
			select {
			case <-start:
				armed.Do(func() { b[len(b)-1-bit*len(b)/8] ^= 1 << bit })
			default:
			}
		})
		sendNow(t, from, 1, 2, noticeable)
		next(t, "a frame before", events.Frames)
		close(start)
		for range frames {
			if err := from.Send(1, 2, []byte(noticeable)); err != nil {
				t.Fatal(err)
			}
			from.Flush()
		}
		if err := next(t, "Down", events.Downs); !strings.Contains(err.Error(), "connection lost") {
			t.Errorf("Down: %v", err)
		}
		to.Close() // nothing is delivered any more
		for len(events.Frames) > 0 {
			if got := <-events.Frames; got != "1>2 "+noticeable {
				t.Fatalf("bit %d: delivered %q", bit, got)
			}
		}
	}
}

// A connection that was overheard from its first byte to its last opens no other.
func TestARecordedConnectionIsRefused(t *testing.T) {
	for _, e := range []Encryption{Off, On} {
		from, to, events, p := tapped(t, e, nil)
		sendNow(t, from, 1, 2, noticeable)
		next(t, "the frame", events.Frames)
		record := p.heard()
		from.Close()
		for i := range uint64(3) {
			conn, err := net.Dial("tcp", to.Addr())
			if err != nil {
				t.Fatal(err)
			}
			conn.Write(record) // may fail: refused already
			conn.SetDeadline(time.Now().Add(20 * time.Second))
			io.Copy(io.Discard, conn)
			conn.Close()
			waitFor(t, "the refusal", func() bool { return to.Counters().RefusedConns == i+1 })
		}
		if len(events.Frames) > 0 {
			t.Errorf("%s: delivered %q again", e, <-events.Frames)
		}
	}
}

// Who is not of the run gets nowhere at a listener that encrypts, and is counted.
func TestStrangersAtAListenerThatEncrypts(t *testing.T) {
	to, err := Listen(transport.Config{Listen: "127.0.0.1:0", Local: []dme.NodeID{1}, Nodes: 2, Key: testKey}, Options{Encryption: On})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { to.Close() })
	events := transporttest.NewEvents()
	if err := to.Start(transport.AddressBook{to.Addr(), "127.0.0.1:1"}, events); err != nil {
		t.Fatal(err)
	}
	other := transporttest.NewKey()
	foreign, err := newIdentity(&other)
	if err != nil {
		t.Fatal(err)
	}
	genuine, err := newIdentity(&testKey)
	if err != nil {
		t.Fatal(err)
	}
	bare := genuine.Clone()
	bare.Certificates, bare.VerifyConnection = nil, nil
	forged := foreign.Clone()
	forged.VerifyConnection = nil
	borrowed := forged.Clone() // the certificate that everybody on the way sees, and no key to it
	borrowed.Certificates = []tls.Certificate{{
		Certificate: genuine.Certificates[0].Certificate, PrivateKey: foreign.Certificates[0].PrivateKey,
	}}
	old := genuine.Clone()
	old.MinVersion, old.MaxVersion = tls.VersionTLS12, tls.VersionTLS12
	half := func(c *tls.Config) func(net.Conn) error { // the key for frames, without the one for TLS
		return func(conn net.Conn) error {
			s := tls.Client(conn, c)
			if err := s.Handshake(); err != nil {
				return err
			}
			return introduce(s, &testKey, ends{2, 1, 1, 1})
		}
	}
	inner := func(conn net.Conn) error { // the other way round
		s := tls.Client(conn, genuine)
		if err := s.Handshake(); err != nil {
			return err
		}
		return introduce(s, &other, ends{2, 1, 1, 1})
	}
	var refused uint64
	for name, act := range map[string]func(net.Conn) error{
		"plain":                     func(c net.Conn) error { return introduce(c, &testKey, ends{2, 1, 1, 1}) },
		"without a certificate":     half(bare),
		"of another run":            half(forged),
		"with a certificate it saw": half(borrowed),
		"of an old version":         half(old),
		"with the inner key wrong":  inner,
	} {
		conn, err := net.Dial("tcp", to.Addr())
		if err != nil {
			t.Fatal(err)
		}
		conn.SetDeadline(time.Now().Add(20 * time.Second))
		if err := act(conn); err == nil {
			t.Errorf("a stranger, %s, was let in", name)
		}
		conn.Close()
		refused++
		waitFor(t, "the refusal of one "+name, func() bool { return to.Counters().RefusedConns == refused })
	}
	if err := half(genuine)(dialRaw(t, to)); err != nil {
		t.Errorf("one of the run is not let in: %v", err)
	}
	if len(events.Frames)+len(events.Downs) > 0 {
		t.Error("something was delivered, or a node is down")
	}
}

func dialRaw(t *testing.T, to *Transport) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", to.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	return conn
}

// A dialer that encrypts takes nobody for a process of the run who is none, and says
// what is wrong.
func TestEncryptingDialersAreNotFooled(t *testing.T) {
	for name, c := range map[string]struct {
		key  transport.Key
		e    Encryption
		says string
	}{
		"another run": {transporttest.NewKey(), On, "does that address belong to another run?"},
		"plain":       {testKey, Off, errUnanswered.Error()},
	} {
		there, err := Listen(transport.Config{Listen: "127.0.0.1:0", Local: []dme.NodeID{2}, Nodes: 2, Key: c.key}, Options{Encryption: c.e})
		if err != nil {
			t.Fatal(err)
		}
		defer there.Close()
		l := defaultLimits()
		l.connect = 200 * time.Millisecond // of tries: who hangs up may have been crowded
		tr, err := listen(transport.Config{
			Listen: "127.0.0.1:0", Local: []dme.NodeID{1}, Nodes: 2, Key: testKey, Peers: []dme.NodeID{2},
		}, Options{Encryption: On}, l)
		if err != nil {
			t.Fatal(err)
		}
		defer tr.Close()
		err = tr.Start(transport.AddressBook{tr.Addr(), there.Addr()}, transporttest.NewEvents())
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v; want %q", name, err, c.says)
		}
	}
}

// Where it is left to the transport, connections are encrypted unless their listener is
// on the loopback.
func TestWhatIsEncrypted(t *testing.T) {
	for listener, want := range map[string]bool{
		"127.0.0.1:7": false, "127.8.9.1:7": false, "[::1]:7": false,
		"10.0.0.1:7": true, "0.0.0.0:7": true, "[::]:7": true, "[fe80::1]:7": true, "somewhere": true, "localhost.example:7": true,
	} {
		for e, want := range map[Encryption]bool{Auto: want, On: true, Off: false} {
			tr := &Transport{options: Options{Encryption: e}}
			if got := tr.encrypts(listener); got != want {
				t.Errorf("%s, %s: %v", listener, e, got)
			}
		}
	}
	from, err := Listen(transport.Config{Listen: "0.0.0.0:0", Local: []dme.NodeID{1}, Nodes: 1, Key: testKey}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { from.Close() })
	genuine, err := newIdentity(&testKey)
	if err != nil {
		t.Fatal(err)
	}
	if err := tls.Client(dialRaw(t, from), genuine).Handshake(); err != nil {
		t.Errorf("a listener on all interfaces: %v", err)
	}
	if _, err := Listen(transport.Config{Listen: "127.0.0.1:0", Local: []dme.NodeID{1}, Nodes: 1, Key: testKey},
		Options{Encryption: "perhaps"}); err == nil {
		t.Error("encryption 'perhaps' is taken")
	}
}

// A process of the run that asks for new keys, to which TLS has the other side answer,
// is cut off: who asks and does not read would keep a reader waiting for ever. The
// library never asks, so the test makes the record itself (RFC 8446, 4.6.3, 5.2, 7.1).
func TestWhoAsksForNewKeysIsCutOff(t *testing.T) {
	to, err := Listen(transport.Config{Listen: "127.0.0.1:0", Local: []dme.NodeID{1}, Nodes: 2, Key: testKey}, Options{Encryption: On})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { to.Close() })
	events := transporttest.NewEvents()
	if err := to.Start(transport.AddressBook{to.Addr(), "127.0.0.1:1"}, events); err != nil {
		t.Fatal(err)
	}
	c, err := newIdentity(&testKey)
	if err != nil {
		t.Fatal(err)
	}
	var secrets bytes.Buffer
	c.KeyLogWriter = &secrets
	raw := dialRaw(t, to)
	conn := tls.Client(raw, c)
	if err := introduce(conn, &testKey, ends{2, 1, 1, 1}); err != nil { // two records
		t.Fatal(err)
	}
	write(t, conn, peers.AppendFrame(nil, 2, 1, []byte("before"))) // the third
	if got := next(t, "a frame", events.Frames); got != "2>1 before" {
		t.Errorf("delivered %q", got)
	}
	if suite := conn.ConnectionState().CipherSuite; suite != tls.TLS_AES_128_GCM_SHA256 {
		t.Skipf("the record is made for AES-128 alone, and this is %s", tls.CipherSuiteName(suite))
	}
	write(t, raw, keyUpdate(t, secrets.String(), 3))
	if err := next(t, "Down", events.Downs); !strings.Contains(err.Error(), errUnasked.Error()) {
		t.Errorf("Down: %v; want %v", err, errUnasked)
	}
}

// keyUpdate is the record of that number from a client, which asks the server to change
// its keys as well.
func keyUpdate(t *testing.T, keyLog string, number uint64) []byte {
	t.Helper()
	const label = "CLIENT_TRAFFIC_SECRET_0 "
	_, rest, _ := strings.Cut(keyLog, label)
	line, _, _ := strings.Cut(rest, "\n")
	_, digits, _ := strings.Cut(line, " ")
	secret, err := hex.DecodeString(digits)
	if err != nil || len(secret) == 0 {
		t.Fatalf("no secret in the log %q: %v", keyLog, err)
	}
	expand := func(label string, size int) []byte {
		label = "tls13 " + label
		info := binary.BigEndian.AppendUint16(nil, uint16(size))
		info = append(append(append(info, byte(len(label))), label...), 0)
		b, err := hkdf.Expand(sha256.New, secret, string(info), size)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	block, err := aes.NewCipher(expand("key", 16))
	if err != nil {
		t.Fatal(err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		t.Fatal(err)
	}
	nonce := expand("iv", aead.NonceSize())
	for i, b := range binary.BigEndian.AppendUint64(nil, number) {
		nonce[len(nonce)-8+i] ^= b
	}
	const handshake, applicationData, keyUpdate, requested = 22, 23, 24, 1
	message := []byte{keyUpdate, 0, 0, 1, requested, handshake}
	header := []byte{applicationData, 3, 3, 0, byte(len(message) + aead.Overhead())}
	return aead.Seal(header, nonce, message, header)
}
