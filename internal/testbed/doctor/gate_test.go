package doctor

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"dmebench/internal/testkit"
)

func TestMain(m *testing.M) {
	testkit.Beside(16)
	os.Exit(m.Run())
}

var testKey = bytes.Repeat([]byte{7}, 32)

func testGate(t *testing.T, name string, key []byte) *Gate {
	t.Helper()
	g, err := OpenGate("127.0.0.1:0", name, key)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g
}

func reach(g *Gate, to Doors, count int) Path {
	return g.ReachAll(context.Background(), []Doors{to}, count)[0]
}

func TestGate(t *testing.T) {
	t.Parallel()
	a, b := testGate(t, "a", testKey), testGate(t, "b", testKey)
	p := reach(a, b.Doors(), 20)
	if p.From != "a" || p.To != "b" || p.TCP.Lost != 0 || p.TCP.Sent != 20 || p.TCP.RTTMedian <= 0 || p.UDP.Sent != 20 {
		t.Errorf("%+v", p)
	}
	if six, err := OpenGate("[::1]:0", "six", testKey); err == nil { // of a host that has IPv6
		defer six.Close()
		if p := reach(six, six.Doors(), 3); !p.TCP.Passes() || !p.UDP.Passes() {
			t.Errorf("%+v", p)
		}
	}
	// Both have the clock of this host.
	if p.OffsetNS == nil || max(*p.OffsetNS, -*p.OffsetNS) > *p.BoundNS {
		t.Errorf("%+v of one clock", p)
	}
}

// TestGatesRefuse: who has another key, or is another host, gets nothing and passes for
// nobody; so does who says nothing, or nonsense.
func TestGatesRefuse(t *testing.T) {
	t.Parallel()
	a, b := testGate(t, "a", testKey), testGate(t, "b", testKey)
	stranger := testGate(t, "a", bytes.Repeat([]byte{8}, 32))
	for _, c := range []struct {
		name string
		from *Gate
		to   Doors
	}{
		{"a stranger asks", stranger, b.Doors()},
		{"a stranger answers", a, stranger.Doors()},
		{"another host answers", a, Doors{Name: "c", TCP: b.Doors().TCP, UDP: b.Doors().UDP}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := reach(c.from, c.to, 3)
			if p.TCP.Passes() || p.UDP.Passes() || p.TCP.Error == "" || p.UDP.Error == "" || p.OffsetNS != nil {
				t.Errorf("%+v", p)
			}
		})
	}
	for _, what := range []string{"", "GET / HTTP/1.1\r\n\r\n" + strings.Repeat("x", 100)} {
		t.Run(fmt.Sprintf("%d bytes", len(what)), func(t *testing.T) {
			t.Parallel()
			conn, err := net.Dial("tcp", b.Doors().TCP)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(time.Minute))
			if _, err := io.WriteString(conn, what); err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(conn)
			if errors.Is(err, os.ErrDeadlineExceeded) || len(got) > 0 {
				t.Errorf("%d bytes, %v", len(got), err)
			}
		})
	}
}

// TestImpostor: somebody who takes any proof, and answers at random, passes for no host.
func TestImpostor(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write(make([]byte, 10*sha256.Size))
			_, _ = io.Copy(io.Discard, conn)
			conn.Close()
		}
	}()
	a := testGate(t, "a", testKey)
	to := Doors{Name: "b", TCP: l.Addr().String(), UDP: a.Doors().UDP}
	if p := reach(a, to, 3); p.TCP.Passes() || p.TCP.Error != "another program answers at this address" {
		t.Errorf("%+v", p)
	}
}

// TestCloseEndsGuests: a gate that closes waits for nobody.
func TestCloseEndsGuests(t *testing.T) {
	t.Parallel()
	b := testGate(t, "b", testKey)
	conn, err := net.Dial("tcp", b.Doors().TCP)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	begin := time.Now()
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if time.Since(begin) >= patience {
		t.Error("it has waited for a guest")
	}
	if err := b.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	p := reach(testGate(t, "a", testKey), b.Doors(), 1)
	if p.TCP.Passes() || p.TCP.Reason == "" || p.UDP.Passes() || p.UDP.Reason == "" {
		t.Errorf("%+v of a gate that is closed", p)
	}
}
