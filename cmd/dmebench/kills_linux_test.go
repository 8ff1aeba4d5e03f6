package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"dmebench/internal/testkit"
	"dmebench/runs"
)

// kept reads the results that a run has kept in a folder.
func kept(t *testing.T, dir string) []*runs.Result {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all []*runs.Result
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		r, err := decode(b)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, r)
	}
	return all
}

// Workers are killed at random moments, by nobody whom the program knows. Each run
// ends soon, with exit code 2 and a result that names the node, or as if nothing had
// been where it was over; and leaves nothing behind.
func TestKilledWorkers(t *testing.T) {
	t.Parallel()
	kills := effort(3, 10, 200)
	const nodes = 4
	rng := rand.New(rand.NewPCG(uint64(kills), 6))
	outcomes := make(map[runs.Status]int) // also of runs that were over before anybody could be killed
	for k := 0; k < kills; {
		network := []string{"tcp", "udp", "nats"}[k%3]
		before := shared(t)
		r := start(t, t.TempDir(), "run", "-a", "suzuki-kasami", "-n", fmt.Sprint(nodes), "--transport", network,
			"--duration", "300ms", "--json", "--quiet", "--out", "results")
		pids := r.awaitWorkers(1 + rng.IntN(nodes))
		select {
		case <-time.After(time.Duration(rng.Int64N(int64(700 * time.Millisecond)))):
		case <-r.ended:
		}
		had := sockets(r.processes())
		if len(pids) > 0 {
			// Its number may be another process's by now only if it has ended.
			if pid := pids[rng.IntN(len(pids))]; slices.Contains(r.workers(), pid) {
				switch err := syscall.Kill(pid, syscall.SIGKILL); err {
				case nil:
					k++
				case syscall.ESRCH:
				default:
					t.Fatal(err)
				}
			}
		}
		code := r.wait(soonEnough)
		r.leavesNothing(had, before)
		x := r.result()
		outcomes[x.Status]++
		switch {
		case code == 0 && x.Status == runs.OK && x.Safety.Violations == 0 && x.Entries > 0:
		case code == 2 && x.Status == runs.Failed && len(x.FailedNodes) == 1 && x.Error != "":
		default:
			t.Errorf("kill %d, over %s: exit code %d, %s, failed nodes %v: %s\n%s", k, network, code, x.Status, x.FailedNodes, x.Error,
				r.stderr.Bytes())
		}
		if files := kept(t, filepath.Join(r.dir, "results")); len(files) != 1 || files[0].Status != x.Status {
			t.Errorf("kill %d, over %s: %d results were kept", k, network, len(files))
		}
	}
	t.Logf("%v", outcomes)
}

const killedSweep = `schema_version: 1
name: killed
algorithms: [ricart-agrawala, suzuki-kasami]
nodes: [3]
transports: [%s]
workloads: [{name: saturate, cs: 100us, requests: 300}]
repetitions: 3
`

// Coordinators are killed at random moments of a sweep. Their workers end, and the
// sweep goes on with exactly the runs that are missing.
func TestKilledCoordinators(t *testing.T) {
	testkit.TakesLong(t)
	kills := effort(0, 4, 50)
	const cells = 6
	rng := rand.New(rand.NewPCG(uint64(kills), 7))
	for k := range kills {
		network := []string{"tcp", "udp", "nats"}[k%3]
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "killed.yaml"), fmt.Appendf(nil, killedSweep, network), 0o644); err != nil {
			t.Fatal(err)
		}
		before := shared(t)
		r := start(t, dir, "sweep", "-f", "killed.yaml", "--quiet")
		r.awaitWorkers(1 + rng.IntN(3))
		time.Sleep(time.Duration(rng.Int64N(int64(1500 * time.Millisecond))))
		had := sockets(r.processes())
		if err := r.cmd.Process.Kill(); err != nil {
			t.Logf("kill %d came too late: %v", k, err)
		}
		r.wait(soonEnough)
		r.leavesNothing(had, before)

		runs := filepath.Join(dir, "results", "killed", "latest", "runs.jsonl")
		there := wholeLines(t, runs)
		again := start(t, dir, "sweep", "-f", "killed.yaml", "--quiet")
		if code := again.wait(longest); code != 0 || !strings.Contains(again.stdout.String(), fmt.Sprintf("%d runs: %d ok", cells, cells)) {
			t.Errorf("kill %d, over %s: the sweep ended with %d: %s%s", k, network, code, again.stdout.Bytes(), again.stderr.Bytes())
		}
		again.leavesNothing(nil, before)
		now := wholeLines(t, runs)
		if len(now) != 1+cells {
			t.Errorf("kill %d, over %s: %d lines for %d runs", k, network, len(now), cells)
		}
		if len(there) > len(now) || !bytes.Equal(bytes.Join(there, nil), bytes.Join(now[:len(there)], nil)) {
			t.Errorf("kill %d, over %s: of %d lines that were there before some are gone or others", k, network, len(there))
		}
		t.Logf("kill %d, over %s: %d of %d runs were there", k, network, max(0, len(there)-1), cells)
	}
}

// wholeLines reads the lines of a file that are complete; none where there is no file.
func wholeLines(t *testing.T, name string) [][]byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var lines [][]byte
	for line := range bytes.Lines(b) {
		if bytes.HasSuffix(line, []byte("\n")) {
			lines = append(lines, line)
		}
	}
	return lines
}

// A process that is stopped for longer than a stall takes, by nobody whom the
// program knows, is none of the algorithm's: a worker, or the coordinator.
func TestStoppedProcesses(t *testing.T) {
	testkit.TakesLong(t)
	const stop = 2500 * time.Millisecond
	for _, who := range []string{"a worker", "the coordinator"} {
		for _, network := range []string{"tcp", "udp", "nats"} {
			t.Run(who+" over "+network, func(t *testing.T) {
				t.Parallel()
				before := shared(t)
				r := start(t, t.TempDir(), "run", "-a", "suzuki-kasami", "-n", "4", "--transport", network, "--duration", "5s",
					"--stall-after", "500ms", "--json", "--quiet")
				pids := r.awaitWorkers(4)
				r.awaitEntries(pids[0], 4)
				pid := r.cmd.Process.Pid
				if who == "a worker" {
					pid = pids[1]
				}
				had := sockets(r.processes())
				for _, s := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGCONT} {
					if err := syscall.Kill(pid, s); err != nil {
						t.Fatal(err)
					}
					if s == syscall.SIGSTOP {
						time.Sleep(stop)
					}
				}
				code := r.wait(time.Minute)
				r.leavesNothing(had, before)
				x := r.result()
				if code != 0 || x.Status != runs.OK || x.Entries == 0 || x.Safety.Violations != 0 {
					t.Errorf("exit code %d, %s: %s; warnings %q", code, x.Status, x.Error, x.Warnings)
				}
				if !slices.ContainsFunc(x.Warnings, func(w string) bool {
					return strings.Contains(w, "did not run") && (who == "a worker" || strings.Contains(w, who))
				}) {
					t.Errorf("nobody says that %s did not run: %q", who, x.Warnings)
				}
			})
		}
	}
}
