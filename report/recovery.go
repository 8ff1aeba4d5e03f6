package report

import (
	"fmt"
	"strings"

	"dmebench/internal/platform"
	"dmebench/report/page"
	"dmebench/runs"
	"dmebench/stats"
	"dmebench/units"
)

// stroke is one fault of a schedule, as it struck in each of a cell's runs.
type stroke struct {
	fault string // as it was asked for
	hits  []hit
}

// hit is a fault that was carried out.
type hit struct {
	runs.Fault
	sinceFirst float64 // nanoseconds since the first fault of its run
	good       bool    // the run ended well
}

// recovered reports whether a node entered after it, or none wanted to.
func (h hit) recovered() bool { return h.RecoveredNS != nil || h.Waiting == 0 }

// strokes returns the faults of a cell in the order in which they first struck.
// Of equal faults of a schedule the first of one run belongs to the first of
// another.
func (c *cell) strokes() []stroke {
	type which struct {
		fault string
		nth   int
	}
	var all []stroke
	at := make(map[which]int)
	for _, runs := range []struct {
		of   []*runs.Result
		good bool
	}{{c.Good, true}, {c.Bad, false}} {
		for _, r := range runs.of {
			seen := make(map[string]int)
			for _, f := range r.Faults {
				w := which{f.Fault, seen[f.Fault]}
				seen[f.Fault]++
				if _, known := at[w]; !known {
					at[w] = len(all)
					all = append(all, stroke{fault: f.Fault})
				}
				s := &all[at[w]]
				s.hits = append(s.hits, hit{f, float64(f.AtNS) - firstFault(r), runs.good})
			}
		}
	}
	return all
}

// faulty reports whether the set's runs are disturbed on purpose.
func (s *set) faulty() bool { return len(s.first.Result.Spec.Faults) > 0 }

func faulty(c *cell) bool { return len(c.First.Result.Spec.Faults) > 0 }

// recoveryTable says what each fault cost: medians over the runs that ended well, but
// whether it was recovered from over all.
func (p *paper) recoveryTable() []page.Table {
	column := func(key, title string, of page.Measure) page.Column {
		return page.Column{Key: key, Title: title, Type: of, Better: "lower"}
	}
	t := page.Table{
		ID: "recovery", Title: "Recovery from faults", Note: "Medians over the runs that ended well. Recovered are the faults after which " +
			"a node entered, or none wanted to; of all runs.",
		Columns: []page.Column{
			{Key: "label", Title: "algorithm", Type: page.Text}, {Key: "load", Title: "load", Type: page.Text},
			{Key: "nodes", Title: "N", Type: page.Number}, {Key: "fault", Title: "fault", Type: page.Text, Choose: true},
			{Key: "recovered", Title: "recovered", Type: page.Number, Better: "higher"},
			column("next", "until the next entry", page.Time), column("served", "until all who waited were served", page.Time),
			column("messages", "messages until the next entry", page.Number), column("lost", "requests lost", page.Number),
		},
	}
	for i, cell := range p.cells {
		if !faulty(cell) {
			continue
		}
		for _, stroke := range cell.strokes() {
			row := p.row(i, stroke.values()...)
			row.Weak = row.Values[4].Class != ""
			t.Rows = append(t.Rows, row)
		}
	}
	return some(t)
}

// values summarize a fault.
func (s stroke) values() []page.Value {
	recovered := 0
	var next, served, messages, lost []float64
	for _, h := range s.hits {
		if h.recovered() {
			recovered++
		}
		if !h.good {
			continue
		}
		next = appendKnown(next, h.RecoveredNS)
		served = appendKnown(served, h.ServedNS)
		messages = appendKnown(messages, h.Messages)
		lost = append(lost, float64(h.Lost))
	}
	of := page.Value{Number: page.Known(float64(recovered)), Text: fmt.Sprintf("%d of %d", recovered, len(s.hits))}
	if recovered < len(s.hits) {
		of.Class = "bad"
	}
	return []page.Value{
		page.Word(s.fault), of, timeValue(stats.Median(next)), timeValue(stats.Median(served)),
		show(stats.Median(messages), units.Plain()), show(stats.Median(lost), units.Plain()),
	}
}

func appendKnown[N int64 | uint64](values []float64, x *N) []float64 {
	if x == nil {
		return values
	}
	return append(values, float64(*x))
}

// mostPictures is how many wait-for graphs a page shows: those of the first runs
// that stalled. The others say in words why they did.
const mostPictures = 12

// standstills draws the wait-for graphs of a page.
type standstills struct {
	draw  func(*runs.Result) []byte // may be nil
	drawn int
}

// picture draws the wait-for graph of a stalled run, "" if that is not known or there are enough
// pictures.
func (s *standstills) picture(r *runs.Result) string {
	if s.draw == nil || s.drawn == mostPictures {
		return ""
	}
	svg := s.draw(r)
	if svg == nil {
		return ""
	}
	s.drawn++
	// Its text is escaped where it is drawn.
	return embedded(string(svg), "wait-"+string(rune('a'+s.drawn-1)))
}

var (
	styleSheet = platform.Pattern(`(?s)<style>(.*?)</style>`)
	rule       = platform.Pattern(`(?m)^([^{}\n]+?) *\{`)
	reference  = platform.Pattern(`(\bid="|url\(#)`)
)

// embedded makes a drawing part of a page: its rules hold within itself alone,
// and its names are its own.
func embedded(svg, name string) string {
	svg = reference().ReplaceAllString(svg, "${1}"+name+"-")
	svg = styleSheet().ReplaceAllStringFunc(svg, func(s string) string {
		return "<style>" + rule().ReplaceAllString(styleSheet().FindStringSubmatch(s)[1], "."+name+" $1 {") + "</style>"
	})
	return strings.Replace(svg, "<svg ", `<svg class="`+name+`" `, 1)
}
