package stall

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"dmebench/dme"
)

// Lengths of the drawing, in pixels.
const (
	disc     = 19.0 // radius of a node
	least    = 130.0
	apart    = 92.0 // between neighbours on the circle, at least
	border   = 70.0
	lineStep = 22.0
	letter   = 6.8 // average width of a letter of a reason
	maxDrawn = 24  // nodes; of more only those of the causes are drawn
)

const style = `
text { font-family: "DejaVu Sans", Verdana, Arial, sans-serif; font-size: 13px; fill: #1b1b1b; }
.name { font-size: 15px; font-weight: bold; text-anchor: middle; }
.title { font-size: 17px; font-weight: bold; }
.what { font-size: 12px; paint-order: stroke; stroke: #fff; stroke-width: 4px; stroke-linejoin: round; }
.node { fill: #eef3f7; stroke: #2f4858; stroke-width: 1.6; }
.waits { fill: #fff3d6; }
.down { fill: #fff; stroke: #b00020; stroke-dasharray: 4 3; }
.edge { stroke: #8aa0b4; stroke-width: 1.5; fill: none; }
.cause { stroke: #b00020; stroke-width: 2.6; }
.legend { font-size: 12px; fill: #444; }
`

// SVG draws the wait-for graph: an arrow from each node that waits to the one
// that it waits for, with the reason; what explains the standstill is red.
func (s *Standstill) SVG(title string) []byte {
	x := s.Explain()
	return s.draw(title, x, x.Lines())
}

func (s *Standstill) draw(title string, x *Explanation, lines []string) []byte {
	d := &drawing{s: s, cause: make(map[Edge]bool), drawn: s.drawn(x)}
	for _, c := range x.Causes {
		for _, e := range c.Chain {
			d.cause[e] = true
		}
	}
	d.radius = max(least, apart*float64(len(d.drawn))/(2*math.Pi))
	lines = broken(lines)
	longest, label := float64(len(title))*11, 0.0
	for _, l := range lines {
		longest = max(longest, float64(utf8.RuneCountInString(l))*7.6)
	}
	for _, e := range s.Edges {
		label = max(label, letter*float64(utf8.RuneCountInString(e.What)))
	}
	width := max(2*(d.radius+border+label), longest+40, 420)
	d.x, d.y = width/2, 60+border+d.radius
	foot := d.y + d.radius + border
	height := foot + lineStep*float64(len(lines)+2)
	d.f(`<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" role="img">`, width, height, width, height)
	d.f(`<title>%s</title><style>%s</style>`, escape(title), style)
	for _, c := range []struct{ id, fill string }{{"edge", "#8aa0b4"}, {"cause", "#b00020"}} {
		d.f(`<defs><marker id="%s" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" `+
			`orient="auto"><path d="M0 0.6 L10 5 L0 9.4 z" fill="%s"/></marker></defs>`, c.id, c.fill)
	}
	d.f(`<rect width="100%%" height="100%%" fill="#fff"/>`)
	d.f(`<text class="title" x="20" y="32">%s</text>`, escape(title))
	d.edges(false)
	d.edges(true)
	for _, id := range d.drawn {
		d.node(id)
	}
	for i, l := range lines {
		d.f(`<text x="20" y="%.1f">%s</text>`, foot+lineStep*float64(i), escape(l))
	}
	d.f(`<text class="legend" x="20" y="%.1f">`+
		`yellow: has asked; dashed: down; red: why nothing moves</text>`, foot+lineStep*float64(len(lines))+6)
	d.WriteString("</svg>\n")
	return d.Bytes()
}

func (s *Standstill) drawn(x *Explanation) []dme.NodeID {
	var nodes []dme.NodeID
	if s.Nodes <= maxDrawn {
		for id := dme.NodeID(1); int(id) <= s.Nodes; id++ {
			nodes = append(nodes, id)
		}
		return nodes
	}
	for _, c := range x.Causes[:min(most, len(x.Causes))] {
		first, last := shortened(c.Chain)
		for _, e := range slices.Concat(first, last) {
			nodes = append(nodes, e.Node, e.For)
		}
	}
	slices.Sort(nodes)
	nodes = slices.DeleteFunc(slices.Compact(nodes), func(id dme.NodeID) bool { return id == dme.None })
	return nodes[:min(maxDrawn, len(nodes))]
}

