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

// Somebody on the way reads frames only if nothing is encrypted, and what was overheard
// from the first byte to the last opens no other connection.
func TestOverheardConnections(t *testing.T) {
	const frame = "a frame that anybody would notice"
	for _, e := range []Encryption{Off, Auto, On} { // the way is on the loopback
		way, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer way.Close()
		from := mustListen(t, transport.Config{Local: []dme.NodeID{1}, Nodes: 2, Key: testKey}, Options{Encryption: e})
		to := mustListen(t, transport.Config{Local: []dme.NodeID{2}, Nodes: 2, Key: testKey}, Options{Encryption: e})
		events := transporttest.NewEvents()
		for tr, h := range map[*Transport]transport.Handler{from: transporttest.NewEvents(), to: events} {
			if err := tr.Start(transport.AddressBook{from.Addr(), way.Addr().String()}, h); err != nil {
				t.Fatal(err)
			}
		}
		if err := from.Send(1, 2, []byte(frame)); err != nil {
			t.Fatal(err)
		}
		in, err := way.Accept()
		if err != nil {
			t.Fatal(err)
		}
		out := dialRaw(t, to)
		var said bytes.Buffer // by the dialer
		var both sync.WaitGroup
		both.Go(func() {
			io.Copy(out, io.TeeReader(in, &said))
			out.Close()
		})
		both.Go(func() { io.Copy(in, out) })
		if got := transporttest.Next(t, "the frame", events.Frames); got != "1>2 "+frame {
			t.Errorf("%s: delivered %q", e, got)
		}
		from.Close()
		both.Wait()
		if seen := bytes.Contains(said.Bytes(), []byte(frame)); seen != (e != On) {
			t.Errorf("%s: the frame is seen on the way: %v", e, seen)
		}
		again := dialRaw(t, to)
		again.Write(said.Bytes()) // may fail: refused already
		transporttest.Eventually(t, "the refusal", func() bool { return to.Counters().RefusedConns == 1 })
		if len(events.Frames)+len(events.Downs) > 0 {
			t.Errorf("%s: delivered again, or the end was no goodbye", e)
		}
	}
}

// A stranger gets nowhere at a listener that encrypts, and is counted.
func TestStrangersAtAListenerThatEncrypts(t *testing.T) {
	to := mustListen(t, transport.Config{Local: []dme.NodeID{1}, Nodes: 2, Key: testKey}, Options{Encryption: On})
	other := transporttest.NewKey()
	identity := func(key transport.Key, change func(*tls.Config)) *tls.Config {
		c, err := newIdentity(&key)
		if err != nil {
			t.Fatal(err)
		}
		change(c)
		return c
	}
	genuine := identity(testKey, func(*tls.Config) {})
	for name, c := range map[string]struct {
		identity *tls.Config // nil for plain text
		key      transport.Key
		admitted bool
	}{
		"one of the run":        {genuine, testKey, true},
		"plain":                 {nil, testKey, false},
		"without a certificate": {identity(testKey, func(c *tls.Config) { c.Certificates = nil }), testKey, false},
		"of another run":        {identity(other, func(c *tls.Config) { c.VerifyConnection = nil }), testKey, false},
		"with a certificate that it saw": {identity(other, func(c *tls.Config) {
			c.VerifyConnection = nil
			c.Certificates[0].Certificate = genuine.Certificates[0].Certificate
		}), testKey, false},
		"of an old version": {identity(testKey, func(c *tls.Config) {
			c.MinVersion, c.MaxVersion = tls.VersionTLS12, tls.VersionTLS12
		}), testKey, false},
		"with the inner key wrong": {genuine, other, false},
	} {
		conn := dialRaw(t, to)
		if c.identity != nil {
			conn = tls.Client(conn, c.identity)
		}
		refused := to.Counters().RefusedConns
		if err := introduce(conn, &c.key, ends{2, 1, 1, 1}); (err == nil) != c.admitted {
			t.Errorf("%s: %v", name, err)
		}
		conn.Close()
		if !c.admitted {
			transporttest.Eventually(t, "the refusal of one "+name, func() bool { return to.Counters().RefusedConns > refused })
		}
	}
}

// A process of the run that asks for new keys, to which TLS has the other side answer,
// is cut off: a process that asks and does not read would keep a reader waiting for
// ever. The library never asks, so the test makes the record (RFC 8446, 4.6.3, 5.2, 7.1).
func TestNewKeysAreRefused(t *testing.T) {
	to := mustListen(t, transport.Config{Local: []dme.NodeID{1}, Nodes: 2, Key: testKey}, Options{Encryption: On})
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
	if got := transporttest.Next(t, "a frame", events.Frames); got != "2>1 before" {
		t.Errorf("delivered %q", got)
	}
	if suite := conn.ConnectionState().CipherSuite; suite != tls.TLS_AES_128_GCM_SHA256 {
		t.Skipf("the record is made for AES-128 alone, and this is %s", tls.CipherSuiteName(suite))
	}
	write(t, raw, keyUpdate(t, secrets.String(), 3))
	if err := transporttest.Next(t, "Down", events.Downs); !strings.Contains(err.Error(), "connection lost") {
		t.Errorf("Down: %v", err)
	}
}

// keyUpdate is the record of that number from a client, which asks the server to change
// its keys as well.
func keyUpdate(t *testing.T, keyLog string, number uint64) []byte {
	t.Helper()
	_, rest, _ := strings.Cut(keyLog, "CLIENT_TRAFFIC_SECRET_0 ")
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
