package workqueue

import (
	"bytes"
	"encoding/json"
	"io"
	"reflect"
	"strings"
	"testing"

	"dmebench/dme"
	"dmebench/internal/platform/launch"
	"dmebench/internal/search/check"
)

// The process goes on after what is no task, and leaves when its parent does, in the
// midst of one. Nobody else can start it.
func TestMainLeavesWithItsParent(t *testing.T) {
	stdin, in := io.Pipe()
	out, stdout := io.Pipe()
	code := make(chan int)
	go func() { code <- Main(known(), stdin, stdout, io.Discard) }()
	ask, answers := json.NewEncoder(in), json.NewDecoder(out)
	for _, x := range []any{struct{}{}, "garbage"} {
		if err := ask.Encode(x); err != nil {
			t.Fatal(err)
		}
	}
	var a Answer
	if err := answers.Decode(&a); err != nil || !strings.HasPrefix(a.Error, "task: ") {
		t.Errorf("%+v, %v", a, err)
	}
	if err := ask.Encode(simulation("lasts", 3, 9, 1)); err != nil {
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
		Nodes: 5, Requests: 7, Set: map[string]string{"quorum": "file:map"}, Unordered: true, Lose: 2, Faults: 3, Bypass: 4, Seed: 6,
		Adversary: check.Adversarial, Requesters: []dme.NodeID{2, 3}, Schedules: 1, Bitstate: 7, Memory: 9,
	}
	s := SearchOf("x", o, map[string][]byte{"map": []byte("text"), "other": nil})
	s.Count = 1
	b, err := json.Marshal(Task{Search: &s})
	if err != nil {
		t.Fatal(err)
	}
	got, err := decode(b)
	if err != nil || !reflect.DeepEqual(*got.Search, s) {
		t.Errorf("%v: %+v, want %+v", err, got, s)
	}
	if b, err := reader(s.Files)("map"); err != nil || string(b) != "text" || len(s.Files) != 1 {
		t.Errorf("%q, %v", b, err)
	}
}

// Nothing that comes in place of a task does harm, and what is one says the same when it
// is written again.
func FuzzDecode(f *testing.F) {
	for _, x := range []any{
		simulation("maekawa", 3, 9, 1), Task{}, 1,
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
