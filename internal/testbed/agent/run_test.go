package agent

import (
	"crypto/tls"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"dmebench/dme"
	"dmebench/internal/platform/launch"
	"dmebench/internal/runtime/host"
	"dmebench/internal/testbed"
	"dmebench/runs"
	"dmebench/transport/nats"
)

// Runs go over the hosts of two agents, one after the other, over all networks. What
// they count is what a run on one host counts, and nothing is left behind.
func TestRunsOverAgents(t *testing.T) {
	b, fleet, _ := newBed(t, "east", "west")
	for _, network := range []string{"tcp", "udp", "nats"} {
		var pids []int
		r, err := leadOver(t.Context(), fleet, coordinatorConfig{
			Broker: b, Expect: 2,
			Spec: runs.Spec{Algorithm: "ricart-agrawala", Nodes: 5, Transport: network, Workload: "serial", Requests: 50},
		}, func(p launch.Process) { pids = append(pids, p.PID()) })
		if err != nil {
			t.Fatal(network, err)
		}
		if r.Status != runs.OK || r.Entries != 50 || r.Messages.Total != 50*2*4 || r.Safety.Violations != 0 {
			t.Errorf("%s: %s %s: %d entries, %d messages, %+v", network, r.Status, r.Error, r.Entries, r.Messages.Total, r.Safety)
		}
		if len(r.Hosts) != 2 || r.Hosts[0].Name != "east" || !slices.Equal(r.Hosts[0].Nodes, []int{1, 3, 5}) ||
			r.Hosts[0].Environment["os"] == "" {
			t.Errorf("%s: %+v", network, r.Hosts)
		}
		if len(r.Links) != 2 || r.Links[0].By != "udp" || r.Links[0].Sent == 0 {
			t.Errorf("%s: %+v", network, r.Links)
		}
		if len(pids) != 5 {
			t.Errorf("%s: %d processes", network, len(pids))
		}
		awaitEnds(t, pids...)
	}
	busy := runs.Spec{Algorithm: "ricart-agrawala", Nodes: 4, Duration: runs.Duration(time.Second)}
	r, err := leadOver(t.Context(), fleet, coordinatorConfig{Broker: b, Expect: 2, Spec: busy}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range r.Hosts {
		switch l := h.Load; {
		case runtime.GOOS == "linux" && l == nil:
			t.Errorf("nothing is known of how busy %s was", h.Name)
		case l != nil && (l.Workers <= 0 || l.Busy <= 0 ||
			l.MemoryFree <= 0 || l.Cores < 1):
			t.Errorf("%s: %+v", h.Name, *l)
		}
	}
	for _, i := range discover(t, fleet, 2) {
		if i.Refused != 0 {
			t.Errorf("%s has refused %d requests", i.Name, i.Refused)
		}
	}
}

// Faults reach workers elsewhere: who is inside is killed there and comes back, another
// one stands still for a while. What the killed node has recorded is not lost.
func TestFaultsOverAgents(t *testing.T) {
	b, fleet, _ := newBed(t, "east", "west")
	spec := runs.Spec{
		Algorithm: "raymond-robust", Nodes: 4, Requests: 400, CS: "1ms",
		Faults: []string{"kill holder @entry:40", "restart holder @+50ms", "pause 3 @request:200+50ms"},
	}
	r, err := leadOver(t.Context(), fleet, coordinatorConfig{Broker: b, Expect: 2, Spec: spec}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Status != runs.OK || r.Safety.Violations != 0 || len(r.Faults) != 3 {
		t.Fatalf("%s %s %+v %+v %q", r.Status, r.Error, r.Faults, r.Safety, r.Warnings)
	}
	kill, restart, pause := r.Faults[0], r.Faults[1], r.Faults[2]
	if kill.What != "kill" || kill.Lost != 1 || !slices.Equal(kill.Nodes, restart.Nodes) || restart.RecoveredNS == nil ||
		!slices.Equal(pause.Nodes, []int{3}) || pause.EndedNS == nil {
		t.Errorf("%+v", r.Faults)
	}
	if r.ResponseTime == nil || r.ResponseTime.Count != r.Entries || r.Requests != r.Entries+1 || r.Requests != 400 {
		t.Errorf("%d entries of %d requests, of which records speak of %+v", r.Entries, r.Requests, r.ResponseTime)
	}
}

// What is left of a run of many nodes is more than one message holds.
func TestLargeReport(t *testing.T) {
	_, fleet, _ := newBed(t, "east")
	part := host.Part{Nodes: 5000}
	for id := 2; id <= part.Nodes; id++ {
		part.Local = append(part.Local, dme.NodeID(id))
	}
	h := opened(t, fleet, discover(t, fleet, 1)[0], part)
	for range 2 {
		r, err := h.Report(t.Context())
		if err != nil || len(encode(r)) < 2*maxPiece || len(r.Nodes) != len(part.Local) || r.Host.Name != "east" {
			t.Fatalf("%v: %d bytes of %d nodes", err, len(encode(r)), len(r.Nodes))
		}
		for k, n := range r.Nodes {
			if n.Node != part.Local[k] {
				t.Fatalf("node %d stands for node %d", n.Node, part.Local[k])
			}
		}
	}
}

// serveTLS starts a server that presents a certificate of an authority, which clients trust.
func serveTLS(t *testing.T, of *testbed.Authority, made time.Time, lifetime time.Duration) nats.Broker {
	t.Helper()
	pair, err := of.Issue([]string{"127.0.0.1"}, made, lifetime)
	if err != nil {
		t.Fatal(err)
	}
	c, err := tls.X509KeyPair(pair.Cert, pair.Key)
	if err != nil {
		t.Fatal(err)
	}
	_, b := serveBy(t, server.Options{
		TLS: true, TLSConfig: &tls.Config{Certificates: []tls.Certificate{c}, MinVersion: tls.VersionTLS12}, TLSTimeout: soon.Seconds(),
	})
	b.URL, b.CA = "tls://"+b.URL[strings.Index(b.URL, "://")+3:], of.Files().Cert
	return b
}

func newAuthority(t *testing.T) *testbed.Authority {
	t.Helper()
	a, err := testbed.NewAuthority("of a test", time.Now(), 24*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Agents and coordinators talk to a server over TLS, if its certificate is what it
// ought to be. Otherwise an agent ends at once, and says why: waiting does not help.
func TestCertificates(t *testing.T) {
	t.Parallel()
	right, wrong := newAuthority(t), newAuthority(t)
	b := serveTLS(t, right, time.Now(), time.Hour)
	startAgents(t, b, "east")
	discover(t, connectFleet(t, b), 1)

	another := b
	another.CA = wrong.Files().Cert
	expired := serveTLS(t, right, time.Now().Add(-3*time.Hour), time.Hour)
	_, plain := serve(t, 0)
	plain.URL, plain.CA = strings.Replace(plain.URL, "nats://", "tls://", 1), right.Files().Cert
	for words, b := range map[string]nats.Broker{
		"certificate of the authority that was given": another,
		"expired":    expired,
		"secure":     plain, // it gets no token
		"PEM":        {URL: b.URL, Token: b.Token, CA: []byte("nothing")},
		"credential": {URL: b.URL, Token: "wrong", CA: b.CA},
	} {
		p := startAgent(t, agentConfig{Broker: b, Name: "west"})
		select {
		case <-p.Ended():
		case <-time.After(soon):
			t.Fatalf("%s: the agent does not end: %q", words, p.Stderr())
		}
		if said := strings.Join(p.Stderr(), "\n"); p.Outcome() != "exit status 1" || !strings.Contains(said, words) {
			t.Errorf("%s: %s: %s", words, p.Outcome(), said)
		}
		if _, err := Connect(t.Context(), b); !errors.Is(err, nats.ErrBroker) || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v", words, err)
		}
	}
}

// An agent that the server does not let in any more ends, and says so.
func TestServerOfAnotherToken(t *testing.T) {
	t.Parallel()
	port := fixedPort(t)
	s, b := serve(t, port)
	p := startAgents(t, b, "east")[0]
	discover(t, connectFleet(t, b), 1)
	shut(s)
	serveBy(t, server.Options{Port: port, Authorization: "another"})
	select {
	case <-p.Ended():
	case <-time.After(soon):
		t.Fatalf("%q", p.Stderr())
	}
	if said := strings.Join(p.Stderr(), "\n"); !strings.Contains(said, "is closed for good") || !strings.Contains(said, "Authorization") {
		t.Error(said)
	}
}
