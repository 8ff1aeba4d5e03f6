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
	"strings"
	"testing"

	"dmebench/dme"
	"dmebench/transport"
	"dmebench/transport/frame"
	"dmebench/transport/transporttest"
)

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
	write(t, conn, frame.Append(nil, 2, 1, []byte("before"))) // the third
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
