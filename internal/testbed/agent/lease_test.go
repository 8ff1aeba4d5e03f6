package agent

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	natsgo "github.com/nats-io/nats.go"

	"dmebench/internal/platform/environment"
	"dmebench/internal/runtime/host"
)

// A second coordinator is told who has the agent, and gets it once it is free.
func TestTwoCoordinators(t *testing.T) {
	b, first, _ := newBed(t, "east", "west")
	second := connectFleet(t, b)
	second.holder = "another coordinator"
	part := host.Part{Nodes: 1, Local: nodes(1)}
	agents := discover(t, first, 2)
	h := opened(t, first, agents[0], part)
	other := second.Host(agents[0])
	if _, err := other.Open(t.Context(), part); err == nil || !strings.Contains(err.Error(), "host east: it is in use by "+first.holder) {
		t.Error(err)
	}
	_, err := second.Discover(t.Context(), 2, time.Second)
	if err == nil || !strings.Contains(err.Error(), "west (127.0.0.1), of 2") ||
		!strings.Contains(err.Error(), "east is in use by "+first.holder) {
		t.Error(err)
	}
	if err := h.Read(t.Context(), make([]host.Reading, 1)); err != nil {
		t.Error("the first coordinator was disturbed:", err)
	}
	// Nobody comes between the runs of a coordinator, until it ends.
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	if _, err := other.Open(t.Context(), part); err == nil || !strings.Contains(err.Error(), "in use by "+first.holder) {
		t.Error(err)
	}
	if i := discover(t, first, 2)[0]; i.Holder != first.holder || !i.Between {
		t.Errorf("%+v", i)
	}
	if _, err := h.Open(t.Context(), part); err != nil {
		t.Error(err)
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	first.Close()
	until(t, "the first coordinator has left the agent to others", func() bool { return allAgents(t, second, 2)[0].Holder == "" })
	if _, err := other.Open(t.Context(), part); err != nil {
		t.Error(err)
	}
	if err := other.Close(); err != nil {
		t.Error(err)
	}
}

// Of many coordinators that want an agent at the same time one gets it.
func TestRaceForAnAgent(t *testing.T) {
	b, _, _ := newBed(t, "east")
	const many = 8
	var hosts []*Remote
	for k := range many {
		f := connectFleet(t, b)
		f.holder = strings.Repeat("x", k+1)
		hosts = append(hosts, f.Host(discover(t, f, 1)[0]))
	}
	errs := make(chan error, many)
	for _, h := range hosts {
		go func() {
			_, err := h.Open(t.Context(), host.Part{Nodes: 1, Local: nodes(1)})
			errs <- err
		}()
	}
	got := 0
	for range many {
		if err := <-errs; err == nil {
			got++
		}
	}
	if got != 1 {
		t.Errorf("%d have it", got)
	}
	for _, h := range hosts {
		h.Close()
	}
}

// What passed between a coordinator and its agent has no effect when somebody sends it
// again: neither while the run goes on, nor later.
func TestReplayedRequests(t *testing.T) {
	b, fleet, _ := newBed(t, "east")
	info := discover(t, fleet, 1)[0]
	eavesdropper := raw(t, b)
	heard, err := eavesdropper.SubscribeSync(subjectOf(info.Instance))
	if err == nil {
		err = eavesdropper.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	h := opened(t, fleet, info, host.Part{Nodes: 2, Local: nodes(1, 2)})
	p := startWorker(t, h)
	if err := p.Pause(); err != nil {
		t.Fatal(err)
	}
	if err := p.Resume(); err != nil {
		t.Fatal(err)
	}
	var recorded []*natsgo.Msg
	for ops := make(map[string]bool); !ops[string(askResume)]; {
		m, err := heard.NextMsg(soon)
		if err != nil {
			t.Fatal(err)
		}
		q, _, err := readRequest(m.Data)
		if err != nil {
			t.Fatal(err)
		}
		ops[q.Op] = true
		recorded = append(recorded, m)
	}
	replay := func() (refused int) {
		t.Helper()
		for _, m := range recorded {
			q, _, _ := readRequest(m.Data)
			r, err := eavesdropper.Request(m.Subject, m.Data, soon)
			if err != nil {
				t.Fatal(err)
			}
			var x answer
			if err := json.NewDecoder(bytes.NewReader(r.Data)).Decode(&x); err != nil {
				t.Fatal(err)
			}
			if q.Op == string(askDescribe) {
				continue // whoever is let in may ask that
			}
			if x.Error == "" {
				t.Errorf("%s was carried out again: %s", q.Op, r.Data)
			}
			refused++
		}
		return refused
	}
	replay()
	if p.Stopped() {
		t.Error("the worker stands still")
	}
	refused := discoverAll(t, fleet)[0].Refused
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	n := replay()
	now := discoverAll(t, fleet)[0]
	if now.Holder != "" && !now.Between {
		t.Errorf("somebody has taken the agent with a ticket that was used: %s", now.Holder)
	}
	if now.Refused != refused+uint64(n) || refused < uint64(n)-1 { // an open while it is in use is no garbage
		t.Errorf("%d refused, then %d, of %d", refused, now.Refused, n)
	}
}

// discoverAll returns the agents, of which one is there at least.
func discoverAll(t *testing.T, f *Fleet) []Info {
	t.Helper()
	all, err := f.Agents(t.Context(), 1, soon)
	if err != nil || len(all) == 0 {
		t.Fatalf("%v %+v", err, all)
	}
	return all
}

// Whatever is sent to an agent that is no request of its coordinator is counted, and
// does not disturb.
func TestGarbage(t *testing.T) {
	b, fleet, _ := newBed(t, "east")
	info := discover(t, fleet, 1)[0]
	h := opened(t, fleet, info, host.Part{Nodes: 2, Local: nodes(1, 2)})
	p := startWorker(t, h)
	stranger := raw(t, b)
	watched, err := stranger.SubscribeSync("elsewhere")
	if err != nil {
		t.Fatal(err)
	}
	lease := h.lease
	garbage := []string{
		"", "{", "null null", "42", `"x"`, "\x00\xff", `{"op":"describe"} {}`, `{"op":"describe","colour":"red"}`, `{"op":7}`,
		`{"op":"shell","lease":"` + lease + `","sequence":99999}`, `{"op":"close"}`, `{"op":"kill","process":1}`,
		`{"op":"close","lease":"","sequence":99999}`, `{"op":"close","lease":"AAAAAAAAAAAAAAAAAAAAAAAAAA","sequence":99999}`,
		`{"op":"kill","process":1,"lease":"` + lease + `"}`, // without a number
		strings.Repeat("[", 100_000), strings.Repeat("x", 900_000),
	}
	for _, g := range garbage {
		for _, subject := range []string{subjectOf(info.Instance), discovery} {
			if err := stranger.Publish(subject, []byte(g)); err != nil {
				t.Fatal(err)
			}
			if err := stranger.PublishRequest(subject, "elsewhere", []byte(g)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := stranger.Flush(); err != nil {
		t.Fatal(err)
	}
	until(t, "all is counted", func() bool { return discoverAll(t, fleet)[0].Refused >= 4*uint64(len(garbage)) })
	if n := discoverAll(t, fleet)[0].Refused; n != 4*uint64(len(garbage)) {
		t.Errorf("%d refused, of %d", n, 4*len(garbage))
	}
	if err := h.Read(t.Context(), make([]host.Reading, 2)); err != nil {
		t.Error(err)
	}
	if gone(p.PID()) {
		t.Error("the worker is gone")
	}
	if m, err := watched.NextMsg(10 * time.Millisecond); err == nil {
		t.Errorf("the agent speaks on subjects of others' choice: %s", m.Data)
	}
}

// What a coordinator asks for has to make sense, whoever it is.
func TestImpossibleRequests(t *testing.T) {
	_, fleet, _ := newBed(t, "east")
	info := discover(t, fleet, 1)[0]
	for _, p := range []host.Part{
		{}, {Nodes: -1}, {Nodes: 1 << 30}, {Nodes: 2, Local: nodes(3)}, {Nodes: 2, Local: nodes(0)}, {Nodes: 2, Local: nodes(2, 1)},
		{Nodes: 2, Records: -1}, {Nodes: 1000, Records: 1 << 40},
	} {
		if _, err := fleet.Host(info).Open(t.Context(), p); err == nil {
			t.Errorf("%+v was taken", p)
		}
	}
	h := opened(t, fleet, info, host.Part{Nodes: 2, Local: nodes(1, 2)})
	run := "AAAAAAAAAAAAAAAAAAAAAAAAAA"
	for _, q := range []struct {
		op   string
		body any
	}{
		{"start", startRequest{}}, {"start", startRequest{Run: "x.>"}}, {"start", startRequest{Run: run, Worker: -1}},
		{"start", startRequest{Run: run, Worker: 2}}, {"start", startRequest{Run: run, Procs: -1}},
		{"start", startRequest{Run: run, Procs: 1 << 20}}, {"start", map[string]any{"run": run, "colour": "red"}},
		{"kill", 0}, {"pause", 1}, {"resume", -1}, {"stopped", 7}, {"stderr", 7}, {"stderr", "x"}, {"remove", 0}, {"remove", 3},
		{"rest", 1}, {"shell", nothing{}}, {"examine", 1},
	} {
		if _, err := h.call(t.Context(), q.op, encode(q.body)); err == nil {
			t.Errorf("%+v was carried out", q)
		}
	}
	startWorker(t, h)
	startWorker(t, h)
	w := host.Worker{}
	w.Boot.Run = run
	if _, err := h.Start(t.Context(), w); err == nil {
		t.Error("more workers than nodes")
	}
}

// An agent of another build is refused, and both are named.
func TestAnotherProgram(t *testing.T) {
	b, fleet, _ := newBed(t, "east")
	startAgent(t, agentConfig{Broker: b, Name: "old", Program: environment.Program{Version: "v0.1.0", Commit: "c0ffee", SHA256: "11"}})
	allAgents(t, fleet, 2)
	_, err := fleet.Discover(t.Context(), 2, time.Second)
	if err == nil || !strings.Contains(err.Error(), "old runs another program: v0.1.0, commit c0ffee, sha256 11, while this is "+
		fleet.program.String()) {
		t.Error(err)
	}
	all := allAgents(t, fleet, 2)
	_, err = fleet.Host(all[1]).Open(t.Context(), host.Part{Nodes: 1, Local: nodes(1)})
	if err == nil || !strings.Contains(err.Error(), "host old: old runs another program") {
		t.Error(err)
	}
}

// An agent that is started before its server waits for it.
func TestAgentBeforeItsServer(t *testing.T) {
	t.Parallel()
	port := fixedPort(t)
	s, b := serve(t, port)
	shut(s)
	p := startAgents(t, b, "east")[0]
	until(t, "the agent says that it waits", logged(p, "waiting for it"))
	serve(t, port)
	discover(t, connectFleet(t, b), 1)
}
