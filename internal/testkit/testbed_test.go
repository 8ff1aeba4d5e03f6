package testkit

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The test's own program is what runs on the hosts.
func TestMain(m *testing.M) {
	if len(os.Args) < 2 {
		os.Exit(m.Run())
	}
	var err error
	switch os.Args[1] {
	case "echo":
		err = echo(os.Args[2])
	case "ping":
		err = ping(os.Args[2], os.Args[3])
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// echo returns every datagram to its sender, and says where it listens.
func echo(address string) error {
	conn, err := net.ListenPacket("udp4", address+":0")
	if err != nil {
		return err
	}
	fmt.Println(conn.LocalAddr())
	b := make([]byte, 1500)
	for {
		n, from, err := conn.ReadFrom(b)
		if err != nil {
			return err
		}
		// While the link is cut nothing can be sent; the datagram is lost.
		_, _ = conn.WriteTo(b[:n], from)
	}
}

// line is the next line that a program says.
func line(t *testing.T, r *bufio.Reader) string {
	t.Helper()
	s, err := r.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(s)
}

// ping sends datagrams to an echo until one comes back.
func ping(address, patience string) error {
	limit, err := time.ParseDuration(patience)
	if err != nil {
		return err
	}
	conn, err := net.Dial("udp4", address)
	if err != nil {
		return err
	}
	b := make([]byte, 1500)
	for end := time.Now().Add(limit); time.Now().Before(end); {
		// If a link is cut, both calls may fail, at once or later.
		_, _ = conn.Write([]byte("hello"))
		_ = conn.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
		if n, err := conn.Read(b); err == nil && string(b[:n]) == "hello" {
			return nil
		}
	}
	return errors.New("not reached")
}

// reaches reports whether a datagram from a host comes back from elsewhere.
func reaches(t *testing.T, h *Host, address string, patience time.Duration) bool {
	t.Helper()
	out, err := h.Command(os.Args[0], "ping", address, patience.String()).CombinedOutput()
	if err != nil && string(out) != "not reached\n" {
		t.Fatalf("%s: %v\n%s", h.Name, err, out)
	}
	return err == nil
}

func TestHostsReachEachOther(t *testing.T) {
	bed := NewTestbed(t, 3)
	var at []string
	for _, h := range bed.Hosts {
		out := said(h.Self("echo", h.Address))
		at = append(at, line(t, out))
		if !strings.HasPrefix(at[len(at)-1], h.Address+":") {
			t.Errorf("%s listens at %s", h.Name, at[len(at)-1])
		}
		name, err := h.Command("hostname").Output()
		if err != nil || strings.TrimSpace(string(name)) != h.Name {
			t.Errorf("%s has the name %q (%v)", h.Name, name, err)
		}
	}
	for _, h := range bed.Hosts {
		for j, to := range at {
			if !reaches(t, h, to, time.Minute) {
				t.Errorf("%s does not reach h%d at %s", h.Name, j+1, to)
			}
		}
	}
}

func TestCutAndMend(t *testing.T) {
	bed := NewTestbed(t, 3)
	out := said(bed.Host(1).Self("echo", bed.Host(1).Address))
	at := line(t, out)

	bed.Host(2).Cut()
	// Silence cannot be waited for; what arrives can. Host 3 still reaches host 1, and
	// far later than a datagram of host 2 would have.
	if reaches(t, bed.Host(2), at, 200*time.Millisecond) {
		t.Error("host 2 reaches host 1 over a link that is cut")
	}
	if !reaches(t, bed.Host(3), at, time.Minute) {
		t.Error("host 3 does not reach host 1, and only host 2's link is cut")
	}
	bed.Host(2).Mend()
	if !reaches(t, bed.Host(2), at, time.Minute) {
		t.Error("host 2 does not reach host 1 over a link that is mended")
	}
}

// Hosts and their processes are gone after the test, and two testbeds of the same
// addresses know nothing of each other.
func TestGoneAfterwards(t *testing.T) {
	var out *bufio.Reader
	var first, second *Host
	t.Run("test", func(t *testing.T) {
		first, second = NewTestbed(t, 1).Host(1), NewTestbed(t, 1).Host(1)
		cmd := first.Command(os.Args[0], "echo", first.Address)
		pipe, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		out = bufio.NewReader(pipe)
		if at := line(t, out); reaches(t, second, at, 200*time.Millisecond) {
			t.Error("a testbed reaches another")
		}
	})
	if out == nil {
		t.Skip("no hosts of one's own here")
	}
	if rest, err := io.ReadAll(out); err != nil || len(rest) > 0 {
		t.Errorf("the process has not just ended: %q, %v", rest, err)
	}
	for _, h := range []*Host{first, second} {
		for _, dir := range []string{netns, uts} {
			if left, _ := filepath.Glob(filepath.Join(dir, h.bed+"-*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		}
	}
}

// waitFor waits until a process has said something, and lets it go on talking.
func waitFor(t *testing.T, r io.Reader, words string) {
	t.Helper()
	lines := bufio.NewScanner(r)
	var said strings.Builder
	for lines.Scan() {
		fmt.Fprintln(&said, lines.Text())
		if strings.Contains(lines.Text(), words) {
			go func() { _, _ = io.Copy(io.Discard, r) }()
			return
		}
	}
	t.Fatalf("it has ended without %q:\n%s", words, &said)
}

// said is what a program says, by lines.
func said(_ io.Writer, out io.Reader) *bufio.Reader { return bufio.NewReader(out) }
