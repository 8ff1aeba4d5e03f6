package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dmebench/internal/platform"
	"dmebench/runs"
)

// A broker restarts while a run goes on over it. What was on its way is lost with
// it: the run ends, says so, and leaves nothing behind; the next one holds.
func TestABrokerThatRestarts(t *testing.T) {
	t.Parallel()
	port, err := platform.FreePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	s := broker(t, port[0])
	before := shared(t)
	args := []string{"run", "-a", "suzuki-kasami", "-n", "4", "--transport", "nats", "--nats-url", s.ClientURL(), "--json", "--quiet"}
	r := start(t, t.TempDir(), append(args, "--duration", "60s", "--out", "results")...)
	r.awaitWorkers(4)
	for deadline := time.Now().Add(time.Minute); s.NumClients() < 4; {
		if time.Now().After(deadline) {
			t.Fatalf("%d clients of the broker", s.NumClients())
		}
		time.Sleep(time.Millisecond)
	}
	time.Sleep(time.Second) // into the workload, or before it: either has to be borne
	had := sockets(r.workers())
	s.Shutdown()
	s.WaitForShutdown()
	s = broker(t, port[0])
	code := r.wait(time.Minute)
	r.leavesNothing(had, before)
	x := r.result()
	if code != 2 || x.Status != runs.Failed || !strings.Contains(x.Error, "nats: ") {
		t.Errorf("exit code %d, %s: %s", code, x.Status, x.Error)
	}
	if files := kept(t, filepath.Join(r.dir, "results")); len(files) != 1 || files[0].Status != x.Status {
		t.Errorf("%d results were kept", len(files))
	}
	again := start(t, t.TempDir(), append(args, "--requests", "40")...)
	if code := again.wait(longest); code != 0 || again.result().Status != runs.OK {
		t.Errorf("exit code %d: %s", code, again.stderr.Bytes())
	}
	if n := s.NumClients(); n != 0 {
		t.Errorf("%d clients are still connected", n)
	}
}
