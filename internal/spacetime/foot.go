package spacetime

import (
	"bytes"
	"encoding/xml"
	"slices"
	"strings"
	"unicode/utf8"
)

// foot writes the caption and the legend.
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

// wrap breaks a text into lines of at most so many letters, at spaces.
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
