package recording

import (
	"bytes"
	"iter"
	"reflect"
	"strings"
	"testing"

	"dmebench/dme"
)

func each(events []Event) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func readAll(t *testing.T, text string) (Header, []Event, error) {
	t.Helper()
	h, events, err := Read("f.jsonl", strings.NewReader(text))
	if err != nil {
		return h, nil, err
	}
	var all []Event
	for e, err := range events {
		if err != nil {
			return h, all, err
		}
		all = append(all, e)
	}
	return h, all, nil
}

func TestFileRoundTrip(t *testing.T) {
	h, events := talk(t)
	var out bytes.Buffer
	n, err := Write(&out, h, each(events))
	if err != nil || n != len(events) || !Is(out.Bytes()) {
		t.Fatal(n, err)
	}
	got, all, err := readAll(t, out.String())
	if err != nil {
		t.Fatal(err)
	}
	h.SchemaVersion, h.Unit = SchemaVersion, "ns"
	if !reflect.DeepEqual(got, h) || !reflect.DeepEqual(all, events) {
		t.Errorf("%+v, %d events; want %+v, %d", got, len(all), h, len(events))
	}
}

// What is wrong with a file is said with its line.
func TestFileFaults(t *testing.T) {
	const head = `{"schema_version":1,"algorithm":"x","nodes":2}` + "\n"
	for text, want := range map[string]string{
		"":                                     "f.jsonl: the file is empty",
		"{\n":                                  "f.jsonl:1: not the header of a recording",
		`{"algorithm":"x","nodes":2}`:          "f.jsonl:1: not the header of a recording: it lacks schema_version",
		`{"schema_version":2,"algorithm":"x"}`: "f.jsonl:1: a recording of version 2; this program reads version 1",
		`{"schema_version":1,"algorithm":"x"}`: "f.jsonl:1: 0 nodes",
		`{"schema_version":1,"algorithm":"x","nodes":2,"absent":[3]}`: "absent: node 3",
		head + "\n\nrubbish\n":                                                                      "f.jsonl:4: not an event",
		head + `{"at_ns":0,"node":3,"event":"request"}`:                                             "f.jsonl:2: node 3 is not one of",
		head + `{"at_ns":0,"node":1,"event":"dance"}`:                                               `there is no event "dance"`,
		head + `{"at_ns":0,"node":1,"event":"send"}`:                                                "send: peer 0",
		head + `{"at_ns":5,"node":1,"event":"exit"}` + "\n" + `{"at_ns":4,"node":1,"event":"exit"}`: "f.jsonl:3: at_ns is 4, and 5 in",
		head + strings.Repeat(" ", maxLine+1):                                                       "f.jsonl:2: the line is longer than",
	} {
		if _, _, err := readAll(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80q: error %v, want %q", text, err, want)
		}
	}
}

func TestBounds(t *testing.T) {
	for text, want := range map[string]Bound{"0": {set: true}, "2.5ms": {At: 2_500_000, set: true}, "entry:7": {Entry: 7, set: true}} {
		if b, err := ParseBound(text); err != nil || b != want {
			t.Errorf("%q: %+v, %v", text, b, err)
		}
	}
	for _, text := range []string{"", "5", "-1s", "entry:0", "entry:x", "soon"} {
		if b, err := ParseBound(text); err == nil {
			t.Errorf("%q: %+v", text, b)
		}
	}
}

func TestPart(t *testing.T) {
	var events []Event
	for i := range 5 { // entry i+1 of node 1 at 10i+1, its exit and a message that follows, then something of node 2
		at := int64(10 * i)
		events = append(events, Event{At: at, Node: 1, What: dme.Request}, Event{At: at + 1, Node: 1, What: dme.Enter},
			Event{At: at + 2, Node: 2, What: dme.Timeout}, Event{At: at + 3, Node: 1, What: dme.Exit},
			Event{At: at + 3, Node: 1, What: dme.Send, Peer: 2}, Event{At: at + 4, Node: 2, What: dme.Receive, Peer: 1})
	}
	bound := func(text string) Bound {
		b, err := ParseBound(text)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for _, c := range []struct {
		name        string
		part        Part
		first, last int64
		more        bool
	}{
		{"all", Part{}, 0, 44, false},
		{"first", Part{Most: 7}, 0, 10, true},
		{"just enough", Part{Most: len(events)}, 0, 44, false},
		{"from", Part{From: bound("22ns")}, 22, 44, false},
		{"from to", Part{From: bound("22ns"), To: bound("30ns")}, 22, 30, false},
		{"from entry", Part{From: bound("entry:3")}, 12, 44, false},
		{"from first entry", Part{From: bound("entry:1"), Most: 2}, 0, 1, true},
		{"to entry", Part{To: bound("entry:2")}, 0, 13, false},
		{"one entry", Part{From: bound("entry:2"), To: bound("entry:2")}, 2, 13, false},
	} {
		before := 0
		got, more, err := c.part.Of(each(events), func(*Event) { before++ })
		if err != nil || len(got) == 0 {
			t.Errorf("%s: %d events, %v", c.name, len(got), err)
			continue
		}
		if last := got[len(got)-1]; got[0].At != c.first || last.At != c.last || more != c.more {
			t.Errorf("%s: %d to %d, %v; want %d to %d, %v", c.name, got[0].At, last.At, more, c.first, c.last, c.more)
		}
		if !reflect.DeepEqual(got, events[before:before+len(got)]) {
			t.Errorf("%s: not what comes after the %d before", c.name, before)
		}
		if c.part.To.Entry > 0 && got[len(got)-1].What != dme.Send {
			t.Errorf("%s: what the exit brings about is missing", c.name)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(`{"schema_version":1,"algorithm":"x","nodes":2}` + "\n" + `{"at_ns":0,"node":1,"event":"receive","peer":2,"id":1,"copy":true}`)
	f.Add(`{"schema_version":1,"algorithm":"x","nodes":3,"absent":[2]}` + "\n" + `{"at_ns":0,"node":2,"event":"join"}` + "\n" +
		`{"at_ns":0,"node":2,"event":"timer"}` + "\n" + `{"at_ns":1,"node":2,"event":"exit"}`)
	f.Fuzz(func(t *testing.T, text string) {
		h, events, err := readAll(t, text)
		if err != nil || h.Nodes > 100 {
			return
		}
		var out bytes.Buffer
		for _, format := range []func() error{
			func() error { return Text(&out, h, events) }, func() error { return ShiViz(&out, h, events) },
			func() error { return Perfetto(&out, h, events) }, func() error { return Mermaid(&out, h, events) },
		} {
			if err := format(); err != nil {
				t.Fatal(err)
			}
		}
	})
}
