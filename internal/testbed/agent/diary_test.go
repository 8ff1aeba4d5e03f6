package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	natsgo "github.com/nats-io/nats.go"

	"dmebench/algorithms"
	"dmebench/algorithms/maekawa"
	"dmebench/dme"
	"dmebench/internal/platform/clock"
	"dmebench/internal/platform/launch"
	"dmebench/internal/runtime/control"
	"dmebench/internal/runtime/coordinator"
	"dmebench/internal/runtime/run"
	"dmebench/internal/testkit"
	"dmebench/runs"
)

// diary is an algorithm, and its option that names the folder in which its nodes write
// down when they enter and leave, by the clock of the host.
const diary = "diary"

// known are the built-in ones and diary: maekawa, whose nodes keep a record that
// nothing of the program under test passes.
func known() run.Catalog {
	a := maekawa.Algorithm()
	a.Name = diary
	a.Options = append(a.Options, dme.Option{Name: diary, Default: "/", Valid: func(string) error { return nil }})
	prepare, survives := a.Prepare, a.Survives
	a.Prepare = func(c dme.Config) (dme.System, error) {
		s, err := prepare(c)
		return diarySystem{s, c.Options.Get(diary)}, err
	}
	peers, sets := a.Peers, a.RequestSet
	a.Peers = func(s dme.System, id dme.NodeID) []dme.NodeID { return peers(s.(diarySystem).System, id) }
	a.RequestSet = func(s dme.System, id dme.NodeID) []dme.NodeID { return sets(s.(diarySystem).System, id) }
	a.Remarks = nil
	a.Survives = func(s dme.Setting, down []dme.NodeID) bool {
		s.System = s.System.(diarySystem).System
		return survives(s, down)
	}
	a.Invariants, a.Claims = nil, nil
	return append(algorithms.All(), a)
}

type diarySystem struct {
	dme.System
	dir string
}

func (s diarySystem) Node(id dme.NodeID) dme.Node {
	return &diaryNode{s.System.Node(id), clock.New(), filepath.Join(s.dir, fmt.Sprint(id))}
}

// Unwrap returns maekawa's node.
func (n *diaryNode) Unwrap() dme.Node { return n.Node }

// diaryNode writes a line as a handler lets its process in, and as that has left.
type diaryNode struct {
	dme.Node
	clock *clock.Clock
	name  string // of the file
}

func (n *diaryNode) note(word string) {
	f, err := os.OpenFile(n.name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = fmt.Fprintf(f, "%s %d\n", word, n.clock.Now())
		f.Close()
	}
	if err != nil {
		panic(err)
	}
}

func (n *diaryNode) after(out *dme.Outbox) {
	for _, e := range out.Effects() {
		if e.Kind == dme.Enter {
			n.note("enter")
		}
	}
}

func (n *diaryNode) Request(out *dme.Outbox) { n.Node.Request(out); n.after(out) }
func (n *diaryNode) Release(out *dme.Outbox) { n.note("leave"); n.Node.Release(out) }
func (n *diaryNode) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	n.Node.Receive(from, m, out)
	n.after(out)
}
func (n *diaryNode) Down(p dme.NodeID, out *dme.Outbox) {
	n.Node.(dme.PeerWatcher).Down(p, out)
	n.after(out)
}
func (n *diaryNode) Up(p dme.NodeID, out *dme.Outbox) {
	n.Node.(dme.PeerWatcher).Up(p, out)
	n.after(out)
}
func (n *diaryNode) Restart(out *dme.Outbox) { n.Node.(dme.Restarter).Restart(out) }

// visit is a critical section of a diary; left is 0 where its node has not left it.
type visit struct {
	node          int
	entered, left int64
}

func readDiary(t *testing.T, dir string) (all []visit) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var node int
		fmt.Sscan(filepath.Base(name), &node)
		for line := range strings.Lines(string(b)) {
			var word string
			var at int64
			if _, err := fmt.Sscan(line, &word, &at); err != nil {
				t.Fatal(err)
			}
			if word == "enter" {
				all = append(all, visit{node: node, entered: at})
			} else {
				all[len(all)-1].left = at
			}
		}
	}
	return all
}

// diaryRun is a run of seven nodes on three hosts, in which node 1 stays inside for
// longer than a host may be silent, and node 3 asks meanwhile.
type diaryRun struct {
	agents []*launch.Child
	pids   []int // of the workers
	dir    string
	done   chan struct{}
	result *runs.Result
	err    error

	conn  *natsgo.Conn
	words string // the subject of what workers say unasked
}

