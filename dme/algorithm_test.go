package dme

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// promises are claims with a fault, or without.
type promises struct{ fault error }

func (p promises) Check(*Algorithm) error { return p.fault }

func sound() *Algorithm {
	return &Algorithm{
		Name: "sound", Title: "Sound", Citation: "nobody", Class: Token,
		Needs: Always(Needs{Reliable: true}), Kinds: []string{"REQUEST", "TOKEN"},
		Options: []Option{
			{Name: "mode", Default: "a", Words: []string{"a", "b"}, Help: "which"},
			{Name: "count", Default: "1", Forms: []string{"COUNT"}, Help: "how many", Valid: func(v string) error {
				if v == "" || strings.Trim(v, "0123456789") != "" {
					return errors.New("not a number")
				}
				return nil
			}},
		},
		Claims: promises{},
		Invariants: []Invariant{
			{Name: "one", Citation: "nobody", Statement: "nothing", Holds: func(GlobalView) error { return nil }},
			{Name: "two", Citation: "nobody", Statement: "nothing", Pair: func(_ GlobalView, _, _ NodeID, _, _ Node) error { return nil }},
		},
		Gauges: []Gauge{
			{Quantity: "turns", Begin: func(Setting) Meter { return nil }},
			{Quantity: "queue", Begin: func(Setting) Meter { return nil }},
		},
		ValidNodes: func(n int, _ Options) error {
			if n == 6 {
				return errors.New("there is no plane of 6")
			}
			return nil
		},
		Prepare: func(Config) (System, error) { return nil, nil },
	}
}

func TestCheckFindsEveryFault(t *testing.T) {
	if err := sound().Check(); err != nil {
		t.Fatal(err)
	}
	for fault, breakIt := range map[string]func(*Algorithm){
		"no name":                                func(a *Algorithm) { a.Name = "" },
		"no title":                               func(a *Algorithm) { a.Title = "" },
		"no citation":                            func(a *Algorithm) { a.Citation = "" },
		"no class":                               func(a *Algorithm) { a.Class = "other" },
		"no needs":                               func(a *Algorithm) { a.Needs = nil },
		"no Prepare":                             func(a *Algorithm) { a.Prepare = nil },
		"1 to 15 message kinds":                  func(a *Algorithm) { a.Kinds = nil },
		"wants 1 to 15 message kinds":            func(a *Algorithm) { a.Kinds = make([]string, MaxKinds+1) },
		"without a name of its own":              func(a *Algorithm) { a.Kinds[1] = a.Kinds[0] },
		"an option without name":                 func(a *Algorithm) { a.Options[0].Name = "" },
		"without name, values or help":           func(a *Algorithm) { a.Options[0].Help = "" },
		`option mode: "c" is not`:                func(a *Algorithm) { a.Options[0].Default = "c" },
		`option count: "x" is not`:               func(a *Algorithm) { a.Options[1].Samples = []string{"x"} },
		"option mode twice":                      func(a *Algorithm) { a.Options[1].Name = "mode" },
		"for stepped workloads: mode=c":          func(a *Algorithm) { a.Stepped = map[string]string{"mode": "c"} },
		"invariant \"one\": wants a name":        func(a *Algorithm) { a.Invariants[0].Citation = "" },
		"invariant \"\": wants a name":           func(a *Algorithm) { a.Invariants[1].Name = "" },
		"invariant \"two\": wants a name":        func(a *Algorithm) { a.Invariants[1].Statement = "" },
		"and one function: Holds or Pair":        func(a *Algorithm) { a.Invariants[0].Holds = nil },
		"invariant \"two\": wants a name, a cit": func(a *Algorithm) { a.Invariants[1].Holds = a.Invariants[0].Holds },
		"invariant one twice":                    func(a *Algorithm) { a.Invariants[1].Name = "one" },
		"no such claim":                          func(a *Algorithm) { a.Claims = promises{errors.New("no such claim")} },
		"a gauge of queue, of which no claim":    func(a *Algorithm) { a.Claims = nil },
		"a gauge of nothing":                     func(a *Algorithm) { a.Gauges[1].Quantity = "" },
		"two gauges of turns":                    func(a *Algorithm) { a.Gauges[1].Quantity = "turns" },
		"a gauge of queue without Begin":         func(a *Algorithm) { a.Gauges[1].Begin = nil },
	} {
		a := sound()
		breakIt(a)
		if err := a.Check(); err == nil || !strings.Contains(err.Error(), fault) {
			t.Errorf("%q is not among %v", fault, err)
		}
	}
	own := sound()
	own.Claims, own.Invariants, own.Gauges = nil, nil, nil
	if err := own.Check(); err != nil {
		t.Errorf("an algorithm needs no claims: %v", err)
	}
	for _, class := range []Class{Permission, Quorum, Token} {
		for _, kinds := range []int{1, MaxKinds} {
			a := sound()
			a.Class, a.Kinds = class, nil
			for k := range kinds {
				a.Kinds = append(a.Kinds, string(rune('A'+k)))
			}
			if err := a.Check(); err != nil {
				t.Errorf("%s, %d kinds of messages: %v", class, kinds, err)
			}
		}
	}
	several := sound()
	several.Title, several.Citation = "", ""
	if err := several.Check(); strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("two faults are reported as %v", err)
	}
}

