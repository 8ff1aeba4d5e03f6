package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"dmebench/runs"
)

// shared is output that is read while somebody writes.
type shared struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *shared) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *shared) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// served begins a command that serves a page, and returns where and how it is ended.
func served(t *testing.T, args ...string) (url string, end func() error) {
	t.Helper()
	var stderr shared
	p := tested()
	p.stderr = &stderr
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.carryOut(ctx, args) }()
	said := regexp.MustCompile(`page: (http://\S+)\n`)
	for said.FindStringSubmatch(stderr.String()) == nil {
		select {
		case err := <-ended:
			t.Fatalf("it ended before it served: %v", err)
		case <-time.After(time.Millisecond):
		}
	}
	return said.FindStringSubmatch(stderr.String())[1], func() error {
		cancel()
		return <-ended
	}
}

func fetch(t *testing.T, url string) string {
	t.Helper()
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// until fetches until the text is there.
func until(t *testing.T, url, want string) {
	t.Helper()
	for !strings.Contains(fetch(t, url), want) {
		select {
		case <-t.Context().Done():
			t.Fatalf("%s never says %q", url, want)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// A page is served while its runs come in, by whoever makes them or by another program,
// until it is told to end.
func TestServe(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "small.yaml")
	// As long a sweep as it takes.
	if err := os.WriteFile(file, []byte("schema_version: 1\nname: small\nalgorithms: [raymond]\nnodes: [3, 4]\ntransports: [sim]\n"+
		"workloads: [{name: serial, requests: 2000}]\nrepetitions: 1000\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "results")
	sweep, endSweep := served(t, "sweep", file, "--serve", "127.0.0.1:0", "--quiet", "--out", out)
	until(t, sweep+"metrics", "dmebench_sweep_runs_planned 2000\n")
	until(t, sweep, "small")
	until(t, sweep, `"live":"/events?`)

	report, endReport := served(t, "report", "--serve", "127.0.0.1:0", filepath.Join(out, "small"))
	until(t, report, "small")
	ok := regexp.MustCompile(`dmebench_sweep_runs{status="ok"} \d+`)
	for before := ok.FindString(fetch(t, report+"metrics")); ok.FindString(fetch(t, report+"metrics")) == before; {
		time.Sleep(10 * time.Millisecond)
	}
	if err := endSweep(); err != nil {
		t.Errorf("the sweep ends with %v", err)
	}
	// The page of a folder comes to show all that is there, however long it takes to make.
	set, err := runs.Read(filepath.Join(out, "small"))
	if err != nil {
		t.Fatal(err)
	}
	cell := 0 // the runs on three nodes
	for _, r := range set.Runs {
		if r.Result.Nodes == 3 {
			cell++
		}
	}
	until(t, report, fmt.Sprintf(`"runs":%d,`, cell))
	if err := endReport(); err != nil {
		t.Errorf("the report ends with %v", err)
	}
	if _, err := http.Get(report); err == nil {
		t.Error("it still serves")
	}
}

func TestServeAtAPortInUse(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	code, _, stderr := dmebench("sweep", "-a", "raymond", "-n", "3", "--serve", taken.Addr().String(), "--out", t.TempDir())
	if code != Unavailable || !strings.Contains(stderr, "choose another port") {
		t.Errorf("exit code %d, %q", code, stderr)
	}
}
