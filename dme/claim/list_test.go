package claim

import (
	"slices"
	"strings"
	"testing"

	"dmebench/dme"
)

// sound is the claims of an algorithm, and what of it they have to agree with.
func sound() (List, *dme.Algorithm) {
	return List{
			{Quantity: MessagesPerCS, Formula: "N", Load: AnyLoad, Kind: Exact, Source: "section 1"},
			{Quantity: QueueLength, Formula: "N", Load: AnyLoad, Kind: Exact, Source: "section 2"},
		}, &dme.Algorithm{
			Name: "sound", Kinds: []string{"REQUEST", "TOKEN"}, Gauges: []dme.Gauge{{Quantity: QueueLength.ID}},
		}
}

func TestCheckFindsEveryFault(t *testing.T) {
	l, a := sound()
	if err := l.Check(a); err != nil {
		t.Fatal(err)
	}
	for fault, breakIt := range map[string]func(c *Claim){
		"no quantity":                           func(c *Claim) { c.Quantity.Name = "" },
		"no quantity's ID":                      func(c *Claim) { c.Quantity.ID = "" },
		"there are no GREET messages":           func(c *Claim) { c.Quantity = KindPerKind("REQUEST", "GREET") },
		"asymptotic claims say how":             func(c *Claim) { c.Kind = Asymptotic },
		"and no others":                         func(c *Claim) { c.Growth = Growth{Log: true} },
		"no formula":                            func(c *Claim) { c.Formula = "" },
		"no load":                               func(c *Claim) { c.Load = "" },
		"no kind":                               func(c *Claim) { c.Kind = "" },
		"no source":                             func(c *Claim) { c.Source = "" },
		"no expression that can be computed":    func(c *Claim) { c.Formula = "O(log N)" },
		"O(N)\" (section 1): no expression":     func(c *Claim) { c.Formula, c.Expression = "O(N)", "2q" },
		"two claims sound/queue-length/any/exa": func(c *Claim) { c.Quantity = QueueLength },
	} {
		l, a := sound()
		breakIt(&l[0])
		if err := l.Check(a); err == nil || !strings.Contains(err.Error(), fault) || !strings.Contains(err.Error(), `algorithm "sound"`) {
			t.Errorf("%q is not among %v", fault, err)
		}
	}
	a.Gauges[0].Quantity = Bypass.ID
	if err := l.Check(a); err == nil || !strings.Contains(err.Error(), "a gauge of bypass, of which no claim speaks") {
		t.Errorf("a gauge of nothing that is claimed: %v", err)
	}
}

// An algorithm has the claims that it was given, also none.
func TestClaimsOfAnAlgorithm(t *testing.T) {
	l, a := sound()
	if all := Of(a); all != nil || all.SpeaksOf(QueueLength) {
		t.Errorf("without claims it has %v", all)
	}
	for _, given := range []dme.Claims{l, Lazy(func() List { return l })} {
		a.Claims = given
		if all := Of(a); len(all) != len(l) || !all.SpeaksOf(QueueLength) || all.SpeaksOf(Bypass) {
			t.Errorf("%T: it has %v", given, all)
		}
		if err := a.Claims.Check(a); err != nil {
			t.Error(err)
		}
		if a.Claims.Check(&dme.Algorithm{Gauges: []dme.Gauge{{Quantity: Bypass.ID}}}) == nil {
			t.Errorf("%T: a gauge of nothing that is claimed", given)
		}
	}
}

func TestClaimID(t *testing.T) {
	c := Claim{Quantity: KindPerKind("GREEN TOKEN", "REQUEST"), Load: HotSpot, Kind: UpperBound}
	ordered := c.With("mode=b", "count=2")
	ordered.FIFO = true
	for want, x := range map[string]Claim{
		"sound/green-token-per-request/hot-spot/upper-bound":                     c,
		"sound/green-token-per-request/hot-spot/theorem-3":                       c.Named("theorem-3").With("mode=b"),
		"sound/green-token-per-request/hot-spot/upper-bound,fifo,count=2,mode=b": ordered,
	} {
		if id := x.ID(&dme.Algorithm{Name: "sound"}); id != want {
			t.Errorf("%s, want %s", id, want)
		}
	}
}

// asker asks the nodes that its system says.
type asker struct {
	dme.Node
	asks []dme.NodeID // none: all
}

func (a asker) Request(out *dme.Outbox) {
	if a.asks == nil {
		out.Broadcast(dme.Message{Kind: 1})
	}
	for _, id := range a.asks {
		out.Send(id, dme.Message{Kind: 1})
		out.Send(id, dme.Message{Kind: 2}) // twice the same node
	}
	out.SetTimer(1, 1)
}

type askers [][]dme.NodeID

func (s askers) Node(id dme.NodeID) dme.Node { return asker{asks: s[id-1]} }

func TestWhomANodeAsks(t *testing.T) {
	s := dme.Setting{Nodes: 4, System: askers{{3, 2}, {}, nil, {4, 1}}}
	for i, want := range [][]dme.NodeID{{1, 2, 3}, {2}, {1, 2, 3, 4}, {1, 4}} {
		if got := Asked(s, dme.NodeID(i+1)); !slices.Equal(got, want) {
			t.Errorf("node %d asks %v, want %v", i+1, got, want)
		}
	}
	if mean, ok := AskedByAll(s); mean != 10./4 || !ok {
		t.Errorf("%v are asked on average, %v", mean, ok)
	}
}
