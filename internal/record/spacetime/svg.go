package spacetime

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Lengths in pixels.
const (
	gutter    = 44 // for the numbers of the rows, at least
	rowHeight = 30
	top       = 92 // of row 0
	margin    = 28
	boxWidth  = 18
	letter    = 7.3 // average width of a letter of a label
	laneMin   = 132
	laneMax   = 240
	minWidth  = 640

	titleLetter   = 10.8
	captionLetter = 8.7
	captionHeight = 22
	noteHeight    = 14
	noteLetter    = 6.1
	legendLetter  = 6.9
	timesHeight   = 24
)

const style = `
text { font-family: "DejaVu Sans", Verdana, Arial, sans-serif; font-size: 13px; fill: #1b1b1b; }
.title { font-size: 17px; font-weight: bold; }
.lane { font-size: 15px; font-weight: bold; text-anchor: middle; }
.row { font-size: 12px; fill: #5f5f5f; text-anchor: end; }
.label { paint-order: stroke; stroke: #fff; stroke-width: 4px; stroke-linejoin: round; }
.caption { font-size: 15px; }
.legend { font-size: 12px; fill: #444; }
.life { stroke: #8a8a8a; stroke-width: 1.5; }
.grid { stroke: #ececec; stroke-width: 1; }
.message { stroke: #14406b; stroke-width: 1.8; fill: none; }
.onway { stroke-dasharray: 5 4; }
.section { fill: #b9c7d3; stroke: #2f4858; stroke-width: 1.5; }
.section.bad { fill: url(#hatch); stroke: #b00020; stroke-width: 3; }
.badrow { fill: #fde3e3; }
.badtext { fill: #b00020; font-weight: bold; }
.mark { fill: #fff; stroke: #1b1b1b; stroke-width: 1.8; }
.solid { fill: #1b1b1b; stroke: none; }
.cross { stroke: #b00020; stroke-width: 2.6; }
`

const noteStyle = ".note { font-size: 11px; fill: #6a4a00; }\n"

type drawing struct {
	*Diagram
	bytes.Buffer
	gutter  float64 // for the numbers of the rows
	lane    float64 // distance between lifelines
	outer   float64 // room beside the outermost ones, for labels
	first   int
	lift    float64      // nothing happens in the first row: it takes less room
	bottom  float64      // of the lifelines
	foot0   float64      // where the foot begins
	caption [][]string   // the lines of each
	noted   map[int]bool // rows that have a note
}

func (d *Diagram) SVG() []byte {
	g := &drawing{Diagram: d, gutter: gutter}
	for _, at := range d.Times {
		g.gutter = max(g.gutter, 28+legendLetter*float64(utf8.RuneCountInString(at)))
	}
	if d.First > 1 {
		g.first = d.First - 1
	} else if !slices.ContainsFunc(d.Messages, func(m Message) bool { return m.Sent == 0 }) {
		g.lift = rowHeight / 2
	}
	longest := 0
	for _, m := range d.Messages {
		longest = max(longest, utf8.RuneCountInString(m.Label))
	}
	for _, p := range d.Points {
		longest = max(longest, utf8.RuneCountInString(p.Label))
	}
	label := letter * float64(longest)
	g.lane = min(laneMax, max(laneMin, label+44))
	if len(d.Notes) > 0 || len(d.States) > 0 {
		g.lane = max(g.lane, laneNoted)
	}
	g.outer = max(g.lane/2, label+24, g.outerNotes())
	g.countNotes()
	g.bottom = g.y(d.Last) + 24
	if g.noted[d.Last] {
		g.bottom += noteHeight
	}
	width := max(minWidth, g.right()+margin, 2*margin+titleLetter*float64(utf8.RuneCountInString(d.Title)))
	for _, line := range d.Caption {
		g.caption = append(g.caption, wrap(line, int((width-2*margin)/captionLetter)))
	}
	g.foot0 = g.bottom + g.statesHeight()
	height := g.foot0 + captionHeight*float64(len(slices.Concat(g.caption...))) + 82
	if len(d.Times) > 0 {
		height += timesHeight
	}
	g.f(`<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" role="img">`, width, height, width, height)
	styles := style
	if len(d.Notes) > 0 || len(d.States) > 0 {
		styles += noteStyle
	}
	g.f(`<title>%s</title><style>%s</style>`, escape(d.Title), styles)
	g.f(`<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" orient="auto">` +
		`<path d="M0 0.6 L10 5 L0 9.4 z" fill="#14406b"/></marker>` +
		`<pattern id="hatch" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">` +
		`<rect width="7" height="7" fill="#f3b6b6"/><rect width="2.5" height="7" fill="#b00020"/></pattern></defs>`)
	g.f(`<rect width="100%%" height="100%%" fill="#fff"/>`)
	g.f(`<text class="title" x="%d" y="32">%s</text>`, margin, escape(d.Title))
	g.grid()
	g.loop()
	g.absences()
	g.sections()
	for _, m := range d.Messages {
		g.arrow(m)
	}
	for _, p := range d.Points {
		g.point(p)
	}
	for _, m := range d.Messages {
		g.label(m) // above all lines
	}
	g.notes()
	g.states()
	g.foot()
	g.WriteString("</svg>\n")
	return g.Bytes()
}

