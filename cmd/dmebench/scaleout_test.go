package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"dmebench/internal/testkit"
)

// jetStream starts a server of NATS that can store, and returns its URL.
func jetStream(t *testing.T) string {
	t.Helper()
	return serve(t, server.Options{Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(), MaxPayload: 8 << 20}).ClientURL()
}

// broker starts a server of NATS; port -1 is any.
func broker(t *testing.T, port int) *server.Server {
	t.Helper()
	return serve(t, server.Options{Port: port})
}

// serve starts a server of NATS on the loopback, until the end of the test.
func serve(t *testing.T, o server.Options) *server.Server {
	t.Helper()
	o.Host, o.NoLog, o.NoSigs = "127.0.0.1", true, true
	s, err := server.NewServer(&o)
	if err != nil {
		t.Fatal(err)
	}
	go s.Start()
	if !s.ReadyForConnections(30 * time.Second) {
		t.Fatal("the server does not come up")
	}
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	return s
}

// agents are processes 'dmebench agent', some of which are killed.
type agents struct {
	t    *testing.T
	url  string
	made int
	all  []*run
}

func startAgents(t *testing.T, url string, count int) *agents {
	t.Helper()
	a := &agents{t: t, url: url}
	for range count {
		a.all = append(a.all, a.start())
	}
	return a
}

func (a *agents) start() *run {
	a.made++
	return start(a.t, a.t.TempDir(), "agent", "--nats-url", a.url, "--name", fmt.Sprint("host", a.made))
}

// killSome kills agents at random moments, each of which has another in its place at
// once. It returns when that is done.
func (a *agents) killSome(seed uint64, kills int) {
	rng := rand.New(rand.NewPCG(seed, 17))
	for range kills {
		time.Sleep(time.Duration(rng.Int64N(int64(time.Second)))) // a random moment
		k := rng.IntN(len(a.all))
		a.all[k].cmd.Process.Kill()
		<-a.all[k].ended
		a.all[k] = a.start()
	}
}

// whileKilling calls do again and again until some agents have been killed meanwhile.
func whileKilling(t *testing.T, url string, do func()) {
	t.Helper()
	kills := effort(1, 4, 20)
	a := startAgents(t, url, 2)
	killed := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		defer close(killed)
		a.killSome(uint64(kills), kills)
	})
	times := 0
	for over := false; !over; times++ {
		do()
		select {
		case <-killed:
			over = true
		default:
		}
	}
	group.Wait()
	t.Logf("done %d times while %d agents were killed", times, kills)
}

const simulations = `
schema_version: 1
name: simulations
algorithms: [maekawa, ricart-agrawala, {name: raymond, set: {tree: "file:tree"}}]
nodes: [31]
transports: [sim, {name: sim, set: {delay: exponential}, label: sim-exponential}]
workloads: [{name: saturate, cs: 1ms, requests_per_node: 40}, {name: poisson, total_rate: 200, cs: 1ms, requests_per_node: 40}]
repetitions: 4
seed: 5
`

