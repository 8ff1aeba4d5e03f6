package check

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"dmebench/algorithms/lamport"
	"dmebench/algorithms/maekawa"
	"dmebench/algorithms/ricartagrawala"
	"dmebench/dme"
	"dmebench/dme/vnet"
)

// Half of the schedules have all nodes ask, a quarter a few, and the others any number of
// them; half make all requests, a quarter one of each node that asks, and a quarter two.
func TestHowRequestsVary(t *testing.T) {
	const nodes, most, draws = 8, 20, 20_000
	rng := rand.New(rand.NewPCG(1, 18))
	askers, alone := map[int]int{}, map[int]int{}
	all, one, two := 0, 0, 0
	for range draws {
		asking, sum, last := 0, 0, 0
		for id, k := range vary(rng, nodes, most) {
			if sum += k; k > 0 {
				asking, last = asking+1, id
			}
		}
		switch askers[asking]++; sum {
		case most:
			all++
		case asking:
			one++
		case 2 * asking:
			two++
		default:
			t.Fatalf("%d requests of %d nodes", sum, asking)
		}
		if asking == 1 {
			alone[last]++
		}
	}
	for k := 1; k <= nodes; k++ {
		p := 1. / 4 / nodes
		switch {
		case k >= 2 && k <= 4:
			p += 1. / 4 / 3
		case k == nodes:
			p += 1. / 2
		}
		often(t, "a number of nodes ask", askers[k], draws, p)
		often(t, "a node asks alone", alone[k], askers[1], 1./nodes)
	}
	often(t, "all requests are made", all, draws, 1./2)
	often(t, "each asks once", one, draws, 1./4)
	often(t, "each asks twice", two, draws, 1./4)
	for range 100 { // fewer requests than nodes
		sum := 0
		for _, k := range vary(rng, nodes, 2) {
			sum += k
		}
		if sum < 1 || sum > 2 {
			t.Fatalf("%d requests of 2", sum)
		}
	}
}

// Who is to starve is drawn, and how long things are held back; the others ask as often as
// it takes to pass a node over each time that it asks.
func TestPlansOfStarvation(t *testing.T) {
	if leastPatience(3) != 8 || leastPatience(8) != 8 || leastPatience(9) != 9 {
		t.Errorf("patience of %d, %d and %d steps", leastPatience(3), leastPatience(8), leastPatience(9))
	}
	if got := tooMany(3, 4); got != 24 { // twice what enters while a request goes round and a grant comes back
		t.Errorf("%d entries are too many", got)
	}
	const nodes, draws = 8, 4000
	s := searchOf(t, lamport.Algorithm(), Options{Nodes: nodes, Requests: 20, Vary: true})
	rng := rand.New(rand.NewPCG(1, 19))
	victims, patience, rivals := map[dme.NodeID]int{}, map[int]int{}, map[int]int{}
	seeds := map[uint64]bool{}
	for range draws {
		p := s.starvation(*s.model, rng)
		victims[p.victim]++
		patience[p.patience]++
		seeds[p.seed] = true
		others, sum := 0, 0
		for id := range p.model.IDs() {
			if k := p.model.Requests(id); id != p.victim && k > 0 {
				others, sum = others+1, sum+k
			}
		}
		rivals[others]++
		enough := 2 * tooMany(nodes, 2*p.patience)
		if p.model.Requests(p.victim) != 2 || sum < enough || sum > enough+2*others {
			t.Fatalf("the victim asks %d times, and %d others %d times, where %d are enough", p.model.Requests(p.victim), others, sum, enough)
		}
	}
	for id := range s.model.IDs() {
		often(t, "a node is to starve", victims[id], draws, 1./nodes)
	}
	for k := range 3 {
		often(t, "a patience", patience[8<<k], draws, 1./3)
	}
	often(t, "all others ask", rivals[nodes-1], draws, 1./2)
	for k := 2; k < nodes-1; k++ {
		often(t, "some others ask", rivals[k], draws, 1./2/(nodes-3))
	}
	if len(seeds) != draws {
		t.Errorf("%d seeds of %d", len(seeds), draws)
	}
}

// Each starver is drawn by itself, and one with priorities changes these while it lasts.
func TestStarversAreDrawn(t *testing.T) {
	const nodes, draws = 3, 3000
	s := searchOf(t, lamport.Algorithm(), Options{Nodes: nodes, Requests: 9})
	d := newDelays(vnet.New(s.model))
	leaving := map[exits]int{}
	ordered, latest := 0, 0
	for seed := range uint64(draws) {
		x := newStarver(plan{model: s.model, victim: 1, patience: 8}, d, rand.New(rand.NewPCG(seed, 20)))
		leaving[x.exits]++
		if p, ok := x.order.(*priorities); ok {
			ordered++
			for _, at := range p.changes {
				latest = max(latest, at)
			}
		}
	}
	for e := soon; e <= last; e++ {
		often(t, "nodes leave at a time", leaving[e], draws, 1./3)
	}
	often(t, "priorities choose", ordered, draws, 1./2)
	if latest < 15*nodes*nodes || latest >= 16*nodes*nodes {
		t.Errorf("the latest change is at step %d", latest)
	}
}

