package transporttest

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/transport"
)

// childVar is set in the environment of a child process, to the subject's name.
const childVar = "DMEBENCH_TRANSPORTTEST_SUBJECT"

// childOrder is what a child is told first. It answers with its address.
type childOrder struct {
	Config transport.Config
	Talks  bool // sends a frame to node 1 from each of its nodes, unasked
	Echoes bool // sends each frame back
}

// Main runs a package's tests, or a peer of a test where this process was
// started as one. Its result is the exit code.
func Main(m *testing.M, subjects ...Subject) int {
	name := os.Getenv(childVar)
	if name == "" {
		return m.Run()
	}
	for _, s := range subjects {
		if s.Name == name {
			if err := serveChild(s, os.Stdin, os.Stdout); err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 1
			}
			return 0
		}
	}
	fmt.Fprintf(os.Stderr, "transporttest: no subject %q\n", name)
	return 1
}

// serveChild is a peer process: order in, address out, book in; from then on a
// line for each frame received, until standard input ends.
func serveChild(s Subject, stdin io.Reader, stdout io.Writer) error {
	in, out := json.NewDecoder(stdin), json.NewEncoder(stdout)
	var order childOrder
	if err := in.Decode(&order); err != nil {
		return err
	}
	tr, err := s.Open(order.Config, Knobs{})
	if err != nil {
		return err
	}
	defer tr.Close()
	if err := out.Encode(tr.Addr()); err != nil {
		return err
	}
	var book transport.AddressBook
	if err := in.Decode(&book); err != nil {
		return err
	}
	var mu sync.Mutex
	err = tr.Start(book, handler{frame: func(from, to dme.NodeID, b []byte) {
		if order.Echoes {
			tr.Send(to, from, b)
		}
		mu.Lock()
		defer mu.Unlock()
		out.Encode(to)
	}})
	if err != nil {
		return err
	}
	if order.Talks {
		for _, from := range order.Config.Local {
			if err := tr.Send(from, 1, []byte("hello")); err != nil {
				return err
			}
		}
		tr.Flush()
	}
	io.Copy(io.Discard, stdin)
	return nil
}

// child is a peer process.
type child struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	in    *json.Encoder
	out   *json.Decoder
}

// startChild starts a peer process and returns it with its address.
func startChild(t *testing.T, s Subject, order childOrder) (*child, string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// Without Main, the child would be an ordinary run of no tests.
	cmd := exec.Command(exe, "-test.run=^$")
	cmd.Env = append(os.Environ(), childVar+"="+s.Name)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &child{cmd, stdin, json.NewEncoder(stdin), json.NewDecoder(stdout)}
	t.Cleanup(func() {
		stdin.Close()
		cmd.Process.Kill()
		cmd.Wait()
	})
	if err := c.in.Encode(order); err != nil {
		t.Fatal(err)
	}
	var addr string
	if err := c.out.Decode(&addr); err != nil {
		t.Fatalf("no address from the child process: %v; does TestMain call transporttest.Main?", err)
	}
	return c, addr
}

// received waits until the child says that it has received a frame.
func (c *child) received(t *testing.T) {
	t.Helper()
	var to dme.NodeID
	if err := c.out.Decode(&to); err != nil {
		t.Fatalf("the child process has received nothing: %v", err)
	}
}

// testDeath kills peer processes that have connections from, to, and both from
// and to this one. Each must be noticed, once for each node, and no other.
func testDeath(t *testing.T, s Subject) {
	for _, c := range []struct {
		name                string
		sends, talks, echos bool
	}{
		{"we send", true, false, false},
		{"it sends", false, true, false},
		{"both send", true, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			key := NewKey()
			config := func(ids ...dme.NodeID) transport.Config {
				return transport.Config{Listen: "127.0.0.1:0", Local: ids, Nodes: 3, Key: key}
			}
			tr, err := s.Open(config(1), Knobs{Silence: time.Second})
			if err != nil {
				t.Fatal(err)
			}
			defer tr.Close()
			peer, addr := startChild(t, s, childOrder{Config: config(2, 3), Talks: c.talks, Echoes: c.echos})
			book := transport.AddressBook{tr.Addr(), addr, addr}

			arrived := make(chan dme.NodeID, 10)
			down := make(chan dme.NodeID, 10)
			if err := tr.Start(book, handler{
				func(from, _ dme.NodeID, _ []byte) { arrived <- from },
				func(peer dme.NodeID, err error) {
					if err == nil {
						t.Error("Down without an error")
					}
					down <- peer
				},
			}); err != nil {
				t.Fatal(err)
			}
			if err := peer.in.Encode(book); err != nil {
				t.Fatal(err)
			}
			if c.sends {
				if err := tr.Send(1, 2, []byte("hello")); err != nil {
					t.Fatal(err)
				}
				tr.Flush()
				peer.received(t)
			}
			if c.talks || c.echos {
				await(t, s, "a frame of the child process", arrived)
			}
			if err := peer.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			times := make(map[dme.NodeID]int)
			times[await(t, s, "Down", down)]++
			times[await(t, s, "Down", down)]++
			for range 10 { // to the dead, which is no error
				if err := tr.Send(1, 2, []byte("hello")); err != nil {
					t.Errorf("Send to a dead node: %v", err)
				}
				tr.Flush()
			}
			tr.Close()
			close(down)
			for peer := range down {
				times[peer]++
			}
			if len(times) != 2 || times[2] != 1 || times[3] != 1 {
				t.Errorf("Down was called so often, by node: %v; want once for 2 and 3", times)
			}
		})
	}
}
