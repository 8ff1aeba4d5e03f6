package check

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"dmebench/algorithms/lamport"
	"dmebench/algorithms/maekawa"
	"dmebench/dme"
)

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