func TestValuesAndExamplesOfAnOption(t *testing.T) {
	o := Option{Words: []string{"line"}, Forms: []string{"kary:K", "file:F", "V1,V2,…"}, Samples: []string{"kary:3"}}
	if got := o.Examples(); !slices.Equal(got, []string{"line", "kary:3"}) {
		t.Errorf("%q", got)
	}
	if got := o.Values(); got != "line|kary:K|file:F|V1,V2,…" {
		t.Errorf("%q", got)
	}
}

func TestResolve(t *testing.T) {
	a := sound()
	opt, err := a.Resolve(map[string]string{"mode": "b"})
	if err != nil || opt.Get("mode") != "b" || opt.Get("count") != "1" {
		t.Errorf("%v, %v", opt, err)
	}
	// Every fault at once, each with what would be accepted.
	_, err = a.Resolve(map[string]string{"mode": "c", "count": "x", "tree": "star", "age": "3"})
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{
		"mode=c: want a|b", "count=x: not a number (want COUNT)",
		`unknown option "tree"; there are mode, count`, `unknown option "age"`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in:\n%v", want, err)
		}
	}
	if strings.Index(err.Error(), `"age"`) > strings.Index(err.Error(), `"tree"`) {
		t.Error("unknown options are not in order")
	}
	a.Options = nil
	if _, err = a.Resolve(map[string]string{"x": "1"}); err == nil || !strings.Contains(err.Error(), "there are none") {
		t.Error(err)
	}
}

func TestUndeclaredOptionPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("an option that was not declared has a value")
		}
	}()
	Options{}.Get("mode")
}

func TestNew(t *testing.T) {
	a := sound()
	var got Config
	a.Prepare = func(c Config) (System, error) { got = c; return nil, nil }
	if _, err := a.New(5, 42, map[string]string{"count": "9"}); err != nil {
		t.Fatal(err)
	}
	if got.Nodes != 5 || got.Seed != 42 || got.Options.Get("count") != "9" || got.Options.Get("mode") != "a" {
		t.Errorf("prepared from %+v", got)
	}
	if err := a.CheckNodes(1, nil); err != nil {
		t.Errorf("one node: %v", err)
	}
	for n, want := range map[int]string{0: "at least 1", -1: "at least 1", 6: "sound: there is no plane of 6"} {
		if _, err := a.New(n, 1, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d nodes: %v", n, err)
		}
	}
	if _, err := a.New(5, 1, map[string]string{"mode": "x"}); err == nil {
		t.Error("a wrong option is accepted")
	}
}

func TestKindName(t *testing.T) {
	a := sound()
	var names []string
	for k := range Kind(4) {
		names = append(names, a.KindName(k))
	}
	if want := []string{"kind 0", "REQUEST", "TOKEN", "kind 3"}; !slices.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
}
