package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"dmebench/report/cells"
	"dmebench/report/plots"
	"dmebench/units"
)

// mostPanels is how many pictures become one figure.
const mostPanels = 9

// together makes pictures of one kind into figures of panels, with one legend. The
// pictures that they are made of follow, and are drawn only if they are asked for.
func together(all []picture) []picture {
	var shown []picture
	for _, kind := range cells.Grouped(all, func(p picture) string { return p.kind }) {
		panels := slices.DeleteFunc(slices.Clone(kind), func(p picture) bool {
			return p.leftOut != "" || len(p.Panels) > 0 || p.Matrix != nil
		})
		for _, part := range divide(panels) {
			if len(part.pictures) < 2 {
				continue
			}
			one := grouped(part)
			shown = append(shown, one)
			for i := range kind {
				if slices.ContainsFunc(part.pictures, func(p picture) bool { return p.Name == kind[i].Name }) {
					kind[i].leftOut = "a panel of " + one.Name
				}
			}
		}
		shown = append(shown, kind...)
	}
	return shown
}

// part is pictures that become one figure; its name is that of their kind, and what they
// have in common where there are several.
type part struct {
	name     string
	pictures []picture
}

// divide divides pictures of a kind so that none of the parts has too many: by their
// workloads, by their networks, by both, else into parts of about the same size.
func divide(panels []picture) []part {
	if len(panels) == 0 {
		return nil
	}
	kind := panels[0].kind
	if len(panels) <= mostPanels {
		return []part{{kind, panels}}
	}
	first := func(p picture) string { return strings.Join(p.about[:min(1, len(p.about))], " ") }
	second := func(p picture) string { return strings.Join(p.about[min(1, len(p.about)):min(2, len(p.about))], " ") }
	both := func(p picture) string { return first(p) + " " + second(p) }
	for _, by := range []func(picture) string{second, first, both} {
		groups := cells.Grouped(panels, by)
		if len(groups) == 1 || 2*len(groups) > len(panels) || slices.ContainsFunc(groups, func(g []picture) bool { return len(g) > mostPanels }) {
			continue
		}
		var parts []part
		for _, group := range groups {
			parts = append(parts, part{kind + "-" + units.Slug(by(group[0])), group})
		}
		return parts
	}
	var parts []part
	count := (len(panels) + mostPanels - 1) / mostPanels
	size := (len(panels) + count - 1) / count
	for group := range slices.Chunk(panels, size) {
		parts = append(parts, part{fmt.Sprintf("%s-%d", kind, len(parts)+1), group})
	}
	return parts
}

// grouped is a figure of panels.
func grouped(of part) picture {
	some := of.pictures
	var abouts [][]string
	for _, p := range some {
		abouts = append(abouts, p.about)
	}
	one := picture{kind: some[0].kind}
	one.Name, one.Title = of.name, some[0].Title
	parts := differingParts(abouts)
	for _, part := range some[0].about {
		if !slices.Contains(parts[0], part) {
			one.about = append(one.about, part)
		}
	}
	one.Subtitle = strings.Join(one.about, separator)
	titles := shortest(parts)
	var long []string
	for i, p := range some {
		one.Panels = append(one.Panels, plots.Panel{Title: titles[i], X: p.X, Y: p.Y, Names: p.Names, Series: sharpest(p.Series)})
		long = append(long, strings.Join(parts[i], ", "))
		for _, k := range p.Keys {
			if !slices.Contains(one.Keys, k) {
				one.Keys = append(one.Keys, k)
			}
		}
		if p.read != "" && !strings.Contains(one.read, p.read) {
			one.read = strings.TrimSpace(one.read + " " + p.read)
		}
	}
	if !slices.Equal(long, titles) {
		one.read = strings.TrimSpace(fmt.Sprintf("Panels: %s. %s", strings.Join(long, "; "), one.read))
	}
	one.predicted = predictedIn(some, titles)
	return one
}

// sharpest leaves each series the first of its predictions: in small panels there is no
// room for more.
func sharpest(all []plots.Series) []plots.Series {
	var kept []plots.Series
	for _, s := range all {
		predicted := s.Role == plots.Exact || s.Role == plots.Bound
		if k := len(kept); predicted && k > 0 && kept[k-1].Style == s.Style && kept[k-1].Role != plots.Measured {
			continue
		}
		kept = append(kept, s)
	}
	return kept
}

// predictedIn returns the predictions that are drawn in panels: those of all panels
// first, then those of each, or of several where they are the same.
func predictedIn(some []picture, titles []string) (all []saying) {
	in := make(map[saying][]string) // the panels
	var order []saying
	for i, p := range some {
		for _, s := range p.predicted {
			if s.second {
				continue
			}
			if in[s] == nil {
				order = append(order, s)
			}
			in[s] = append(in[s], titles[i])
		}
	}
	for _, s := range order {
		if panels := in[s]; len(panels) < len(some) {
			s.panel = strings.Join(panels, " and ")
		}
		all = append(all, s)
	}
	slices.SortStableFunc(all, func(a, b saying) int { return cmp.Compare(min(1, len(a.panel)), min(1, len(b.panel))) })
	return all
}

// shortest titles panels with as few of their parts as tell all apart.
func shortest(parts [][]string) []string {
	titles := make([]string, len(parts))
	most := 0
	for _, p := range parts {
		most = max(most, len(p))
	}
	for k := 1; k <= most; k++ {
		seen := make(map[string]bool)
		for i, p := range parts {
			titles[i] = strings.Join(p[:min(k, len(p))], separator)
			seen[titles[i]] = true
		}
		if len(seen) == len(parts) {
			break
		}
	}
	return titles
}
