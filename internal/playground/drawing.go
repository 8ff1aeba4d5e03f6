package playground

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"slices"

	"dmebench/dme"
)

// The drawings for documentation share the [Layout] with the page. They
// are SVG files of their own, without scripts or fonts to load.

type drawing struct{ bytes.Buffer }

func (d *drawing) add(format string, args ...any) { fmt.Fprintf(d, format+"\n", args...) }

func begin(title string, width, height float64) *drawing {
	var d drawing
	d.add(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0[1]f %.0[2]f" width="%.0[1]f" height="%.0[2]f"
 font-family="sans-serif" font-size="13">`, width, height)
	d.add(`<rect width="100%%" height="100%%" fill="#fff"/>`)
	d.add("<title>%s</title>", html.EscapeString(title))
	return &d
}

func (d *drawing) end() []byte {
	d.add("</svg>")
	return d.Bytes()
}

func (d *drawing) node(x, y float64, label string) {
	d.add(`<circle cx="%.1f" cy="%.1f" r="15" fill="#fff" stroke="#222" stroke-width="1.5"/>`, x, y)
	d.add(`<text x="%.1f" y="%.1f" text-anchor="middle">%s</text>`, x, y+4.5, label)
}

// Draw draws the nodes of a system and their request sets or, if there are none, the links that the
// algorithm uses, in bold; those of a mesh that it does not use are thin.
func Draw(title string, a *dme.Algorithm, system dme.System, nodes int) []byte {
	if a.RequestSet != nil {
		return Incidence(title, nodes, func(id dme.NodeID) []dme.NodeID { return a.RequestSet(system, id) })
	}
	l := NewLayout(a, system, nodes)
	const width, height, margin = 560, 440, 30
	at := func(id dme.NodeID) (x, y float64) {
		p := l.Points[id-1]
		return margin + p[0]*(width-2*margin), margin + p[1]*(height-2*margin)
	}
	d := begin(title, width, height)
	for _, e := range l.Edges {
		x1, y1 := at(e.A)
		x2, y2 := at(e.B)
		look := `stroke="#222" stroke-width="2.5"`
		if e.Thin {
			look = `stroke="#999" stroke-dasharray="3 4"`
		}
		d.add(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" %s/>`, x1, y1, x2, y2, look)
	}
	for i := range l.Points {
		x, y := at(dme.NodeID(i + 1))
		d.node(x, y, fmt.Sprint(i+1))
		if l.colours != nil && l.colours[i] != "" {
			d.add(`<circle cx="%.1f" cy="%.1f" r="6" fill="%s" stroke="#222"><title>token: %s</title></circle>`,
				x+12, y-12, paints[l.colours[i]], l.colours[i])
		}
	}
	return d.end()
}

// paints are those of tokens that have colours; the page's style sheet has the same.
var paints = map[string]string{"green": "#2e9e4f", "yellow": "#f2c230", "red": "#d1432f"}

// hue is the colour of the k-th of n lines.
func hue(k, n int) string { return fmt.Sprintf("hsl(%d 65%% 42%%)", 360*k/max(n, 1)) }

// Incidence draws the sets of n nodes as points and lines: the nodes round a circle and, in a colour of
// its own, a closed line through the members of each set; and beside it the matrix that
// says which node is in which set.
func Incidence(title string, n int, setOf func(dme.NodeID) []dme.NodeID) []byte {
	side := 460.0
	cell := min(22, (side-40)/float64(n))
	d := begin(title, 2*side, side)
	at := func(id dme.NodeID) (x, y float64) {
		sin, cos := math.Sincos(2 * math.Pi * float64(id-1) / float64(n))
		return side/2 + (side/2-34)*sin, side/2 - (side/2-34)*cos
	}
	for k := range n {
		set := setOf(dme.NodeID(k + 1))
		d.add(`<path fill="none" stroke="%s" stroke-width="2" d="%s"><title>S%d</title></path>`, hue(k, n), through(set, at), k+1)
	}
	for id := 1; id <= n; id++ {
		x, y := at(dme.NodeID(id))
		d.node(x, y, fmt.Sprint(id))
	}
	for k := range n {
		set := setOf(dme.NodeID(k + 1))
		y := 30 + float64(k)*cell
		d.add(`<text x="%.1f" y="%.1f" text-anchor="end" font-size="%.1f">S%d</text>`, side+24, y+cell*0.75, min(13, cell*0.8), k+1)
		for id := 1; id <= n; id++ {
			fill := "#f2f2f2"
			if slices.Contains(set, dme.NodeID(id)) {
				fill = hue(k, n)
			}
			d.add(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`, side+30+float64(id-1)*cell, y, cell-1, cell-1, fill)
		}
	}
	return d.end()
}

// through is a closed curve through the members of a set, drawn a little towards the
// middle between them; of two members it is the way there and back.
func through(set []dme.NodeID, at func(dme.NodeID) (x, y float64)) string {
	var path []byte
	for i, id := range set {
		x, y := at(id)
		if i == 0 {
			path = fmt.Appendf(path, "M%.1f,%.1f", x, y)
		}
		nx, ny := at(set[(i+1)%len(set)])
		cx, cy := 0.0, 0.0
		for _, other := range set {
			ox, oy := at(other)
			cx, cy = cx+ox/float64(len(set)), cy+oy/float64(len(set))
		}
		path = fmt.Appendf(path, "Q%.1f,%.1f %.1f,%.1f", (x+nx)/2*0.6+cx*0.4, (y+ny)/2*0.6+cy*0.4, nx, ny)
	}
	return string(path)
}
