package validate_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"dmebench/claims"

	"dmebench/algorithms/ricartagrawala"
	"dmebench/dme"
	"dmebench/internal/experiment/validate"
	"dmebench/internal/runtime/run"
	"dmebench/internal/sim"
)

// talkative is Ricart and Agrawala's algorithm with a fault: with every fifth
// release a node sends one message too many.
func talkative() *dme.Algorithm {
	a := ricartagrawala.Algorithm()
	a.Name = "talkative"
	prepare := a.Prepare
	a.Kinds = append(a.Kinds, "EXTRA")
	extra := dme.Kind(len(a.Kinds))
	a.Prepare = func(c dme.Config) (dme.System, error) {
		inner, err := prepare(c)
		return talkativeSystem{inner, extra, dme.NodeID(c.Nodes)}, err
	}
	return a
}

type talkativeSystem struct {
	dme.System
	extra dme.Kind
	nodes dme.NodeID
}

func (s talkativeSystem) Node(id dme.NodeID) dme.Node {
	return &talkativeNode{Node: s.System.Node(id), system: s, id: id}
}

type talkativeNode struct {
	dme.Node
	system   talkativeSystem
	id       dme.NodeID
	releases int
}

func (n *talkativeNode) Release(out *dme.Outbox) {
	n.Node.Release(out)
	if n.releases++; n.releases%5 == 0 {
		out.Send(n.id%n.system.nodes+1, dme.Message{Kind: n.system.extra})
	}
}

func (n *talkativeNode) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	if m.Kind != n.system.extra {
		n.Node.Receive(from, m, out)
	}
}

func validateOne(t *testing.T, a *dme.Algorithm) *claims.Document {
	t.Helper()
	a.Claims = slices.DeleteFunc(slices.Clone(a.Claims), func(c dme.Claim) bool { // for which schedules are searched: that has a test
		return c.Quantity == dme.Bypass || c.Quantity == dme.BypassByOne
	})
	d, err := validate.Run(context.Background(), validate.Options{
		Catalog: run.Catalog{a}, Mode: validate.Quick, Run: sim.Run, Parallel: 2, Budget: 1 << 60,
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func verdictOn(t *testing.T, d *claims.Document, quantity dme.Quantity, formula string, load dme.Load) claims.Verdict {
	t.Helper()
	for _, v := range d.Claims {
		if v.Quantity == quantity.Name && v.Formula == formula && v.Load == load {
			return v
		}
	}
	t.Fatalf("no claim %s %s under load %s", quantity, formula, load)
	return claims.Verdict{}
}

func TestAPlantedFaultTurnsTheVerdict(t *testing.T) {
	sound, faulty := validateOne(t, ricartagrawala.Algorithm()), validateOne(t, talkative())
	for _, x := range []struct {
		d      *claims.Document
		word   claims.Status
		failed bool
	}{{sound, claims.Holds, false}, {faulty, claims.Fails, true}} {
		v := verdictOn(t, x.d, dme.MessagesPerCS, "2(N−1)", dme.AnyLoad)
		if v.Verdict != x.word || !strings.HasPrefix(v.Text, string(x.word)) {
			t.Errorf("%s: 2(N−1): %s, want %s", v.Algorithm, v.Text, x.word)
		}
		if n := x.d.Counts.ExactFailed; (n > 0) != x.failed {
			t.Errorf("%s: %d exact claims failed", v.Algorithm, n)
		}
		if v.Runs == 0 || v.Shown < 0 || len(v.Points) == 0 {
			t.Errorf("%s: no runs behind the verdict: %+v", v.Algorithm, v)
		}
		for _, q := range []dme.Quantity{dme.Violations, dme.Unserved} {
			i := 0
			for i < len(x.d.Claims) && x.d.Claims[i].Quantity != q.Name {
				i++
			}
			if i == len(x.d.Claims) || x.d.Claims[i].Verdict != claims.Holds {
				t.Errorf("%s: nothing is said of %s, or it fails", v.Algorithm, q)
			}
		}
	}
}