// says has a worker say something to the coordinator.
func (r *diaryRun) says(t *testing.T, e control.Event) {
	t.Helper()
	b, err := json.Marshal(e)
	if err == nil {
		err = r.conn.Publish(r.words, b)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func beginDiary(t *testing.T) *diaryRun {
	t.Helper()
	const inside = lostAfter + 3*time.Second // and as long again for node 3: the run outlasts what a complaint is looked into
	r := &diaryRun{dir: t.TempDir(), done: make(chan struct{})}
	_, b := serve(t, 0)
	r.conn = raw(t, b)
	joined, err := r.conn.SubscribeSync("dmebench.*.up")
	if err == nil {
		err = r.conn.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	r.agents = startAgents(t, b, "a", "b", "c")
	t.Cleanup(func() { _ = r.agents[0].Resume() })
	fleet := connectFleet(t, b)
	trace := []byte("0,1\n0.5,3\n")
	read := func(string) ([]byte, error) { return trace, nil }
	job, err := run.Resolve(runs.Spec{
		Algorithm: diary, Nodes: 7, Workload: "trace", CS: inside.String(), StallAfter: runs.Duration(30 * time.Second),
		Set: map[string]string{"file": "trace.csv", diary: r.dir},
	}, known(), read)
	if err != nil {
		t.Fatal(err)
	}
	opt := coordinator.Options{
		Control: &b, Files: map[string][]byte{"trace.csv": trace},
		Started: func(p launch.Process) { r.pids = append(r.pids, p.PID()) },
	}
	for _, i := range discover(t, fleet, 3) {
		opt.Hosts = append(opt.Hosts, fleet.Host(i))
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer close(r.done)
		r.result, r.err = coordinator.Run(ctx, job, opt)
	}()
	t.Cleanup(func() {
		cancel()
		<-r.done
	})
	m, err := joined.NextMsg(soon)
	if err != nil {
		t.Fatal(err)
	}
	r.words = m.Subject
	until(t, "node 1 is inside", func() bool {
		select {
		case <-r.done:
			t.Fatalf("the run has ended: %v %+v", r.err, r.result)
		default:
		}
		return len(readDiary(t, r.dir)) > 0
	})
	return r
}

// An agent that stands still leaves its workers running. The others hear that these are
// down once they have ended: node 3 does not enter while node 1 is inside, and what
// the workers of that host have recorded is in the result. What they complain of does
// not end the run.
func TestWorkersOfASilentAgentEndBeforeOthersAreTold(t *testing.T) {
	testkit.TakesLong(t)
	t.Parallel()
	r := beginDiary(t)
	if err := r.agents[0].Pause(); err != nil {
		t.Fatal(err)
	}
	// What its workers cannot reach is not to blame.
	r.says(t, control.Event{Worker: 0, Peer: 2, Fatal: "node 2 can no longer be reached"})
	<-r.done
	all := readDiary(t, r.dir)
	if r.err != nil || r.result.Status != runs.OK || len(all) != 2 || r.result.Safety.Undecided != 0 {
		t.Fatalf("%v %+v, %+v", r.err, all, r.result)
	}
	first, second := all[0], all[1]
	if second.entered < first.left {
		t.Errorf("node %d entered %v before node %d left, and the result says %s: %+v", second.node,
			time.Duration(first.left-second.entered), first.node, r.result.Status, r.result.Safety)
	}
	if r.result.Requests != 2 || len(r.result.Faults) != 1 || r.result.Faults[0].Lost != 1 {
		t.Errorf("the request that ended with node 1 is not told: %d requests, %+v", r.result.Requests, r.result.Faults)
	}
	if w := strings.Join(r.result.Warnings, "\n"); !strings.Contains(w, "host a") || strings.Contains(w, "is lost with") {
		t.Errorf("warnings: %s", w)
	}
}

// Where the workers stand still as well, nobody can say that they have ended: what the
// others do from then on is undecided. Once a worker goes on it ends itself.
func TestEntriesAreUndecidedWhereNobodyKnowsOfTheEnd(t *testing.T) {
	testkit.TakesLong(t)
	t.Parallel()
	r := beginDiary(t)
	var stopped []int
	for _, k := range []int{0, 3, 6} { // nodes 1, 4 and 7 are on host a
		stopped = append(stopped, r.pids[k])
	}
	for _, pid := range stopped {
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.agents[0].Pause(); err != nil {
		t.Fatal(err)
	}
	until(t, "node 3 is inside", func() bool { return len(readDiary(t, r.dir)) == 2 })
	for _, pid := range stopped {
		if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
	}
	<-r.done
	if r.err != nil || r.result.Status != runs.Failed || r.result.Safety.Undecided != 1 || r.result.Safety.Violations != 0 {
		t.Fatalf("%v %+v", r.err, r.result)
	}
	if w := strings.Join(r.result.Warnings, "\n"); !strings.Contains(w, "host a") {
		t.Errorf("warnings: %s", w)
	}
	if all := readDiary(t, r.dir); all[0].left != 0 {
		t.Errorf("node 1 went on after %v", time.Duration(all[0].left-all[1].entered))
	}
}

// Workers end without their coordinator, although no agent ends them and none of their
// connections does.
func TestWorkersEndThatDoNotHearTheirCoordinator(t *testing.T) {
	t.Parallel()
	_, b := serve(t, 0)
	all := startAgents(t, b, "east", "west")
	stranger := raw(t, b)
	leases, err := stranger.SubscribeSync("dmebench.*.lease.*")
	if err == nil {
		err = stranger.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	c, pids := startCoordinator(t, b)
	for asked := map[string]bool{}; len(asked) < len(pids); {
		m, err := leases.NextMsg(soon)
		if err != nil {
			t.Fatal(err)
		}
		asked[m.Subject] = true
	}
	for _, p := range append(all, c) {
		if err := p.Pause(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.Resume() })
	}
	for _, pid := range pids {
		until(t, "the end of a worker", func() bool { return hasEnded(pid) })
	}
}

// hasEnded reports whether a process has ended, also one that its agent has not reaped.
func hasEnded(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(b), ") Z ")
}
