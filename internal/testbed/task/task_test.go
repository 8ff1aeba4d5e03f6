package task

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"dmebench/algorithms/lamport"
	"dmebench/algorithms/maekawa"
	"dmebench/dme"
	"dmebench/internal/platform/launch"
	"dmebench/internal/runtime/run"
	"dmebench/internal/search/check"
	"dmebench/runs"
)

func simulation(algorithm string) Task {
	s := runs.Spec{Algorithm: algorithm, Nodes: 3, Transport: runs.Sim, Requests: 9}
	return Task{Simulate: &Simulation{Spec: s.WithDefaults()}}
}

// catalog has an algorithm that never comes to an end.
func catalog() run.Catalog {
	lasts := *lamport.Algorithm()
	lasts.Name, lasts.Prepare = "lasts", func(dme.Config) (dme.System, error) { select {} }
	return run.Catalog{lamport.Algorithm(), maekawa.Algorithm(), &lasts}
}

// The process answers every task, and goes on after one that it cannot carry out. It
// leaves when its parent does, in the midst of one.
func TestMainAnswers(t *testing.T) {
	stdin, in := io.Pipe()
	out, stdout := io.Pipe()
	code := make(chan int)
	go func() { code <- Main(catalog(), stdin, stdout, io.Discard) }()
	ask, answers := json.NewEncoder(in), json.NewDecoder(out)
	if err := ask.Encode(Config{}); err != nil {
		t.Fatal(err)
	}
	search := Search{Algorithm: "maekawa", Options: check.Options{Nodes: 3, Requests: 6, Seed: 1, Schedules: 10}, First: 2, Count: 5}
	for i, x := range []struct {
		task any
		want func(Answer) bool
	}{
		{simulation("lamport"), func(a Answer) bool { return a.Result != nil && a.Result.Entries == 9 && a.Result.Spec.Requests == 9 }},
		{"garbage", func(a Answer) bool { return strings.HasPrefix(a.Error, "task: ") }},
		{simulation("none"), func(a Answer) bool { return strings.Contains(a.Error, `unknown algorithm "none"`) }},
		{Task{Search: &search}, func(a Answer) bool { return a.Part != nil && a.Part.First == 2 && a.Part.Done == 5 }},
		{Task{Search: &search}, func(a Answer) bool { return a.Part != nil && a.Part.Done == 5 }}, // from the one before
		{simulation("maekawa"), func(a Answer) bool { return a.Result != nil }},
	} {
		if err := ask.Encode(x.task); err != nil {
			t.Fatal(err)
		}
		var a Answer
		if err := answers.Decode(&a); err != nil || !x.want(a) {
			t.Errorf("task %d: %+v, %v", i, a, err)
		}
	}
	if err := ask.Encode(simulation("lasts")); err != nil {
		t.Fatal(err)
	}
	in.Close()
	if c := <-code; c != 0 {
		t.Errorf("ended with %d", c)
	}
	var complaint bytes.Buffer
	c := Main(nil, strings.NewReader(""), io.Discard, &complaint)
	if c != launch.Misused || !strings.Contains(complaint.String(), "started by an agent") {
		t.Errorf("without a parent: %d, %s", c, complaint.String())
	}
}

// A search is the same where it arrives, with the files that it names and no others.
func TestSearchOf(t *testing.T) {
	o := check.Options{
		Nodes: 5, Requests: 7, Set: map[string]string{"quorum": "file:f"}, Unordered: true, Lose: 2, Faults: 3, Bypass: 4, Seed: 6,
		Adversary: check.Adversarial, Requesters: []dme.NodeID{2, 3}, Schedules: 1, Bitstate: 7, Memory: 9,
	}
	s := SearchOf("x", o, map[string][]byte{"f": []byte("text"), "other": nil})
	s.Count = 1
	b, err := json.Marshal(Task{Search: &s})
	if err != nil {
		t.Fatal(err)
	}
	got, err := decode(b)
	if err != nil || !reflect.DeepEqual(*got.Search, s) {
		t.Errorf("%v: %+v, want %+v", err, got, s)
	}
	if b, err := reader(s.Files)("f"); err != nil || string(b) != "text" || len(s.Files) != 1 {
		t.Errorf("%q, %v", b, err)
	}
}

func TestNamed(t *testing.T) {
	all := map[string][]byte{"a.txt": nil, "dir/b.txt": nil, "c": nil}
	named := Named(map[string]string{"quorum": "file:dir/b.txt", "file": "a.txt"}, all)
	if got := slices.Sorted(maps.Keys(named)); !slices.Equal(got, []string{"a.txt", "dir/b.txt"}) || len(all) != 3 {
		t.Errorf("%v of %d", got, len(all))
	}
	if got := Named(nil, all); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

// Nothing that comes in place of a task does harm, and what is one says the same when it
// is written again.
func FuzzDecode(f *testing.F) {
	for _, x := range []any{
		simulation("maekawa"), Task{}, 1,
		Task{Search: &Search{Algorithm: "maekawa", Options: check.Options{Nodes: 3, Requests: 3, Schedules: 3}, Count: 2}},
	} {
		b, err := json.Marshal(x)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		x, err := decode(b)
		if err != nil {
			return
		}
		again, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		y, err := decode(again)
		if err != nil {
			t.Fatal(err)
		}
		if last, err := json.Marshal(y); err != nil || string(last) != string(again) {
			t.Errorf("%s, then %s, %v", again, last, err)
		}
	})
}
