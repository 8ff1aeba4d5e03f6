package report

import (
	"maps"
	"slices"
	"strings"

	"dmebench/report/plots"
)

// optionFamilies returns, for each set, the families that an algorithm makes
// whose series differ in the number of one of its options alone: such as the
// fan-out of its tree. What are series of the set's own figures becomes one
// line here, with that number as abscissa.
func (c *collection) optionFamilies() []family {
	var families []family
	for _, s := range c.sets {
		var keys []string
		found := make(map[string]*family)
		for _, label := range s.labels {
			for _, v := range c.ownNumbers(s, label) {
				key := v.rest + "\x00" + v.key
				f := found[key]
				if f == nil {
					f = &family{
						about: s.String(), conditions: append(slices.Clone(s.about), v.rest), labels: []string{v.rest},
						slug: slug(s.transport + "-" + s.workload + "-" + v.rest + "-by-" + v.key),
					}
					keys, found[key] = append(keys, key), f
				}
				f.members = append(f.members, member{s.alone(label, v.rest), v.value})
			}
		}
		for _, key := range keys {
			if f := found[key]; f.settle() {
				families = append(families, *f)
			}
		}
	}
	return families
}

// ownNumber is a numeric option of an algorithm.
type ownNumber struct {
	value
	rest string // the algorithm with its other options
}

// ownNumbers returns the options of a series that are numbers, or end in one
// behind a colon.
func (c *collection) ownNumbers(s *set, label string) []ownNumber {
	var numbers []ownNumber
	spec := s.anyCell(label).spec
	own, _ := c.divide(spec)
	for _, k := range slices.Sorted(maps.Keys(own)) {
		key, text := k, own[k]
		if i := strings.LastIndex(text, ":"); i >= 0 {
			key, text = k+"="+text[:i], text[i+1:]
		}
		axis := key
		if key != k {
			axis += ":…"
		}
		v := value{key: key, axis: axis, text: own[k], option: true}.read(text)
		if !v.numeric {
			continue
		}
		others := maps.Clone(own)
		delete(others, k)
		numbers = append(numbers, ownNumber{v, strings.TrimSpace(spec.Algorithm + " " + join(others))})
	}
	return numbers
}

// anyCell returns a cell of a series.
func (s *set) anyCell(label string) *cell {
	for _, n := range s.sizes {
		if cell := s.cells[place{label, n}]; cell != nil {
			return cell
		}
	}
	return nil
}

// alone returns the set with one of its series only, under another label.
func (s *set) alone(label, as string) *set {
	one := *s
	one.labels, one.sizes, one.cells = []string{as}, nil, make(map[place]*cell)
	for _, n := range s.sizes {
		if cell := s.cells[place{label, n}]; cell != nil {
			one.cells[place{as, n}] = cell
			one.sizes = append(one.sizes, n)
		}
	}
	return &one
}

// shown returns the labels of a family's series, with their looks.
func (c *collection) shown(f family) []plots.Series {
	var all []plots.Series
	for style, label := range c.labels {
		all = append(all, plots.Series{Label: label, Style: style})
	}
	if f.labels != nil {
		all = nil
		for style, label := range f.labels {
			all = append(all, plots.Series{Label: label, Style: style})
		}
	}
	return all
}