type drawing struct {
	bytes.Buffer
	s            *Standstill
	drawn        []dme.NodeID
	cause        map[Edge]bool
	x, y, radius float64
}

func (d *drawing) f(format string, args ...any) {
	fmt.Fprintf(d, format, args...)
	d.WriteByte('\n')
}

// at returns where a node is drawn; the first is at the top.
func (d *drawing) at(id dme.NodeID) (x, y float64, ok bool) {
	i := slices.Index(d.drawn, id)
	angle := 2*math.Pi*float64(i)/float64(len(d.drawn)) - math.Pi/2
	return d.x + d.radius*math.Cos(angle), d.y + d.radius*math.Sin(angle), i >= 0
}

func (d *drawing) edges(cause bool) {
	for _, e := range d.s.Edges {
		e = d.s.placed(e)
		x1, y1, ok1 := d.at(e.Node)
		x2, y2, ok2 := d.at(e.For)
		if !ok1 || !ok2 || d.cause[e] != cause {
			continue
		}
		dx, dy := x2-x1, y2-y1
		length := math.Hypot(dx, dy)
		if length == 0 {
			continue
		}
		dx, dy = dx/length, dy/length
		// Bent to the left, so that an edge and the one that goes back are apart.
		bend := 0.12 * length
		mx, my := (x1+x2)/2+dy*bend, (y1+y2)/2-dx*bend
		class, head := "edge", "edge"
		if cause {
			class, head = "edge cause", "cause"
		}
		sx, sy := toward(x1, y1, mx, my)
		tx, ty := toward(x2, y2, mx, my)
		d.f(`<path class="%s" d="M%.1f %.1f Q%.1f %.1f %.1f %.1f" marker-end="url(#%s)"/>`, class, sx, sy, mx, my, tx, ty, head)
		if cause || len(d.s.Edges) <= 2*len(d.drawn) {
			d.what(e, sx, sy, mx, my, tx, ty)
		}
	}
}

// what writes the reason of an edge beside its curve: nearer to its beginning, so
// that those of chords which cross are apart, and outside of the circle where the
// curve runs along it.
func (d *drawing) what(e Edge, x1, y1, x2, y2, x3, y3 float64) {
	t := 0.45
	if math.Hypot(x3-x1, y3-y1) > 1.2*d.radius {
		t = 0.28
	}
	x := (1-t)*(1-t)*x1 + 2*t*(1-t)*x2 + t*t*x3
	y := (1-t)*(1-t)*y1 + 2*t*(1-t)*y2 + t*t*y3
	anchor := "middle"
	if math.Hypot(x-d.x, y-d.y) > 0.6*d.radius {
		switch {
		case x > d.x+0.25*d.radius:
			anchor, x = "start", x+6
		case x < d.x-0.25*d.radius:
			anchor, x = "end", x-6
		}
	}
	d.f(`<text class="what" text-anchor="%s" x="%.1f" y="%.1f">%s</text>`, anchor, x, y+4, escape(e.What))
}

// broken breaks a text at the ends of its parts, into lines of a readable length.
func broken(lines []string) []string {
	const most = 100
	var all []string
	for _, line := range lines {
		now := ""
		for part := range strings.SplitAfterSeq(line, "; ") {
			if now != "" && len(now)+len(part) > most {
				all = append(all, now)
				now = "   "
			}
			now += part
		}
		all = append(all, now)
	}
	return all
}

// toward returns the point of a node's edge that lies toward another point.
func toward(x, y, tx, ty float64) (px, py float64) {
	length := math.Hypot(tx-x, ty-y)
	return x + (tx-x)/length*(disc+2), y + (ty-y)/length*(disc+2)
}

func (d *drawing) node(id dme.NodeID) {
	x, y, _ := d.at(id)
	class := "node"
	switch {
	case d.s.absent(id) != nil:
		class = "node down"
	case slices.Contains(d.s.Waiting, id):
		class = "node waits"
	}
	d.f(`<circle class="%s" cx="%.1f" cy="%.1f" r="%.0f"/>`, class, x, y, disc)
	d.f(`<text class="name" x="%.1f" y="%.1f">%d</text>`, x, y+5, id)
}

func escape(s string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(s)) // a Buffer takes everything
	return b.String()
}