// f writes one element on a line of its own.
func (g *drawing) f(format string, args ...any) {
	fmt.Fprintf(g, format, args...)
	g.WriteByte('\n')
}

func (g *drawing) x(lane int) float64 { return g.gutter + g.outer + float64(lane)*g.lane }
func (g *drawing) right() float64     { return g.x(len(g.Lanes)-1) + g.outer }
func (g *drawing) y(row int) float64 {
	return top + float64(row-g.first)*rowHeight - g.lift + g.noteRoom(row)
}

func (g *drawing) shown(row int) bool { return (row > g.first || g.first == 0) && row <= g.Last }

// loop draws an arrow from the last of the rows that repeat to the first that is shown.
func (g *drawing) loop() {
	if g.Loop == 0 {
		return
	}
	first, last := g.y(max(g.first, g.Last-g.Loop)+1)-rowHeight/2, g.y(g.Last)+rowHeight/2
	x := g.right() + 2 // in the margin
	g.f(`<path class="loop" fill="none" stroke="#14406b" stroke-dasharray="5 3" marker-end="url(#head)" `+
		`d="M%.1f %.1f h12 V%.1f h-14"/>`, x, last, first)
	g.f(`<text class="legend" x="%.1f" y="%.1f" text-anchor="end">for ever</text>`, x-6, last+4)
}

func (g *drawing) grid() {
	right := g.right()
	for row := g.first + 1; row <= g.Last; row++ {
		if slices.Contains(g.Bad, row) {
			height := rowHeight
			if g.noted[row] {
				height += noteHeight
			}
			g.f(`<rect class="badrow" x="%d" y="%.1f" width="%.1f" height="%d"/>`, 12, g.y(row)-rowHeight/2, right-12, height)
		}
		number := strconv.Itoa(row)
		if row <= len(g.Times) {
			number = g.Times[row-1]
			if row-1 > g.first && number == g.Times[row-2] {
				number = "" // as above
			}
		}
		g.f(`<line class="grid" x1="%.0f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, g.gutter, g.y(row), right, g.y(row))
		g.f(`<text class="row" x="%.0f" y="%.1f">%s</text>`, g.gutter-16, g.y(row)+4, number)
	}
	if len(g.Times) > 0 {
		g.f(`<text class="row" x="%.0f" y="%d">ms</text>`, g.gutter-16, top-30)
	}
	for i, name := range g.Lanes {
		g.f(`<line class="life" x1="%.1f" y1="%d" x2="%.1f" y2="%.1f"/>`, g.x(i), top-22, g.x(i), g.bottom)
		g.f(`<text class="lane" x="%.1f" y="%d">%s</text>`, g.x(i), top-30, escape(name))
		if i < len(g.Ends) && g.Ends[i] != "" {
			g.f(`<text class="label badtext" text-anchor="middle" x="%.1f" y="%.1f">%s</text>`, g.x(i), g.bottom+16, escape(g.Ends[i]))
		}
	}
}

func (g *drawing) absences() {
	for _, s := range g.Absences {
		from, to := g.y(max(s.Enter, g.first)), g.bottom
		if s.Enter == 0 {
			from = top - 22
		}
		if s.Leave > 0 {
			to = g.y(s.Leave)
		}
		for _, stroke := range []string{
			`stroke="#fff" stroke-width="4"`, `stroke="#b00020" stroke-width="1.2" stroke-dasharray="1 6"`,
		} {
			g.f(`<line %s x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, stroke, g.x(s.Lane), from, g.x(s.Lane), max(from, to))
		}
	}
}

func (g *drawing) sections() {
	for _, s := range g.Sections {
		from, to := g.y(max(s.Enter, g.first)), g.bottom
		if s.Leave > 0 {
			to = g.y(s.Leave)
		}
		if to <= g.y(g.first) {
			continue
		}
		class := "section"
		if s.Bad {
			class = "section bad"
		}
		g.f(`<rect class="%s" x="%.1f" y="%.1f" width="%d" height="%.1f" rx="3"/>`,
			class, g.x(s.Lane)-boxWidth/2, from, boxWidth, max(6, to-from))
	}
}

