package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"dmebench/report/plots"
	"dmebench/report/stats"
	"dmebench/report/units"
	"dmebench/result"
)

// picture is a figure that a report can draw, with what its caption says and, where it
// would say nothing, the reason why it is drawn only if it is asked for.
type picture struct {
	plots.Figure
	kind      string   // pictures of one kind become panels of one figure
	about     []string // of what it is: what may tell it from others of its kind
	read      string   // how to read it
	predicted []saying
	leftOut   string
}

// saying is a prediction as a caption has it.
type saying struct {
	of, text string
	panel    string // in which alone it is said; "" in all
	second   bool   // there is a sharper one of the same series
}

func (p picture) empty() bool { return p.Empty() }

// Why pictures are left out. The tables have their numbers.
const (
	onePoint           = "a single point"
	sameEverywhere     = "the same value everywhere"
	waitingSaysNothing = "the response time less the time inside: a node asks as soon as it wants to"
	betweenOthers      = "between the first, the middle and the last point of the curve, which are drawn"
	sameInOtherUnits   = "the delay in units of T in other units: T is the same everywhere"
	noClaim            = "no claim speaks of it; the median and the 99th percentile are drawn"
)

// why says why a picture of a quantity says nothing, "" where it does.
func (c *collection) why(ch chart, q quantity, f picture) string {
	points := 0
	for _, s := range f.Series {
		if s.Role == plots.Measured {
			points += len(s.Points)
		}
	}
	switch {
	case points == 1:
		return onePoint
	case q.forTheory && len(f.predicted) == 0:
		return noClaim
	case len(f.predicted) == 0 && flat(f.Series) && !(q.median == result.Throughput && ch.offered()):
		return sameEverywhere
	case (q.median == result.WaitingP50 || q.median == result.WaitingP99) && ch.waitingIsResponse():
		return waitingSaysNothing
	case q.median == result.SyncDelayP50 && ch.sameDelay():
		return sameInOtherUnits
	}
	return ""
}

// offered reports whether the abscissa is a load: that no more is served than at a smaller
// one is worth a figure.
func (ch chart) offered() bool {
	return slices.ContainsFunc(ch.spots, func(s spot) bool { return s.offered > 0 })
}

// flat reports whether there are medians, and all are the same.
func flat(all []plots.Series) bool {
	lowest, highest := math.Inf(1), math.Inf(-1)
	for _, s := range all {
		if s.Role != plots.Measured {
			continue
		}
		for _, p := range s.Points {
			lowest, highest = min(lowest, p.Y), max(highest, p.Y)
		}
	}
	return lowest <= highest && highest-lowest <= 1e-9*math.Abs(highest)
}

// waitingIsResponse reports whether in all cells the waiting time is what is left of
// the response time without the time inside, as it is where a node asks as soon as it
// wants to enter. Means tell, whatever the distributions are.
func (ch chart) waitingIsResponse() bool {
	const near = 0.02
	some := false
	for _, s := range ch.spots {
		for _, cell := range s.cells {
			if slices.Contains(closedWorkloads(), cell.spec.Workload) {
				some = true
				continue
			}
			for _, r := range cell.good {
				if r.WaitingTime == nil || r.ResponseTime == nil || r.CS == nil {
					continue
				}
				some = true
				if math.Abs(r.WaitingTime.Mean+*r.CS-r.ResponseTime.Mean) > near*r.ResponseTime.Mean {
					return false
				}
			}
		}
	}
	return some
}

// closedWorkloads are those of which a node wants to enter only when it is told, or as
// soon as it has left: what a request waits before it is sent is the harness's delay.
func closedWorkloads() []string { return []string{"saturate", "serial"} }

