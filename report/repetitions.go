package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"dmebench/report/cells"
	"dmebench/report/page"
	"dmebench/runs"
	"dmebench/stats"
	"dmebench/units"
)

// A page shows each run up to mostRuns, and what it was like inside up to mostDetailed: with
// more it would take too long to open.
const (
	mostRuns     = 20_000
	mostDetailed = 1_500
)

// mostIntervals is in how many intervals the course of a run is shown.
const mostIntervals = 60

// addRuns adds every run with what it was like inside, and says what is left out.
func (p *paper) addRuns() {
	total := units.Count(uint64(len(p.runs)))
	if len(p.runs) > mostRuns {
		p.data.LeftOut = append(p.data.LeftOut, fmt.Sprintf("The %s runs stand here as medians of their cells; the results have each of them. "+
			"A page with at most %s runs shows each of them.", total, units.Count(mostRuns)))
		return
	}
	if len(p.runs) > mostDetailed {
		p.data.LeftOut = append(p.data.LeftOut, fmt.Sprintf("Distributions, courses and work by node of each of the %s runs are left out; "+
			"a page with at most %s runs has them.", total, units.Count(mostDetailed)))
	}
	known := make(map[string]int) // environments
	for _, r := range p.runs {
		cell, ok := p.cellOf[r.Result]
		if !ok {
			continue
		}
		shown := page.Run{
			Cell: cell, Repetition: r.Repetition + 1, Seed: cmp.Or(r.Result.Seed, r.Result.Spec.Seed), Status: string(cells.Outcome(r.Result)),
		}
		for _, m := range p.metrics {
			if x := m.Read(r.Result); x != nil && runs.Usable(r.Result) {
				shown.Values = append(shown.Values, page.Known(*x))
			} else {
				shown.Values = append(shown.Values, nil)
			}
		}
		if facts := factsOf(r.Result); len(facts) > 0 {
			key := fmt.Sprint(facts)
			if _, ok := known[key]; !ok {
				known[key] = len(p.data.Environments)
				p.data.Environments = append(p.data.Environments, facts)
			}
			shown.Environment = page.At(known[key])
		}
		if len(p.runs) <= mostDetailed {
			shown.Detail = detailOf(r.Result)
		}
		p.data.Runs = append(p.data.Runs, shown)
	}
}

// factsOf is the environment of a run, without what is another in every run.
func factsOf(r *runs.Result) (facts page.Facts) {
	for _, name := range slices.Sorted(maps.Keys(r.Environment)) {
		if name != "load_average" {
			facts = append(facts, [2]string{name, r.Environment[name]})
		}
	}
	return facts
}

func detailOf(r *runs.Result) *page.Detail {
	d := &page.Detail{
		Sent: counts(r.Work.SentByNode), Handled: counts(r.Work.HandledByNode), Entered: counts(r.Work.EntriesByNode),
	}
	d.Spectra, _ = spectra([]*runs.Result{r}) // a warning at the cell says what cannot be read
	for _, f := range r.Faults {
		e := page.Event{At: page.Real(f.AtNS), Text: f.Fault}
		if f.EndedNS != nil {
			e.Lasts = page.Real(*f.EndedNS)
		}
		d.Faults = append(d.Faults, e)
	}
	if s := r.Series; s != nil && s.IntervalNS > 0 && len(s.Entries) > 1 {
		addCourse(d, s)
	}
	return d
}

func counts(numbers []uint64) (all []page.Real) {
	for _, n := range numbers {
		all = append(all, page.Real(n))
	}
	return all
}

// spectra are the distributions of the times of some runs; an error says that one of them
// cannot be read.
func spectra(list []*runs.Result) (all []page.Spectrum, unread error) {
	for _, times := range []struct {
		title string
		of    func(*runs.Result) string
	}{
		{"waiting time", func(r *runs.Result) string { return r.Histograms.Waiting }},
		{"response time", func(r *runs.Result) string { return r.Histograms.Response }},
		{"synchronization delay", func(r *runs.Result) string { return r.Histograms.SyncDelay }},
	} {
		h, err := stats.Merge(units.Texts(list, times.of))
		if err != nil {
			unread = err
		}
		if h == nil {
			continue
		}
		s := page.Spectrum{Title: times.title, Count: page.Real(h.TotalCount())}
		for _, x := range stats.Percentiles(h, page.SpectrumSteps) {
			s.Values = append(s.Values, page.Real(x.Value))
		}
		all = append(all, s)
	}
	return all, unread
}

// addCourse merges the intervals of a run so that there are no more than a reader can distinguish.
func addCourse(d *page.Detail, s *runs.Series) {
	merged := (len(s.Entries) + mostIntervals - 1) / mostIntervals
	d.Interval = page.Real(int64(merged) * s.IntervalNS)
	for from := 0; from < len(s.Entries); from += merged {
		entries, most := uint64(0), (*page.Real)(nil)
		for i := from; i < min(from+merged, len(s.Entries)); i++ {
			entries += s.Entries[i]
			if i < len(s.P99NS) && s.P99NS[i] != nil && (most == nil || float64(*s.P99NS[i]) > float64(*most)) {
				most = page.Known(float64(*s.P99NS[i]))
			}
		}
		d.Entries, d.P99 = append(d.Entries, page.Real(entries)), append(d.P99, most)
	}
}