// sweepIn runs the simulations in a folder of their own and returns what is stored, but
// for the line that says when they were begun.
func sweepIn(t *testing.T, args ...string) string {
	t.Helper()
	dir := t.TempDir()
	tree := new(bytes.Buffer) // one that only this file says
	for id := 2; id <= 31; id++ {
		fmt.Fprintln(tree, id-1, id)
	}
	for name, text := range map[string]string{"e.yaml": simulations, "tree": tree.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r := start(t, dir, append([]string{"sweep", "-f", "e.yaml", "--quiet"}, args...)...)
	if code := r.wait(longest); code != 0 {
		t.Fatalf("%v ended with %d:\n%s%s", args, code, r.stdout.String(), r.stderr.String())
	}
	b, err := os.ReadFile(filepath.Join(dir, "results", "simulations", "latest", "runs.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	_, runs, _ := strings.Cut(string(b), "\n")
	return runs
}

// A sweep of simulations that agents carry out stores what one on this host alone does,
// byte for byte, while agents are killed at any moment.
func TestSweepByAgents(t *testing.T) {
	t.Parallel()
	want := sweepIn(t)
	if n := strings.Count(want, "\n"); n < 30 {
		t.Fatalf("%d runs:\n%.2000s", n, want)
	}
	url := jetStream(t)
	whileKilling(t, url, func() {
		if got := sweepIn(t, "--agents", url); got != want {
			at := 0
			for at < min(len(got), len(want)) && got[at] == want[at] {
				at++
			}
			t.Errorf("%d bytes, want %d; from byte %d on they differ: %.500q, want %.500q", len(got), len(want), at, got[at:], want[at:])
		}
	})
}

// checkIn searches in a folder of its own and returns what is printed, but for how long it
// took and how many took part, and the counterexample's picture.
func checkIn(t *testing.T, args ...string) (printed map[string]any, picture string) {
	t.Helper()
	dir := t.TempDir()
	alone := func(name string, args ...string) *exec.Cmd {
		return exec.Command("env", append([]string{"GOMAXPROCS=1", name}, args...)...)
	}
	r := startBy(t, alone, dir, append([]string{"check", "--quiet", "--json"}, args...)...)
	if code := r.wait(longest); code > 1 {
		t.Fatalf("%v ended with %d:\n%s", args, code, r.stderr.String())
	}
	if err := json.Unmarshal(r.stdout.Bytes(), &printed); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"elapsed_s", "per_second", "workers"} {
		if _, there := printed[key]; !there {
			t.Errorf("there is no %s in %v", key, printed)
		}
		delete(printed, key)
	}
	if name, ok := printed["svg"].(string); ok && name != "" {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		picture = string(b)
	}
	return printed, picture
}

// A search that agents carry out finds the same, with the same counterexample, and counts
// the same, as one worker on this host, while agents are killed at any moment.
func TestCheckByAgents(t *testing.T) {
	testkit.TakesLong(t)
	t.Parallel()
	url := jetStream(t)
	searches := []string{
		"-a maekawa -n 7 --schedules 20000 --seed 3",
		"-a lamport -n 3 --requests 6 --fifo=false --seed 40 --schedules 100000",
	}
	whileKilling(t, url, func() {
		for i, line := range searches {
			args := strings.Fields(line)
			want, wantPicture := checkIn(t, args...)
			got, gotPicture := checkIn(t, append(args, "--agents", url)...)
			if !maps.EqualFunc(got, want, func(a, b any) bool { return fmt.Sprint(a) == fmt.Sprint(b) }) || gotPicture != wantPicture {
				t.Errorf("%s:\n%v\nwant\n%v", line, got, want)
			}
			if broken := want["status"] != "ok"; broken != (i == 1) || broken != (wantPicture != "") {
				t.Errorf("%s: %v", line, want)
			}
		}
	})
}

// Verdicts rest on the same runs, whoever carries them out.
func TestValidateByAgents(t *testing.T) {
	testkit.TakesLong(t)
	t.Parallel()
	url := jetStream(t)
	startAgents(t, url, 2)
	verdicts := func(args ...string) string {
		r := start(t, t.TempDir(), append([]string{"validate", "--quick", "-a", "naimi-trehel", "--json", "--quiet"}, args...)...)
		if code := r.wait(2 * longest); code != 0 {
			t.Fatalf("%v ended with %d:\n%s", args, code, r.stderr.String())
		}
		var d map[string]any
		if err := json.Unmarshal(r.stdout.Bytes(), &d); err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"started", "elapsed_seconds", "environment"} {
			if _, there := d[key]; !there {
				t.Errorf("there is no %s in %v", key, d)
			}
			delete(d, key)
		}
		if left, _ := d["runs_left_out"].(float64); left > 0 {
			t.Skipf("this machine is too slow for the budget of --quick: %v runs were left out", left)
		}
		b, err := json.MarshalIndent(d, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if got, want := verdicts("--agents", url), verdicts(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
