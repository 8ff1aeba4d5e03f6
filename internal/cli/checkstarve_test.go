package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"

	"dmebench/algorithms/centralized"
	"dmebench/dme"
	"dmebench/dme/collections"
)

// favourite is a node of a system in which node 1 gives the resource to the node with the
// largest number of those that wait.
type favourite struct {
	id, holder dme.NodeID
	waiting    collections.NodeSet
}

const (
	wish dme.Kind = iota + 1
	gift
	back
)

func (f *favourite) Request(out *dme.Outbox) { f.say(wish, out) }
func (f *favourite) Release(out *dme.Outbox) { f.say(back, out) }

func (f *favourite) say(kind dme.Kind, out *dme.Outbox) {
	if f.id == 1 {
		f.Receive(1, dme.Message{Kind: kind}, out)
	} else {
		out.Send(1, dme.Message{Kind: kind})
	}
}

func (f *favourite) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	switch m.Kind {
	case gift:
		out.Enter(dme.Stamp{})
		return
	case wish:
		f.waiting.Add(from)
	case back:
		f.holder = dme.None
	}
	if f.holder != dme.None {
		return
	}
	for id := range f.waiting.All() {
		f.holder = id
	}
	switch f.waiting.Remove(f.holder); f.holder {
	case dme.None:
	case 1:
		out.Enter(dme.Stamp{})
	default:
		out.Send(f.holder, dme.Message{Kind: gift})
	}
}

func (f *favourite) State(v *dme.Visitor) {
	v.Node("holder", &f.holder)
	f.waiting.Show(v, "waiting")
}

type favourites struct{ nodes int }

func (s favourites) Node(id dme.NodeID) dme.Node {
	return &favourite{id: id, waiting: collections.MakeNodeSet(s.nodes)}
}

// favouritism is claimed to be free of starvation, or not.
func favouritism(claims ...dme.Claim) *dme.Algorithm {
	return &dme.Algorithm{
		Name: "favouritism", Title: "Favouritism", Citation: "nobody", Class: dme.Permission, Kinds: []string{"WISH", "GIFT", "BACK"},
		Needs: dme.Always(dme.Needs{Reliable: true}), Claims: claims,
		Prepare: func(c dme.Config) (dme.System, error) { return favourites{c.Nodes}, nil },
	}
}

// What starves a node, or lets it be overtaken more often than its paper says, is found
// without a word of advice, saved, and played again.
func TestCheckFindsStarvation(t *testing.T) {
	tooSharp := centralized.Algorithm()
	tooSharp.Claims = append(tooSharp.Claims, dme.Claim{
		Quantity: dme.Bypass, Formula: "N−1", Load: dme.AnyLoad, Kind: dme.UpperBound, Source: "nowhere",
	})
	t.Chdir(t.TempDir())
	run := func(a *dme.Algorithm, args string) (code int, printed string) {
		var out bytes.Buffer
		code = Run(words("dmebench "+args), nil, &out, &out, []*dme.Algorithm{a}, fstest.MapFS{})
		return code, out.String()
	}
	for property, a := range map[string]*dme.Algorithm{
		"starvation": favouritism(dme.SafeAndLive("nowhere")...), "bounded bypass": tooSharp,
	} {
		code, printed := run(a, "check "+a.Name+" -n 3 --json --quiet --save found.txt")
		var r checkResult
		if err := json.Unmarshal([]byte(printed), &r); err != nil {
			t.Fatal(err, printed)
		}
		if code != 1 || r.Status != "violated" || string(r.Property) != property || r.Watched == "" || r.Bypass != nil || r.Scenario == "" {
			t.Errorf("%s: %d, %+v", property, code, r)
		}
		code, printed = run(a, "trace -f found.txt")
		if code != 0 || !strings.Contains(printed, "violation: node ") {
			t.Errorf("%s: %d\n%s", property, code, printed)
		}
		if code, again := run(a, strings.TrimPrefix(r.Replay, "dmebench ")+" --quiet"); code != 1 || !strings.Contains(again, r.Verdict) {
			t.Errorf("%s: %d\n%s", r.Replay, code, again)
		}
	}
	// Where nobody claims that it is free of it, it is a note.
	code, printed := run(favouritism(), "check favouritism -n 3 --schedules 500 --quiet")
	if code != 0 || !strings.Contains(printed, "favouritism does not say that it is free of starvation; in ") ||
		!strings.Contains(printed, " starves: ") || !strings.Contains(printed, "no violation found") {
		t.Errorf("%d\n%s", code, printed)
	}
}
