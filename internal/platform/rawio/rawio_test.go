package rawio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"testing"
	"time"
)

// pair returns both ends of a connection.
func pair(t testing.TB) (a, b *Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	one, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	other, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { one.Close(); other.Close() })
	for c, to := range map[net.Conn]**Conn{one: &a, other: &b} {
		if *to, err = NewConn(c.(*net.TCPConn)); err != nil {
			t.Fatal(err)
		}
	}
	return a, b
}

// Writes that are far larger than what a socket takes at once arrive whole, in
// order, through reads of any size.
func TestEverythingArrives(t *testing.T) {
	a, b := pair(t)
	r := rand.New(rand.NewPCG(1, 2))
	var sent []byte
	for len(sent) < 12<<20 {
		sent = binary.LittleEndian.AppendUint64(sent, r.Uint64())
	}
	failed := make(chan error, 1)
	go func() {
		rest := sent
		for len(rest) > 0 {
			size := min(1+r.IntN(3<<20), len(rest))
			if n, err := a.Write(rest[:size]); n != size || err != nil {
				failed <- errors.Join(err, io.ErrShortWrite)
				return
			}
			rest = rest[size:]
		}
		failed <- a.CloseWrite()
	}()
	var got bytes.Buffer
	if _, err := io.CopyBuffer(&got, struct{ io.Reader }{b}, make([]byte, 100_000)); err != nil {
		t.Fatal(err)
	}
	if err := <-failed; err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), sent) {
		t.Errorf("%d bytes arrived, not the %d that were sent", got.Len(), len(sent))
	}
}

func TestEnds(t *testing.T) {
	a, b := pair(t)
	if n, err := a.Read(nil); n != 0 || err != nil {
		t.Errorf("reading nothing: %d, %v", n, err)
	}
	if n, err := a.Write(nil); n != 0 || err != nil {
		t.Errorf("writing nothing: %d, %v", n, err)
	}
	if err := a.SetReadDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("after the deadline: %v", err)
	}
	if err := a.SetReadDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() {
		_, err := a.Read(make([]byte, 1))
		ended <- err
	}()
	b.Close()
	if err := <-ended; err != io.EOF {
		t.Errorf("the peer has closed: %v", err)
	}
	a.Close()
	if _, err := a.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("reading when closed: %v", err)
	}
	if _, err := a.Write(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("writing when closed: %v", err)
	}
}

func TestResetIsAnError(t *testing.T) {
	a, b := pair(t)
	if err := b.SetLinger(0); err != nil {
		t.Fatal(err)
	}
	b.Close()
	if _, err := a.Read(make([]byte, 1)); err == nil || err == io.EOF {
		t.Errorf("reading after a reset: %v", err)
	}
	if n, err := a.Write(make([]byte, 1)); n != 0 || err == nil {
		t.Errorf("writing after a reset: %d, %v", n, err)
	}
}

// The scheduler's monitor is told now and then, and of every large call.
func TestSomeCallsAreOrdinary(t *testing.T) {
	if !available {
		t.Skip("all calls are ordinary here")
	}
	var c Calls
	ordinary := 0
	for range 10 * (inARow + 1) {
		if !c.Quick(1) {
			ordinary++
		}
	}
	if ordinary != 10 {
		t.Errorf("%d of %d calls are ordinary", ordinary, 10*(inARow+1))
	}
	if c.Quick(largest+1) || !c.Quick(largest) {
		t.Error("a large call is quick, or a small one is not")
	}
}

func TestNothingIsAllocated(t *testing.T) {
	a, b := pair(t)
	m := make([]byte, 32)
	if allocs := testing.AllocsPerRun(1000, func() {
		if _, err := a.Write(m); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(b, m); err != nil {
			t.Fatal(err)
		}
	}); allocs != 0 {
		t.Errorf("%v allocations for a message", allocs)
	}
}
