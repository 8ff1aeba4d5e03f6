package netns

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
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
	case "monotonic":
		err = monotonic()
	case "leave":
		err = leave()
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
	end := time.Now().Add(limit)
	b := make([]byte, 1500)
	for time.Now().Before(end) {
		// Where a link is cut, both calls may fail, at once or later.
		_, _ = conn.Write([]byte("hello"))
		if err := conn.SetReadDeadline(time.Now().Add(20 * time.Millisecond)); err != nil {
			return err
		}
		if n, err := conn.Read(b); err == nil && string(b[:n]) == "hello" {
			fmt.Println("reached")
			return nil
		}
	}
	fmt.Println("not reached")
	return nil
}

// reaches reports whether a datagram from a host comes back from elsewhere.
func reaches(t *testing.T, h *Host, address string, patience time.Duration) bool {
	t.Helper()
	out, err := h.Command(os.Args[0], "ping", address, patience.String()).CombinedOutput()
	if err != nil || (string(out) != "reached\n" && string(out) != "not reached\n") {
		t.Fatalf("%s: %v\n%s", h.Name, err, out)
	}
	return string(out) == "reached\n"
}

func TestHostsReachEachOther(t *testing.T) {
	bed := New(t, 3)
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
	bed := New(t, 3)
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
		first, second = New(t, 1).Host(1), New(t, 1).Host(1)
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

// leave makes a testbed with a process on it, says its name and ends like a test that
// is killed.
func leave() error {
	t := &killed{}
	h := New(t, 1).Host(1)
	cmd := h.Command("sleep", "1000")
	if err := cmd.Start(); err != nil {
		return err
	}
	fmt.Println(h.bed, cmd.Process.Pid)
	os.Exit(0)
	return nil
}

// killed is a test whose cleanup never runs.
type killed struct{ testing.TB }

func (*killed) Helper()                   {}
func (*killed) Cleanup(func())            {}
func (*killed) Logf(string, ...any)       {}
func (*killed) Skip(args ...any)          { panic(fmt.Sprint(args...)) }
func (*killed) Fatal(args ...any)         { panic(fmt.Sprint(args...)) }
func (*killed) Fatalf(f string, a ...any) { panic(fmt.Sprintf(f, a...)) }

func TestLeftoversAreRemoved(t *testing.T) {
	New(t, 1) // or skip
	out, err := exec.Command(os.Args[0], "leave").Output()
	if err != nil {
		t.Fatal(err)
	}
	var name string
	var pid int
	if _, err := fmt.Fscan(bytes.NewReader(out), &name, &pid); err != nil {
		t.Fatalf("%q: %v", out, err)
	}
	New(t, 1)
	// The test of another package may be removing it just now.
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		left, _ := filepath.Glob(filepath.Join(netns, name+"-*"))
		if len(left) == 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("still there: %v", left)
		}
	}
	// Whoever inherits it may not have collected it yet.
	if net, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", pid)); err == nil {
		t.Errorf("process %d is still there, in %s", pid, net)
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
