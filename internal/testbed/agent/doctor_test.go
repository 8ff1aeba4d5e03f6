package agent

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"dmebench/internal/platform/environment"
	"dmebench/internal/runtime/host"
	"dmebench/internal/testbed/doctor"
)

func examineFleet(t *testing.T, f *Fleet, agents []Info) *doctor.Report {
	t.Helper()
	hosts, paths, took, err := f.Examine(t.Context(), agents, doctor.Need{Nodes: 4, Processes: 4, Threads: 40, Descriptors: 20}, 10)
	if err != nil {
		t.Fatal(err)
	}
	return doctor.NewReport(hosts, paths, took)
}

func allAgents(t *testing.T, f *Fleet, expect int) []Info {
	t.Helper()
	agents, err := f.Agents(t.Context(), expect, soon)
	if err != nil || len(agents) != expect {
		t.Fatalf("%d agents of %d: %v", len(agents), expect, err)
	}
	return agents
}

// unexamined reports whether a host's agent is its problem; others are this machine's.
func unexamined(h doctor.Host) bool {
	return slices.ContainsFunc(h.Findings, func(f doctor.Finding) bool { return f.Check == "agent" && f.Level == doctor.Problem })
}

// Agents examine their hosts and reach one another, and are free again afterwards.
func TestExamine(t *testing.T) {
	_, fleet, _ := newBed(t, "east", "west", "south")
	there := allAgents(t, fleet, 3)
	r := examineFleet(t, fleet, there)
	if len(r.Hosts) != 3 || len(r.Paths) != 6 || slices.ContainsFunc(r.Hosts, unexamined) {
		t.Errorf("%+v", r)
	}
	for _, h := range r.Hosts {
		if h.Address != "127.0.0.1" || h.Environment["os"] == "" ||
			!slices.ContainsFunc(h.Findings, func(f doctor.Finding) bool { return f.Check == "threads" && strings.Contains(f.Found, "about 14") }) {
			t.Errorf("%+v", h) // a third of 40 threads
		}
	}
	for _, p := range r.Paths {
		if p.TCP.Lost+p.UDP.Lost > 0 || p.OffsetNS == nil {
			t.Errorf("%+v", p)
		}
	}
	discover(t, fleet, 3) // free, and with the same program
}

// An agent that has a run is left alone, and one of another build is a problem.
func TestExamineSpares(t *testing.T) {
	b, fleet, _ := newBed(t, "east", "west")
	startAgent(t, agentConfig{Broker: b, Name: "old", Program: environment.Program{Version: "v0.1"}})
	other := connectFleet(t, b)
	agents := allAgents(t, fleet, 3)
	other.holder = "another coordinator"
	taken := opened(t, other, agents[0], host.Part{Nodes: 2, Local: nodes(1)})
	r := examineFleet(t, fleet, allAgents(t, fleet, 3))
	by := make(map[string]doctor.Host)
	for _, h := range r.Hosts {
		by[h.Name] = h
	}
	if h := by["east"]; h.InUse != "another coordinator" || len(h.Findings) != 1 || h.Findings[0].Level != doctor.Note {
		t.Errorf("%+v", h)
	}
	if h := by["old"]; h.Findings[0].Level != doctor.Problem || !strings.Contains(h.Findings[0].Found, "v0.1") {
		t.Errorf("%+v", h)
	}
	if h := by["west"]; h.InUse != "" || len(h.Findings) < 10 {
		t.Errorf("%+v", h)
	}
	if _, err := taken.Witness(t.Context(), false); err != nil {
		t.Errorf("the run was disturbed: %v", err)
	}
}

// Without a lease no gate is opened; with one, a single gate, until
// the lease is over.
func TestGatesOfALease(t *testing.T) {
	_, fleet, _ := newBed(t, "east")
	info := discover(t, fleet, 1)[0]
	stranger := fleet.Host(info)
	stranger.reset(host.Part{})
	key := bytes.Repeat([]byte{1}, 32)
	if _, err := ask(t.Context(), stranger, askGate, key); err == nil {
		t.Error("a gate is opened for somebody without a lease")
	}
	h := opened(t, fleet, info, host.Part{Nodes: 1})
	gate := func(key []byte) error { _, err := ask(t.Context(), h, askGate, key); return err }
	reach := func() error { _, err := ask(t.Context(), h, askReach, reachRequest{Count: 1}); return err }
	for k, x := range []struct {
		err  error
		want string
	}{
		{reach(), "no gate"}, {gate(key[:4]), "too short"}, {gate(key), ""}, {gate(key), "open already"}, {reach(), ""},
	} {
		if (x.err == nil) != (x.want == "") || x.err != nil && !strings.Contains(x.err.Error(), x.want) {
			t.Errorf("%d: %v, want %q", k, x.err, x.want)
		}
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	h = opened(t, fleet, info, host.Part{Nodes: 1})
	if err := gate(key); err != nil {
		t.Error("the gate is there after its lease:", err)
	}
}

// A host whose agent dies in the course of an examination is a problem; the others are
// told of all the same.
func TestExamineLost(t *testing.T) {
	_, fleet, agents := newBed(t, "east", "west", "south")
	there := allAgents(t, fleet, 3)
	agents[1].Kill()
	<-agents[1].Ended()
	begin := time.Now()
	r := examineFleet(t, fleet, there)
	if len(r.Paths) != 2 || time.Since(begin) > soon {
		t.Errorf("%+v", r)
	}
	for _, h := range r.Hosts {
		if unexamined(h) != (h.Name == "west") {
			t.Errorf("%+v", h)
		}
	}
}
