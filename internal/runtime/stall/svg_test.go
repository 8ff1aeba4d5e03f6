package stall

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"dmebench/dme"
	"dmebench/runs"
)

// Every picture is XML, names who takes part and every reason, and marks what
// explains the standstill.
func TestPictures(t *testing.T) {
	cycle := &Standstill{
		Nodes: 5, Waiting: []dme.NodeID{1, 2}, Tokens: -1, Absent: []Absent{{Node: 5, Since: -1}},
		Edges: []Edge{{1, 3, "LOCKED & more"}, {2, 4, "LOCKED"}, {3, 2, "RELEASE"}, {4, 1, "RELEASE"}},
	}
	many := &Standstill{Nodes: 200, Tokens: -1}
	for id := dme.NodeID(1); id < 200; id++ {
		many.Waiting = append(many.Waiting, id)
		many.Edges = append(many.Edges, Edge{id, id + 1, "REPLY"})
	}
	stalled := &runs.Result{Algorithm: "raymond", Nodes: 3, Liveness: runs.Liveness{
		Why: []string{"nobody has the token: it died with node 1"}, Waiting: []int{2}, Down: []int{1},
		Waits: []runs.Wait{{Node: 2, For: 1, What: "PRIVILEGE"}},
	}}
	for name, c := range map[string]struct {
		svg  []byte
		want []string
	}{
		"a cycle": {cycle.SVG("who < whom"), []string{
			"who &lt; whom", "LOCKED &amp; more", "RELEASE", `class="edge cause"`, `class="node waits"`, `class="node down"`, "a cycle",
		}},
		"many nodes": {many.SVG("many"), []string{">200</text>", "199 waits for 200"}},
		"a result":   {Picture(stalled), []string{"it died with node 1", "PRIVILEGE", `class="node down"`, ">3</text>"}},
	} {
		for d := xml.NewDecoder(strings.NewReader(string(c.svg))); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		for _, text := range c.want {
			if !strings.Contains(string(c.svg), text) {
				t.Errorf("%s: the picture does not say %q:\n%s", name, text, c.svg)
			}
		}
	}
	if Picture(&runs.Result{Nodes: 3}) != nil {
		t.Error("there is a picture of a run that did not stall")
	}
}