// Where nodes distinguish readers, in half of the schedules the others read while the
// victim writes.
func TestWhoReadsWhileAnotherStarves(t *testing.T) {
	a := readersFirst()
	s := searchOf(t, a, Defaults(a, 3, nil))
	const draws = 200
	rng := rand.New(rand.NewPCG(1, 21))
	reading := 0
	for range draws {
		p := s.starvation(*s.model, rng)
		p.patience = 8
		shared, others := 0, 0
		for _, x := range s.starve(p, nil).taken {
			switch {
			case !asks(x):
			case x.Node == p.victim:
				if x.Kind != vnet.Ask {
					t.Fatalf("the victim reads")
				}
			case x.Kind == vnet.AskShared:
				shared++
			default:
				others++
			}
		}
		if shared > 0 && others > 0 {
			t.Fatalf("%d requests of others are to read, and %d to write", shared, others)
		}
		if shared > 0 {
			reading++
		}
	}
	often(t, "the others read", reading, draws, 1./2)
}

// What a search is made of: its seed, its bounds, as many goroutines as may run, and a
// system, without which there is none.
func TestWhatASearchIsMadeOf(t *testing.T) {
	before := runtime.GOMAXPROCS(2)
	defer runtime.GOMAXPROCS(before)
	s := searchOf(t, ricartagrawala.Algorithm(), Options{Nodes: 3, Requests: 4, Seed: 77, Bypass: 5})
	if s.Workers != 2 || runtime.GOMAXPROCS(0) != 2 {
		t.Errorf("%d workers, where %d goroutines run at once", s.Workers, runtime.GOMAXPROCS(0))
	}
	if s.model.Seed != 77 || s.model.Bypass != 5 || s.model.Requests(1) != 2 {
		t.Errorf("seed %d, a bound of %d, %d requests", s.model.Seed, s.model.Bypass, s.model.Requests(1))
	}
	a := lamport.Algorithm()
	a.Prepare = func(dme.Config) (dme.System, error) { return nil, errors.New("not today") }
	if _, err := New(a, Options{Nodes: 3, Requests: 3}); err == nil || !strings.Contains(err.Error(), "not today") {
		t.Errorf("without a system: %v", err)
	}
	one := lamport.Algorithm()
	one.ValidNodes = func(n int, _ dme.Options) error {
		if n == 1 {
			return errors.New("not alone")
		}
		return nil
	}
	if _, err := New(one, Options{Nodes: 1, Requests: 3}); err == nil || !strings.Contains(err.Error(), "not alone") {
		t.Errorf("a node alone: %v", err)
	}
	one.AsPublished = true
	s = searchOf(t, one, Options{Nodes: MaxNodes, Requests: 1})
	if notes := s.Notes(); len(notes) != 1 || notes[0] != "lamport is the literal text of its paper and known to be wrong" {
		t.Errorf("%q", notes)
	}
}

// Sizes are read in all their units, and written in those that are powers of 1024.
func TestUnitsOfBytes(t *testing.T) {
	for text, want := range map[string]Bytes{
		"1B": 1, "1kB": 1000, "1MB": 1_000_000, "1GB": 1_000_000_000, "1TB": 1_000_000_000_000,
		"1KiB": 1024, "1MiB": 1024 * 1024, "1GiB": 1024 * 1024 * 1024, "1TiB": 1024 * 1024 * 1024 * 1024, "0.5 kB": 500, "1.5MiB": 1536 * 1024,
	} {
		if got, err := ParseBytes(text); err != nil || got != want {
			t.Errorf("%s is read as %d, %v, want %d", text, int64(got), err, int64(want))
		}
	}
	for b, want := range map[Bytes]string{
		1: "1 B", 1023: "1023 B", 1024: "1 KiB", 1025: "1.001 KiB", 1<<20 - 1: "1024 KiB", 1 << 20: "1 MiB", 1 << 30: "1 GiB",
		1 << 40: "1 TiB", 3 << 39: "1.5 TiB", 1 << 50: "1024 TiB",
	} {
		if got := b.String(); got != want {
			t.Errorf("%d is written as %q, want %q", int64(b), got, want)
		}
	}
}

