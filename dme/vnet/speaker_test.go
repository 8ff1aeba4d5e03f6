package vnet

import (
	"math/rand/v2"
	"slices"
	"testing"

	"dmebench/dme"
)

// A step of which nothing is told keeps nothing of what nodes do.
func TestWhatIsNotToldIsNotKept(t *testing.T) {
	for _, c := range media {
		m := c.withCouriers(t)
		n, rng := New(m), rand.New(rand.NewPCG(3, 4))
		for range 200 {
			steps := n.Enabled(nil)
			if len(steps) == 0 {
				break
			}
			x := steps[rng.IntN(len(steps))]
			n.Take(x)
			if kept := len(n.event.Effects); kept > len(n.Started) {
				t.Fatalf("%v: %d effects are kept after %v", c, kept, x)
			}
		}
	}
}

// speaker broadcasts a vector at its start, and spoils what it receives.
type speaker struct{ id int }

func (s *speaker) Start(out *dme.Outbox) {
	out.Broadcast(dme.Message{Kind: 1, Vec: []uint64{uint64(s.id)}})
}

func (s *speaker) Request(*dme.Outbox) {}
func (s *speaker) Release(*dme.Outbox) {}
func (s *speaker) Receive(_ dme.NodeID, m dme.Message, _ *dme.Outbox) {
	m.Vec[0] = 99
}

func (s *speaker) Join(*dme.Outbox)      {}
func (s *speaker) Leave(out *dme.Outbox) { out.Left() }
func (s *speaker) State(v *dme.Visitor)  {}
func speakers(n Config) (*Network, error) {
	n.Algorithm = &dme.Algorithm{
		Name: "speaker", Title: "speaker", Citation: "none", Class: dme.Permission, Kinds: []string{"WORD"},
		Needs:   dme.Always(dme.Needs{}),
		Prepare: dme.Unshared(func(_ int, id dme.NodeID) dme.Node { return &speaker{int(id)} }),
	}
	m, err := NewModel(n)
	if err != nil {
		return nil, err
	}
	return New(m), nil
}

// Everybody receives a vector of his own.
func TestVectorsAreNotShared(t *testing.T) {
	n, err := speakers(Config{Nodes: 3})
	if err != nil {
		t.Fatal(err)
	}
	n.Do(Step{Kind: Deliver, From: 1, Node: 2})
	if got := n.OnTheWay(1, 3)[0].Vec; !slices.Equal(got, []uint64{1}) {
		t.Errorf("node 3 will receive %v, which node 2 has changed", got)
	}
}

// Who is absent does not start.
func TestWhoIsAbsentDoesNotStart(t *testing.T) {
	n, err := speakers(Config{Nodes: 3, Absent: []dme.NodeID{2}})
	if err != nil {
		t.Fatal(err)
	}
	var started []dme.NodeID
	for _, e := range n.Started {
		started = append(started, e.Node)
	}
	if !slices.Equal(started, []dme.NodeID{1, 3}) || len(n.OnTheWay(2, 1))+len(n.OnTheWay(2, 3)) > 0 {
		t.Errorf("%v have started, and %d messages are on their way from node 2", started, len(n.OnTheWay(2, 1)))
	}
}
