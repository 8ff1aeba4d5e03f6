package run

import (
	"slices"
	"strings"
	"testing"

	"dmebench/dme"
	"dmebench/result"
)

func TestFaultsAreChecked(t *testing.T) {
	plain := &dme.Algorithm{
		Name: "plain", Kinds: []string{"A"}, Needs: dme.Always(dme.Needs{Reliable: true}),
		Prepare: func(dme.Config) (dme.System, error) { return prepared{}, nil },
	}
	for _, c := range []struct {
		spec result.Spec
		want string // "" where it is fine
	}{
		{result.Spec{Faults: []string{"kill 3 @2s", "pause 1 @1s-2s"}}, ""},
		{result.Spec{Faults: []string{"kill 3 @2s", "burn 1 @1s"}}, `"burn" cannot be done`},
		{result.Spec{Faults: []string{"kill 9 @2s"}}, "there are only 4 nodes"},
		{result.Spec{Faults: []string{"restart 3 @2s"}}, "nodes of plain cannot restart"},
		{result.Spec{Faults: []string{"kill 3 @2s"}, NodesPerWorker: 2}, "which hosts 2 nodes"},
		{result.Spec{Faults: []string{"kill 3 @2s"}, NodesPerWorker: 2, Transport: "sim"}, ""},
		{result.Spec{Faults: []string{"partition 1 @2s"}, NodesPerWorker: 2}, ""},
		{result.Spec{Faults: []string{"partition 1 @2s"}, Transport: "udp", Set: map[string]string{"multicast": "true"}}, "datagram to all"},
	} {
		c.spec.Algorithm, c.spec.Nodes = "plain", 4
		j, err := Resolve(c.spec, Catalog{plain}, nil)
		switch {
		case c.want == "" && (err != nil || len(j.Faults) != len(c.spec.Faults)):
			t.Errorf("%v: %v", c.spec.Faults, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%v: %v; want an error with %q", c.spec.Faults, err, c.want)
		}
	}
}

// joiners are nodes that can join; what they are told is kept.
type joiners struct{ dme.Node }

func (joiners) Join(*dme.Outbox) {}

func TestWhoJoinsIsAbsentFirst(t *testing.T) {
	var told dme.Config
	a := &dme.Algorithm{
		Name: "joiners", Kinds: []string{"HELLO"}, Needs: dme.Always(dme.Needs{}),
		Prepare: func(c dme.Config) (dme.System, error) {
			told = c
			return dme.Unshared(func(int, dme.NodeID) dme.Node { return joiners{} })(c)
		},
	}
	_, err := Resolve(result.Spec{Algorithm: "joiners", Nodes: 5, Faults: []string{"join 4 @2s", "join 2 @1s"}}, Catalog{a}, nil)
	if err != nil || !slices.Equal(told.Absent, []dme.NodeID{2, 4}) {
		t.Errorf("absent %v (%v)", told.Absent, err)
	}
}
