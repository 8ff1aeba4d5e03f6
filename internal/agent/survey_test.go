package agent

import (
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"dmebench/internal/clock"
	"dmebench/internal/clock/exchange"
	"dmebench/internal/host"
)

// Hosts exchange datagrams when their coordinator says so, and tell what came of that.
func TestSurvey(t *testing.T) {
	t.Parallel()
	_, b := serve(t, 0)
	startAgents(t, b, "east", "west")
	fleet := connectFleet(t, b)
	key := make([]byte, 32)
	rand.Read(key)
	var hosts []*Remote
	var peers []exchange.Peer
	for _, i := range discover(t, fleet, 2) {
		h := opened(t, fleet, i, host.Part{Nodes: 1})
		if _, _, err := h.Probe(t.Context(), nil, 1); err == nil || !strings.Contains(err.Error(), "not opened") {
			t.Error(err)
		}
		p, err := h.Port(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		if p.Name != i.Name {
			t.Errorf("%+v", p)
		}
		hosts, peers = append(hosts, h), append(peers, p)
	}
	east := hosts[0]
	nobody := exchange.Peer{Name: "nobody", Address: "127.0.0.1:9"}
	paths, failures, err := east.Probe(t.Context(), []exchange.Peer{peers[1], nobody}, 20)
	if err != nil || len(paths) != 2 || paths[0].Sent != 20 || len(paths[0].Exchanges)+paths[0].Lost != 20 || len(paths[0].Exchanges) == 0 ||
		len(paths[1].Exchanges) != 0 || len(failures) != 1 || failures["nobody"] == "" {
		t.Fatalf("%+v %v %v", paths, failures, err)
	}
	if err := east.Follow(t.Context(), peers[1:], 5*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	n := 0
	until(t, "there are many exchanges", func() bool {
		paths, err := east.Paths(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		n += len(paths["west"].Exchanges)
		return n > 100
	})
	for what, err := range map[string]error{
		"too often":  east.Follow(t.Context(), peers[1:], 0),
		"a name":     east.Follow(t.Context(), []exchange.Peer{{Name: "a b", Address: "127.0.0.1:1"}}, time.Second),
		"an address": east.Follow(t.Context(), []exchange.Peer{{Name: "x", Address: "127.0.0.1"}}, time.Second),
		"too many":   east.Follow(t.Context(), make([]exchange.Peer, mostPeers+1), time.Second),
	} {
		if err == nil {
			t.Error(what)
		}
	}
	if _, _, err := east.Probe(t.Context(), peers[1:], mostAtOnce+1); err == nil {
		t.Error("too many exchanges for an answer")
	}
}

// What is measured for long is handed over in pieces, all of it, and is bounded.
func TestLongSurvey(t *testing.T) {
	s := new(survey)
	s.paths = map[string]*exchange.Path{"a": {}, "b": {}}
	add := func(name string, n int) {
		s.note(s.paths[name], exchange.Path{Sent: n + 1, Lost: 1, Exchanges: make([]clock.Exchange, n)})
	}
	add("a", mostAtOnce+10)
	add("b", 20)
	got := make(map[string]exchange.Path)
	for pieces := 1; ; pieces++ {
		paths, more := s.take()
		for name, later := range paths {
			p := got[name]
			join(&p, later)
			got[name] = p
		}
		if !more {
			if pieces != 2 {
				t.Errorf("%d pieces", pieces)
			}
			break
		}
	}
	if a, b := got["a"], got["b"]; len(a.Exchanges) != mostAtOnce+10 || a.Sent != mostAtOnce+11 || a.Lost != 1 || len(b.Exchanges) != 20 {
		t.Errorf("%d of %d, %d", len(a.Exchanges), a.Sent, len(b.Exchanges))
	}
	for range 5 {
		add("a", mostKept)
	}
	if p := s.paths["a"]; len(p.Exchanges) > mostKept || p.Sent != 5*(mostKept+1) {
		t.Errorf("%d kept of %d", len(p.Exchanges), p.Sent)
	}
}
