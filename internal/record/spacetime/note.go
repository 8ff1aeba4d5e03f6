package spacetime

import (
	"slices"
	"unicode/utf8"
)

// laneNoted is how far lifelines are apart at least if states stand beside them.
const laneNoted = 190

func (g *drawing) countNotes() {
	g.noted = make(map[int]bool)
	for _, n := range g.Notes {
		if g.shown(n.Row) {
			g.noted[n.Row] = true
		}
	}
}

// noteRoom is the room that notes above a row take.
func (g *drawing) noteRoom(row int) (room float64) {
	for noted := range g.noted {
		if noted < row {
			room += noteHeight
		}
	}
	return room
}

// longNote is how many letters of a note there is room for at least.
const longNote = 36

func (g *drawing) outerNotes() (room float64) {
	left := g.leftLabels()
	for _, n := range g.Notes {
		onLeft := left[[2]int{n.Lane, n.Row}]
		if g.shown(n.Row) && (onLeft && n.Lane == 0 || !onLeft && n.Lane == len(g.Lanes)-1) {
			room = max(room, 24+noteLetter*float64(min(longNote, utf8.RuneCountInString(n.Text))))
		}
	}
	return room
}

// leftLabels says by lane and row where labels stand on the left of the lifeline.
func (g *drawing) leftLabels() map[[2]int]bool {
	left := make(map[[2]int]bool)
	for _, m := range g.Messages {
		if m.Fate == Arrives && m.From > m.To {
			left[[2]int{m.To, m.End}] = true
		}
	}
	return left
}

// notes writes what changes at a node below what happens there, on the same side of its lifeline.
func (g *drawing) notes() {
	left := g.leftLabels()
	for _, n := range g.Notes {
		if !g.shown(n.Row) {
			continue
		}
		x, anchor := g.x(n.Lane)+15, "start"
		room := g.right() - x
		if left[[2]int{n.Lane, n.Row}] {
			x, anchor = g.x(n.Lane)-15, "end"
			room = x - g.gutter
		}
		g.f(`<text class="label note" text-anchor="%s" x="%.1f" y="%.1f">%s</text>`,
			anchor, x, g.y(n.Row)+18, escape(cut(n.Text, int(min(room, longNote*noteLetter)/noteLetter))))
	}
}

// maxStates is how many variables of a node are shown.
const maxStates = 8

func (g *drawing) states() {
	for lane, lines := range g.States {
		y := g.bottom + 32
		for _, line := range lines[:min(len(lines), maxStates)] {
			for _, part := range g.stateLines(line) {
				g.f(`<text class="label note" text-anchor="middle" x="%.1f" y="%.1f">%s</text>`, g.x(lane), y, escape(part))
				y += noteHeight
			}
		}
	}
}

func (g *drawing) statesHeight() float64 {
	most := 0
	for _, lines := range g.States {
		count := 0
		for _, line := range lines[:min(len(lines), maxStates)] {
			count += len(g.stateLines(line))
		}
		most = max(most, count)
	}
	if most == 0 {
		return 0
	}
	return noteHeight*float64(most) + 10
}

func (g *drawing) stateLines(text string) []string {
	most := int((g.lane - 10) / noteLetter)
	lines := wrap(text, most)
	if len(lines) > 2 {
		lines = slices.Concat(lines[:1], []string{cut(lines[1]+" "+lines[2], most)})
	}
	for i := range lines {
		lines[i] = cut(lines[i], most)
	}
	return lines
}

func cut(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:max(most-1, 1)]) + "…"
}
