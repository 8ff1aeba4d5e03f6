package doctor

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// matrix is a value for each ordered pair of hosts: a row for each host from which,
// a column for each to which.
type matrix struct {
	title string
	hosts []string
	cells [][]string
}

// matrices returns what was measured between the hosts.
func (r *Report) matrices() []matrix {
	if len(r.Paths) == 0 {
		return nil
	}
	var names []string
	for _, h := range r.Hosts {
		if slices.ContainsFunc(r.Paths, func(p Path) bool { return p.From == h.Name || p.To == h.Name }) {
			names = append(names, h.Name)
		}
	}
	of := func(title string, cell func(*Path) string) matrix {
		m := matrix{title: title, hosts: names, cells: make([][]string, len(names))}
		for i, from := range names {
			m.cells[i] = slices.Repeat([]string{"?"}, len(names))
			for j, to := range names {
				if from == to {
					m.cells[i][j] = "·"
				}
				if k := slices.IndexFunc(r.Paths, func(p Path) bool { return p.From == from && p.To == to }); k >= 0 {
					m.cells[i][j] = cell(&r.Paths[k])
				}
			}
		}
		return m
	}
	var all []matrix
	for _, k := range kindsOfTraffic {
		all = append(all, of("round trip by "+k.name+", median", func(p *Path) string {
			w := k.of(p)
			if !w.Passes() {
				return "none"
			}
			return brief(w.RTTMedian)
		}))
	}
	if slices.ContainsFunc(r.Paths, func(p Path) bool { return p.UDP.Lost > 0 }) {
		all = append(all, of("datagrams lost, of those sent", func(p *Path) string {
			return fmt.Sprintf("%d/%d", p.UDP.Lost, p.UDP.Sent)
		}))
	}
	all = append(all, of("clock of the column's host ahead of the row's, ± bound", func(p *Path) string {
		if p.OffsetNS == nil || p.BoundNS == nil {
			return "none"
		}
		return brief(*p.OffsetNS) + " ±" + brief(*p.BoundNS)
	}))
	return all
}

// brief writes a time in few columns, with three significant digits.
func brief(ns int64) string {
	abs, sign := math.Abs(float64(ns)), ""
	if ns < 0 {
		sign = "−"
	}
	for _, u := range []struct {
		unit time.Duration
		name string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Second, "s"}, {time.Millisecond, "ms"}, {time.Microsecond, "µs"}} {
		if x := abs / float64(u.unit); x >= 0.9995 {
			return sign + digits(x) + u.name
		}
	}
	return fmt.Sprintf("%s%.0fns", sign, abs)
}

// digits writes a number from 1 on with three significant digits.
func digits(x float64) string {
	switch {
	case x < 9.995:
		return fmt.Sprintf("%.2f", x)
	case x < 99.95:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.0f", x)
}

// write writes the matrix, in several parts where its columns do not fit.
func (m matrix) write(w *writer) {
	w.wrapped("", m.title)
	numbered := make([]string, len(m.hosts)) // as columns are headed
	label, cell := 0, 0
	for i, name := range m.hosts {
		numbered[i] = fmt.Sprint(i + 1)
		label = max(label, utf8.RuneCountInString(name))
		for _, c := range m.cells[i] {
			cell = max(cell, utf8.RuneCountInString(c))
		}
	}
	number := len(fmt.Sprint(len(m.hosts)))
	cell = max(cell, number)
	// Host names may be long; two columns of cells fit in any case.
	label = min(label, max(8, w.width-number-1-2*(cell+2)))
	columns := max(1, (w.width-number-1-label)/(cell+2))
	for first := 0; first < len(m.hosts); first += columns {
		last := min(first+columns, len(m.hosts))
		head := strings.Repeat(" ", number+1+label)
		for j := first; j < last; j++ {
			head += "  " + padLeft(numbered[j], cell)
		}
		w.line(head)
		for i, name := range m.hosts {
			if runes := []rune(name); len(runes) > label {
				name = string(runes[:label-1]) + "…"
			}
			row := padLeft(numbered[i], number) + " " + pad(name, label)
			for j := first; j < last; j++ {
				row += "  " + padLeft(m.cells[i][j], cell)
			}
			w.line(row)
		}
	}
}
