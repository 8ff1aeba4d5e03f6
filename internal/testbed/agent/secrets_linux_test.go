package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"dmebench/internal/platform/launch"
	"dmebench/internal/testkit"
	"dmebench/runs"
)

// eavesdropper stands before a server and keeps what passes, both ways.
type eavesdropper struct {
	net.Listener
	mu   sync.Mutex
	kept bytes.Buffer
}

func (e *eavesdropper) Write(b []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.kept.Write(b)
}

func (e *eavesdropper) heard(what string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return bytes.Contains(e.kept.Bytes(), []byte(what))
}

func eavesdrop(t *testing.T, to string) *eavesdropper {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e := &eavesdropper{Listener: l}
	t.Cleanup(func() { l.Close() })
	pass := func(to, from net.Conn) {
		defer to.Close()
		io.Copy(io.MultiWriter(to, e), from)
	}
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				in.Close()
				continue
			}
			go pass(out, in)
			go pass(in, out)
		}
	}()
	return e
}

// shownTo is what other users of a host, or its logs, can show of a process: its
// arguments, and its environment, which its user alone can read and programs hand on.
func shownTo(t *testing.T, pid int) (all []byte) {
	t.Helper()
	for _, file := range []string{"cmdline", "environ"} {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, file))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b...)
	}
	return all
}

// Neither the token nor anything that a run is led by can be read on the way to a server
// with TLS, and no process shows the token.
func TestSecretsOfADistributedRun(t *testing.T) {
	testkit.TakesLong(t)
	t.Parallel()
	for _, encrypted := range []bool{true, false} {
		_, b := serve(t, 0)
		if encrypted {
			b = serveTLS(t, newAuthority(t), time.Now(), time.Hour)
		}
		e := eavesdrop(t, b.URL[strings.Index(b.URL, "://")+3:])
		b.URL = "nats://" + e.Addr().String()
		agents := startAgents(t, b, "east", "west")
		fleet := connectFleet(t, b)
		var shown []byte
		r, err := leadOver(t.Context(), fleet, coordinatorConfig{Broker: b, Expect: 2, Spec: runs.Spec{
			Algorithm: "ricart-agrawala", Nodes: 4, Requests: 100, Set: map[string]string{"tls": "on"},
		}}, func(p launch.Process) { shown = append(shown, shownTo(t, p.PID())...) })
		if err != nil {
			t.Fatal(err)
		}
		if r.Status != runs.OK || r.Entries != 100 {
			t.Errorf("encrypted %v: %s: %s; %d entries", encrypted, r.Status, r.Error, r.Entries)
		}
		for _, secret := range []string{token, `"op":"assign"`, "ricart-agrawala"} {
			if e.heard(secret) == encrypted {
				t.Errorf("encrypted %v: %q can be read on the way: %v", encrypted, secret, !encrypted)
			}
		}
		if !e.heard("INFO {") {
			t.Error("what a server says of itself was not heard: nothing passed there")
		}
		for _, p := range agents {
			shown = append(append(shown, shownTo(t, p.PID())...), strings.Join(p.Stderr(), "\n")...)
		}
		line, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if shown = append(shown, line...); bytes.Contains(shown, []byte(token)) || !bytes.Contains(shown, []byte(agentCommand)) {
			t.Errorf("encrypted %v: the token is in an argument, the environment, a log or the result, or none was seen", encrypted)
		}
		for _, p := range agents {
			launch.End(soon, p)
		}
	}
}
