package spacetime

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

func example() *Diagram {
	return &Diagram{
		Title: "Two & <three>", Caption: []string{"two nodes are in the critical section: 1 and 2"},
		Lanes: []string{"node 1", "node 2", "node 3"}, Ends: []string{"", "waits"}, Last: 7, Bad: []int{7},
		Messages: []Message{
			{From: 0, To: 1, Sent: 1, End: 2, Label: "REQUEST"},
			{From: 0, To: 2, Sent: 1, End: 3, Label: "REQUEST"},
			{From: 2, To: 0, Sent: 3, End: 4, Label: "REPLY"},
			{From: 1, To: 2, Sent: 2, End: 5, Label: "RELINQUISH", Fate: Lost},
			{From: 1, To: 0, Sent: 6, Label: "RELEASE", Fate: OnTheWay},
		},
		Sections: []Section{{Lane: 0, Enter: 4, Leave: 6}, {Lane: 2, Enter: 5, Bad: true}},
		Points: []Point{
			{Lane: 0, Row: 1, Mark: Request, Label: "read"}, {Lane: 0, Row: 6, Mark: Exit},
			{Lane: 1, Row: 7, Mark: Timer, Label: "timer 1"}, {Lane: 2, Row: 7, Label: "stop"},
		},
		Notes:  []Note{{Lane: 0, Row: 4, Text: "queue=[3 2]"}, {Lane: 2, Row: 5, Text: "deferred={1} " + strings.Repeat("long ", 30)}},
		States: [][]string{{"queue=[3]", "holder=2"}, nil, {"queue=[1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25]"}},
	}
}

// element is an element of a picture with its attributes and text.
type element struct {
	name string
	attr map[string]string
	text string
}

func elements(t *testing.T, svg []byte) []element {
	t.Helper()
	var all []element
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		token, err := d.Token()
		if err == io.EOF {
			for i := range all {
				all[i].text = strings.TrimSpace(all[i].text)
			}
			return all
		}
		if err != nil {
			t.Fatalf("not well-formed: %v\n%s", err, svg)
		}
		switch x := token.(type) {
		case xml.StartElement:
			e := element{name: x.Name.Local, attr: map[string]string{}}
			for _, a := range x.Attr {
				e.attr[a.Name.Local] = a.Value
			}
			all = append(all, e)
		case xml.CharData:
			if len(all) > 0 {
				all[len(all)-1].text += string(x)
			}
		}
	}
}

func number(t *testing.T, e element, name string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(e.attr[name], 64)
	if err != nil {
		t.Fatalf("%+v: %v", e, err)
	}
	return x
}

func TestEverythingIsInThePicture(t *testing.T) {
	svg := example().SVG()
	all := elements(t, svg)
	width, height := number(t, all[0], "width"), number(t, all[0], "height")
	count := map[string]int{}
	notes := map[string]float64{}
	rows := map[string]float64{} // the label in each row may meet no other
	for _, e := range all {
		count[e.name+" "+e.attr["class"]]++
		if e.name != "text" {
			continue
		}
		x, y := number(t, e, "x"), number(t, e, "y")
		length := letter * float64(utf8.RuneCountInString(e.text))
		if strings.Contains(e.attr["class"], "note") {
			length *= noteLetter / letter
		}
		left, right := x, x+length
		switch e.attr["text-anchor"] {
		case "end":
			left, right = x-length, x
		case "middle":
			left, right = x-length/2, x+length/2
		}
		if left < 0 || right > width || y < 0 || y > height {
			t.Errorf("%q at %v to %v, %v is outside of %v by %v", e.text, left, right, y, width, height)
		}
		if e.attr["class"] == "label note" {
			notes[e.text] = y
		}
		if e.attr["class"] == "label" {
			rows[e.text] = y
		}
	}
	for class, want := range map[string]int{
		"line life": 3, "line message": 4, "line message onway": 2, // one in the legend
		"path cross": 1, "rect section": 2, "rect section bad": 2, "rect badrow": 1, "text lane": 3, "text row": 7,
	} {
		if count[class] != want {
			t.Errorf("%d of %q, want %d\n%s", count[class], class, want, svg)
		}
	}
	text := string(svg)
	for _, want := range []string{"REQUEST", "REPLY", "RELINQUISH lost", "waits", "two nodes are in the critical section",
		"Two &amp; &lt;three&gt;", "timer 1", "stop", "read", ">queue=[3 2]<", ">deferred={1} long long", "…<", ">holder=2<", ">queue=[1 2"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not there", want)
		}
	}
	if from, to := rows["REPLY"], notes["queue=[3 2]"]; to <= from || to > from+rowHeight {
		t.Errorf("what changes with REPLY, at %v, stands at %v", from, to)
	}
	if rows["REPLY"] <= rows["REQUEST"] {
		t.Errorf("time does not go downwards: %v", rows)
	}
}

func TestThePictureIsAFunctionOfTheDiagram(t *testing.T) {
	if !bytes.Equal(example().SVG(), example().SVG()) {
		t.Error("two drawings differ")
	}
}

// Only the rows asked for are drawn; what began before them comes in from above.
func TestPart(t *testing.T) {
	d := &Diagram{Title: "part", Lanes: []string{"node 1", "node 2"}, First: 101, Last: 110}
	for row := 1; row <= 110; row++ {
		d.Messages = append(d.Messages, Message{From: row % 2, To: 1 - row%2, Sent: row - 1, End: row, Label: fmt.Sprint("M", row)})
	}
	d.Sections = []Section{{Lane: 0, Enter: 5, Leave: 9}, {Lane: 1, Enter: 50, Leave: 104}}
	svg := string(d.SVG())
	all := elements(t, []byte(svg))
	height := number(t, all[0], "height")
	if height > 800 || strings.Contains(svg, "M100<") || !strings.Contains(svg, "M101<") || !strings.Contains(svg, "M110<") {
		t.Errorf("height %v\n%s", height, svg)
	}
	sections := 0
	for _, e := range all {
		if e.attr["class"] == "section" {
			sections++
		}
	}
	if sections != 2 { // one of them in the legend
		t.Errorf("%d sections", sections)
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text string
		most int
		want string
	}{{"", 10, ""}, {"one two three", 7, "one two|three"}, {"incomprehensible", 4, "incomprehensible"}, {"a b c", 1, "a|b|c"}} {
		if got := strings.Join(wrap(c.text, c.most), "|"); got != c.want {
			t.Errorf("%q at %d: %q, want %q", c.text, c.most, got, c.want)
		}
	}
}

func TestEmpty(t *testing.T) {
	elements(t, (&Diagram{Lanes: []string{"node 1"}}).SVG())
}

// Rows that repeat have an arrow from the last back to the first of them, also
// where that one is not shown.
func TestLoop(t *testing.T) {
	d := example()
	if strings.Contains(string(d.SVG()), `class="loop"`) {
		t.Error("nothing repeats, and a loop is drawn")
	}
	for _, loop := range []int{3, d.Last, d.Last + 5} {
		d.Loop = loop
		if svg := string(d.SVG()); strings.Count(svg, `class="loop"`) != 1 || !strings.Contains(svg, ">for ever<") {
			t.Errorf("the last %d rows repeat, and no loop is drawn", loop)
		}
	}
}