// sameDelay reports whether messages took equally long in all cells, and the
// synchronization delay is known in units of that.
func (ch chart) sameDelay() bool {
	lowest, highest := math.Inf(1), 0.0
	for _, s := range ch.spots {
		for _, cell := range s.cells {
			t, over := cell.estimates[result.MeanDelay], cell.estimates[result.SyncDelayOverT]
			if len(cell.good) == 0 {
				continue
			}
			if t.N == 0 || over.N == 0 && cell.estimates[result.SyncDelayP50].N > 0 {
				return false
			}
			lowest, highest = min(lowest, t.Min), max(highest, t.Max)
		}
	}
	return lowest <= highest*1.001 && highest <= lowest*1.001
}

// howToRead says what the points of a chart are.
func (ch chart) howToRead(metric string) string {
	fewest, most, bounded, others := math.MaxInt, 0, true, false
	for _, s := range ch.spots {
		for _, cell := range s.cells {
			if e := cell.estimates[metric]; e.N > 0 {
				fewest, most, bounded = min(fewest, e.N), max(most, e.N), bounded && e.Bounded()
				others = others || e.Bounded() && (e.Min < e.Lo || e.Max > e.Hi)
			}
		}
	}
	repetitions := plural(most, "repetition")
	if fewest < most {
		repetitions = fmt.Sprintf("%d to %s", fewest, repetitions)
	}
	switch {
	case most == 0:
		return ""
	case most == 1:
		return "Each point is one repetition."
	case !bounded:
		return fmt.Sprintf("Medians of %s, without a bar where there are too few for an interval.", repetitions)
	case others:
		return fmt.Sprintf("Medians of %s with their %.0f%% confidence intervals; rings are repetitions outside of these.",
			repetitions, 100*stats.Confidence)
	}
	return fmt.Sprintf("Medians of %s with their %.0f%% confidence intervals.", repetitions, 100*stats.Confidence)
}

// mostPanels is how many pictures become one figure.
const mostPanels = 9

// together makes pictures of one kind into figures of panels, with one legend. The
// pictures that they are made of follow, and are drawn only if they are asked for.
func together(all []picture) []picture {
	var shown []picture
	for _, kind := range Grouped(all, func(p picture) string { return p.kind }) {
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
		groups := Grouped(panels, by)
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
	for _, part := range some[0].about {
		if !slices.ContainsFunc(abouts, func(other []string) bool { return !slices.Contains(other, part) }) {
			one.about = append(one.about, part)
		}
	}
	one.Subtitle = strings.Join(one.about, separator)
	parts := differingParts(abouts)
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

// caption is what stands below a picture where its title does not stand above it: what
// it is, how to read it, and who predicts what is drawn with it.
func (p picture) caption() string {
	text := p.Title
	if x := p.abscissa(); x != "" {
		text += ", against " + x
	}
	if p.Subtitle != "" {
		text += " (" + strings.ReplaceAll(p.Subtitle, separator, ", ") + ")"
	}
	text += "."
	if p.read != "" {
		text += " " + p.read
	}
	if predicted := p.predictions(); predicted != "" {
		text += " Predicted (dashed: exactly or of the mean; dotted: a bound): " + predicted + "."
	}
	return text
}

// abscissa is what a picture is drawn against, "" where its title says it.
func (p picture) abscissa() string {
	switch {
	case !strings.Contains(p.kind, "-vs-"):
		return ""
	case len(p.Panels) > 0:
		return p.Panels[0].X.Label
	}
	return p.X.Label
}

// predictions writes what is said of whom, by panels, and the same of several once.
func (p picture) predictions() string {
	var parts []string
	for _, panel := range Grouped(p.predicted, func(s saying) string { return s.panel }) {
		for i, same := range Grouped(panel, func(s saying) string { return s.text }) {
			var of []string
			for _, s := range same {
				if !slices.Contains(of, s.of) {
					of = append(of, s.of)
				}
			}
			text := strings.TrimSpace(strings.Join(of, ", ") + " " + same[0].text)
			if i == 0 && same[0].panel != "" {
				text = same[0].panel + ": " + text
			}
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "; ")
}

// leftOut is what a section does not draw, by the reason.
type leftOut struct {
	Reason string
	Names  []string
}