// divided searches a in parts of so many schedules, each of which travels as JSON and is
// run by a search of its own.
func divided(t *testing.T, a *dme.Algorithm, o Options, size int) Report {
	t.Helper()
	s, err := New(a, o)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Join(t.Context(), func(ctx context.Context, first int) (p Part, err error) {
		elsewhere, err := New(a, o)
		if err != nil {
			return p, err
		}
		b, err := json.Marshal(elsewhere.Part(ctx, first, min(size, s.Schedules-first)))
		if err != nil {
			return p, err
		}
		return p, json.Unmarshal(b, &p)
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// However a search is divided, its report is that of one worker: counters, the first
// seed that breaks a property, and its shortened trace.
func TestParts(t *testing.T) {
	few := *lamport.Algorithm() // of which some seeds have no system
	few.Prepare = func(c dme.Config) (dme.System, error) {
		if c.Seed == 13 {
			return nil, errors.New("not with 13")
		}
		return lamport.Algorithm().Prepare(c)
	}
	for _, x := range []struct {
		name   string
		a      *dme.Algorithm
		o      Options
		broken bool
	}{
		{"holds", maekawa.Algorithm(), Options{Nodes: 4, Requests: 8, Seed: 3, Schedules: 101}, false},
		{"breaks", lamport.Algorithm(), Options{Nodes: 3, Requests: 6, Seed: 40, Schedules: 500, Unordered: true}, true},
		{"refuses", lamport.Algorithm(), Options{Nodes: 3, Requests: 6, Seed: 1, Schedules: 40, Unordered: true, Duplicate: true}, true},
		{"no system", &few, Options{Nodes: 3, Requests: 6, Seed: 1, Schedules: 40}, true},
	} {
		t.Run(x.name, func(t *testing.T) {
			x.o.Workers = 1
			want, err := Random(t.Context(), x.a, x.o)
			if err != nil || (want.Violation != nil) != x.broken {
				t.Fatalf("%+v, %v", want, err)
			}
			want.Elapsed, want.Workers = 0, 0
			for _, size := range []int{1, 7, 64, 500} {
				got := divided(t, x.a, x.o, size)
				got.Elapsed = 0
				if !reflect.DeepEqual(plain(got), plain(want)) {
					t.Errorf("in parts of %d:\n%+v\nwant\n%+v", size, got, want)
				}
			}
		})
	}
}

// plain is a report without what cannot be compared, but by what it shows.
func plain(r Report) any {
	var lines []string
	if r.Trace != nil {
		lines = append(r.Trace.Lines(), r.Trace.States...)
	}
	if r.Violation != nil {
		lines = append(lines, r.Violation.Verdict, string(r.Violation.Property))
	}
	r.Trace, r.Violation = nil, nil
	return struct {
		Report
		Lines string
	}{r, strings.Join(lines, "\n")}
}

// What is handed in must be what was asked for, and what it claims to have found must
// be there.
func TestPartsThatCannotBe(t *testing.T) {
	o := Options{Nodes: 3, Requests: 3, Seed: 1, Schedules: 10}
	s, err := New(maekawa.Algorithm(), o)
	if err != nil {
		t.Fatal(err)
	}
	lost := errors.New("lost")
	for _, x := range []struct {
		p    Part
		err  error
		want string
	}{
		{Part{First: 1, Done: 3}, nil, "a part of 3 schedules from 1 on, where those from 0 on to 10"},
		{Part{First: 0, Done: 0}, nil, "a part of 0"},
		{Part{First: 0, Done: 11}, nil, "a part of 11"},
		{Part{First: 0, Done: 2, Broken: true}, nil, "seed 2 broke a property elsewhere"},
		{Part{}, lost, "lost"},
	} {
		if _, err := s.Join(t.Context(), func(context.Context, int) (Part, error) { return x.p, x.err }); err == nil ||
			!strings.Contains(err.Error(), x.want) {
			t.Errorf("%+v: %v", x.p, err)
		}
	}
}

// A search whose time is over says what it has seen.
func TestPartsOutOfTime(t *testing.T) {
	s, err := New(maekawa.Algorithm(), Options{Nodes: 3, Requests: 3, Seed: 1, Schedules: 10, Time: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Join(t.Context(), func(ctx context.Context, first int) (Part, error) {
		if first == 0 {
			return s.Part(t.Context(), first, 4), nil
		}
		<-ctx.Done()
		return Part{}, ctx.Err()
	})
	// On a slow machine the first part may come too late.
	if err != nil || r.Complete || r.Stopped != "out of time" || r.Schedules != 0 && r.Schedules != 4 {
		t.Errorf("%+v, %v", r, err)
	}
}