func (g *drawing) arrow(m Message) {
	x1, x2 := g.x(m.From), g.x(m.To)
	y1 := g.y(max(m.Sent, g.first))
	switch {
	case m.Fate == OnTheWay:
		if !g.shown(m.Sent) {
			y1 = g.y(g.first)
		}
		// A stump that points the way.
		x2 = x1 + (x2-x1)*min(1, 0.34*g.lane/abs(x2-x1))
		y2 := y1 + 0.7*rowHeight
		g.f(`<line class="message onway" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, x1, y1, x2, y2)
		g.f(`<circle class="mark" cx="%.1f" cy="%.1f" r="3.2"/>`, x2, y2)
	case !g.shown(m.End):
	case m.Fate == Lost:
		x2, y2 := x1+(x2-x1)*0.62, g.y(m.End)
		g.f(`<line class="message" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, x1, y1, x2, y2)
		g.f(`<path class="cross" d="M%.1f %.1f l12 12 m0 -12 l-12 12"/>`, x2-6, y2-6)
	default:
		g.f(`<line class="message" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" marker-end="url(#head)"/>`, x1, y1, x2, g.y(m.End))
	}
}

// label writes what a message is beyond its head, where the answers, which go
// back to the sender, do not cross it. There is one event in each row, so no
// two labels meet.
func (g *drawing) label(m Message) {
	if m.Fate == OnTheWay || !g.shown(m.End) || m.Label == "" {
		return
	}
	x, y := g.x(m.To)+15, g.y(m.End)+4.5
	class, anchor, text := "label", "start", m.Label
	if m.From > m.To {
		x, anchor = g.x(m.To)-15, "end"
	}
	if m.Fate == Lost {
		x, y = g.x(m.From)+(g.x(m.To)-g.x(m.From))*0.62, y+15
		class, anchor, text = "label badtext", "middle", text+" lost"
	}
	g.f(`<text class="%s" text-anchor="%s" x="%.1f" y="%.1f">%s</text>`, class, anchor, x, y, escape(text))
}

func (g *drawing) point(p Point) {
	if !g.shown(p.Row) {
		return
	}
	x, y := g.x(p.Lane), g.y(p.Row)
	switch p.Mark {
	case Request:
		g.f(`<path class="mark" d="M%.1f %.1f l16 0 l-8 13 z"/>`, x-8, y-7)
	case Exit:
		g.f(`<line class="mark" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, x-13, y, x+13, y)
	case Timer:
		g.f(`<circle class="mark" cx="%.1f" cy="%.1f" r="8"/><path class="mark" d="M%.1f %.1f l0 5 l4 2"/>`, x, y, x, y-5)
	case Crash:
		g.f(`<path class="cross" d="M%.1f %.1f l14 14 m0 -14 l-14 14"/>`, x-7, y-7)
	default:
		g.f(`<circle class="solid" cx="%.1f" cy="%.1f" r="4"/>`, x, y)
	}
	if p.Label != "" {
		g.f(`<text class="label" x="%.1f" y="%.1f">%s</text>`, x+17, y+4, escape(p.Label))
	}
}

func (g *drawing) foot() {
	y := g.foot0 + 46
	for i, lines := range g.caption {
		class := "caption"
		if i == 0 && len(g.Bad) > 0 {
			class = "caption badtext"
		}
		for _, line := range lines {
			g.f(`<text class="%s" x="%d" y="%.1f">%s</text>`, class, margin, y, escape(line))
			y += captionHeight
		}
	}
	y += 6
	x := float64(margin)
	entry := func(text string) {
		g.f(`<text class="legend" x="%.1f" y="%.1f">%s</text>`, x+26, y+4, escape(text))
		x += 26 + legendLetter*float64(utf8.RuneCountInString(text)) + 18
	}
	g.f(`<path class="mark" d="M%.1f %.1f l16 0 l-8 13 z"/>`, x, y-7)
	entry("asks")
	g.f(`<rect class="section" x="%.1f" y="%.1f" width="%d" height="18" rx="3"/>`, x, y-9, boxWidth)
	entry("in the critical section")
	if slices.ContainsFunc(g.Sections, func(s Section) bool { return s.Bad }) {
		g.f(`<rect class="section bad" x="%.1f" y="%.1f" width="%d" height="16" rx="3"/>`, x, y-8, boxWidth)
		entry("with another")
	}
	if len(g.Notes) > 0 {
		g.f(`<text class="note" x="%.1f" y="%.1f">a=b</text>`, x, y+4)
		entry("what changes there")
	}
	if slices.ContainsFunc(g.Messages, func(m Message) bool { return m.Fate == OnTheWay }) {
		g.f(`<line class="message onway" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/><circle class="mark" cx="%.1f" cy="%.1f" r="3.2"/>`,
			x, y, x+18, y, x+18, y)
		entry("on the way at the end")
	}
	if len(g.Times) > 0 {
		g.f(`<text class="legend" x="%d" y="%.1f">%s</text>`, margin, y+timesHeight, notToScale)
	}
}

// notToScale stands below a picture whose rows have times: events that happen at almost
// the same time have rows of their own, so that none hides another.
const notToScale = "One event in each row, at the time beside it: heights are not to scale."

func wrap(text string, most int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > most {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

func escape(s string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(s)) // a Buffer takes everything
	return b.String()
}

func abs(x float64) float64 { return max(x, -x) }
