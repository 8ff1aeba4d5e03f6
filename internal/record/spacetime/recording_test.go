package spacetime

import (
	"bytes"
	"strings"
	"testing"

	"dmebench/internal/record/recording"
)

const recorded = `{"schema_version":1,"algorithm":"x","nodes":3,"clock":"virtual","whole":true,"absent":[3]}
{"at_ns":0,"node":1,"event":"start"}
{"at_ns":1000,"node":1,"event":"request"}
{"at_ns":1000,"node":1,"event":"send","peer":2,"kind":"ASK","id":1}
{"at_ns":2500000,"node":2,"event":"receive","peer":1,"kind":"ASK","id":1}
{"at_ns":2500000,"node":2,"event":"send","peer":1,"kind":"ANSWER","id":2}
{"at_ns":2600000,"node":2,"event":"send","peer":1,"kind":"GONE","id":3}
{"at_ns":3000000,"node":1,"event":"receive","peer":2,"kind":"ANSWER","id":2}
{"at_ns":3000000,"node":1,"event":"enter"}
{"at_ns":3500000,"node":3,"event":"join"}
{"at_ns":4000000,"node":1,"event":"exit"}
`

func pictured(t *testing.T, text string, part recording.Part) (*Recorded, error) {
	t.Helper()
	h, events, err := recording.Read("r.jsonl", strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	return Record(h, events, part)
}

// Rows have the times of their steps, a message that never arrives is lost where the
// recording is whole, and what a part does not show of a message's beginning, or of
// an entry's, comes in from above.
func TestRecord(t *testing.T) {
	r, err := pictured(t, recorded, recording.Part{})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(r.Times, " "); got != "0.001 2.500 3.000 3.500 4.000" || r.Last != 5 {
		t.Errorf("%d rows at %s", r.Last, got)
	}
	fates := map[string]Fate{}
	for _, m := range r.Messages {
		fates[m.Label] = m.Fate
	}
	if len(fates) != 3 || fates["ASK"] != Arrives || fates["ANSWER"] != Arrives || fates["GONE"] != Lost {
		t.Errorf("%v", fates)
	}
	if len(r.Sections) != 1 || r.Sections[0] != (Section{Lane: 0, Enter: 3, Leave: 5}) || len(r.Absences) != 1 || r.Absences[0].Leave != 4 {
		t.Errorf("%+v, %+v", r.Sections, r.Absences)
	}
	svg := r.SVG()
	said, rows := 0.0, 0.0
	for _, e := range elements(t, svg) {
		switch {
		case strings.Contains(e.text, "heights are not to scale"):
			said = number(t, e, "y")
		case e.attr["class"] == "row":
			rows = max(rows, number(t, e, "y"))
		}
	}
	if height := number(t, elements(t, svg)[0], "height"); said <= rows || said >= height {
		t.Errorf("that rows are not to scale is said at %g, below rows that end at %g, in a picture %g high", said, rows, height)
	}
	if bytes.Contains(example().SVG(), []byte("to scale")) {
		t.Error("rows that are numbered have no scale to speak of")
	}
	for _, want := range []string{">2.500</text>", ">ms</text>", "GONE lost", ">join</text>"} {
		if !bytes.Contains(svg, []byte(want)) {
			t.Errorf("%q is not in the picture", want)
		}
	}
	from, err := recording.ParseBound("3ms")
	if err != nil {
		t.Fatal(err)
	}
	r, err = pictured(t, recorded, recording.Part{From: from, Most: 2})
	if err != nil || !r.More || r.Last != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	for _, m := range r.Messages {
		if m.Sent != 0 || m.Label == "ANSWER" && m.End != 1 || m.Label == "GONE" && m.Fate != OnTheWay {
			t.Errorf("%+v", m)
		}
	}
}

// Whatever a recording says, it is refused or drawn.
func FuzzRecord(f *testing.F) {
	f.Add(recorded)
	f.Add(strings.ReplaceAll(recorded, `"join"`, `"crash"`))
	f.Add(strings.ReplaceAll(recorded, `"exit"`, `"restart"`))
	f.Add(strings.ReplaceAll(recorded, `"start"`, `"left"`))
	f.Add(strings.ReplaceAll(recorded, `"id":2`, `"id":1,"copy":true`))
	f.Fuzz(func(t *testing.T, text string) {
		if h, _, err := recording.Read("", strings.NewReader(text)); err != nil || h.Nodes > 50 {
			return
		}
		if r, err := pictured(t, text, recording.Part{Most: 100}); err == nil {
			elements(t, r.SVG())
		}
	})
}
