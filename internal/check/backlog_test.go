package check

import (
	"testing"

	"dmebench/algorithms/lamport"
	"dmebench/algorithms/suzukikasami"
	"dmebench/dme"
)

// A link fills where nothing acknowledges what it carries.
func TestBacklog(t *testing.T) {
	backlog := func(a *dme.Algorithm, nodes int) int {
		s, err := New(a, Options{Nodes: nodes, Unlimited: true})
		if err != nil {
			t.Fatal(err)
		}
		return s.Backlog(20)
	}
	if most := backlog(suzukikasami.Algorithm(), 3); most != 20 {
		t.Errorf("suzuki-kasami: %d messages on a link; nothing acknowledges a REQUEST", most)
	}
	// The other asks and is not answered, while its REQUEST waits. So do a reply and a
	// RELEASE that were on their way.
	if most := backlog(lamport.Algorithm(), 3); most < 2 || most > 4 {
		t.Errorf("lamport: %d messages on a link", most)
	}
	if most := backlog(suzukikasami.Algorithm(), 2); most < 1 || most > 3 {
		t.Errorf("suzuki-kasami, two nodes: %d messages on a link: who is not heard gets no token", most)
	}
}
