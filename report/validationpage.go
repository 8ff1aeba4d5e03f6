package report

import (
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"

	"dmebench/claims"
	"dmebench/internal/platform/layout"
	"dmebench/report/cells"
	"dmebench/report/page"
	"dmebench/report/plots"
	"dmebench/runs"
	"dmebench/stats"
	"dmebench/units"
)

// ClaimsPage is the page of a validation: how messages grow, and every claim with its
// verdict, its points and the command that tries it again.
func ClaimsPage(d *claims.Document) *page.Data {
	p := &page.Data{
		Kind: page.Claims, Title: "Do the papers' claims hold?", Notes: verdictNotes(), Facts: pageFacts(d.Environment),
		Answer: page.Answer{
			Level: ground(d), Status: []string{validationAnswer(d), ValidationSummary(d) + "."}, Asked: conditionsText(d),
		},
	}
	labels := make(map[string]page.Ref)
	for _, v := range d.Claims {
		if _, known := labels[v.Algorithm]; !known {
			labels[v.Algorithm] = page.At(len(labels))
			p.Labels = append(p.Labels, page.Label{Name: v.Algorithm, Algorithm: v.Algorithm, Color: plots.Color(len(p.Labels))})
		}
	}
	growth := growthTable(d, labels)
	all := claimsTable("claims", "All claims", d.Claims, labels, strings.TrimSuffix("validate --"+d.Mode, " --default"))
	for _, t := range []page.Table{growth, all} {
		if len(t.Rows) > 0 {
			p.Tables = append(p.Tables, t)
		}
	}
	return p
}

// growthTable has a row for each algorithm, load and network.
func growthTable(d *claims.Document, labels map[string]page.Ref) page.Table {
	t := page.Table{
		ID: "growth", Title: "How messages grow",
		Note: "y = a + c·g(N), fitted to one value for each run. The best growth is that with the smallest AICc. " +
			"The exponent is p of y = a + c·N^p with its interval from the profile likelihood; that of log N is 0.",
		Columns: []page.Column{
			column("algorithm"), chosen("load"), column("claimed"), chosen("verdict"), column("measured"),
			{Key: "exponent", Title: "exponent", Type: page.Number}, chosen("best growth"),
			{Key: "sizes", Title: "sizes", Type: page.Text, Hidden: true}, {Key: "slope", Title: "log-log slope", Type: page.Number, Hidden: true},
		},
	}
	for i := range d.Scaling {
		t.Rows = append(t.Rows, rowOfGrowth(d, &d.Scaling[i], labels))
	}
	return t
}

// rowOfGrowth says how the messages of one algorithm grow under one load over one network.
func rowOfGrowth(d *claims.Document, s *claims.Scaling, labels map[string]page.Ref) page.Row {
	name, place := strings.TrimSpace(s.Algorithm+" "+runs.Settings(s.Set)), claims.Place(s.Transport, s.Condition)
	claimed, verdict, growth, measured := page.Value{}, page.Value{}, s.Best, ""
	var more page.More
	if stated, g, ok := saysGrowth(d, s); ok && len(s.Set) == 0 {
		claimed, verdict, growth = page.Word(brief(stated.Formula)), verdictValue(stated.Verdict), g.Name
		more.Text = append(more.Text, "Claimed: "+claimText(stated)+".")
	}
	more.Text = append(more.Text, "Growths by AICc, and by how much each is worse than the best: "+rankingText(s.Ranking)+".")
	var n, y []float64
	var sizes []int
	for _, p := range s.Points {
		sizes, n, y = append(sizes, p.Nodes), append(n, float64(p.Nodes)), append(y, p.PerCS)
	}
	is := func(r claims.Ranked) bool { return r.Growth == growth }
	fits := slices.DeleteFunc(slices.Clone(s.Ranking), is) // the growth in question, and the best of the others
	if k := slices.IndexFunc(s.Ranking, is); k >= 0 {
		fits, measured = slices.Insert(fits, 0, s.Ranking[k]), formulaText(s.Ranking[k])
	}
	var drawn []namedFit
	for _, r := range fits[:min(3, len(fits))] {
		if k := slices.IndexFunc(growths(), func(g stats.Growth) bool { return g.Name == r.Growth }); k >= 0 {
			fit := stats.Fit{Growth: growths()[k], A: stats.Interval{Value: r.A.Value}, C: stats.Interval{Value: r.C.Value}}
			drawn = append(drawn, namedFit{formulaText(r), fit})
		}
	}
	more.Plots = []page.Plot{
		fitsPlot(units.Slug("growth "+name+" "+place), "Messages per CS and the growths that fit best", labels[s.Algorithm], n, y, drawn),
	}
	return page.Row{Label: labels[s.Algorithm], Open: &more, Values: []page.Value{
		page.Word(name), page.Word(place), claimed, verdict, page.Word(measured), boundsValue(s.Exponent), page.Word(root(s.Best)),
		page.Word(sizesText(sizes)), boundsValue(s.LogLog),
	}}
}

// overNodes is a figure over the number of nodes without its series.
func overNodes(name, title, y string) page.Plot {
	return page.Plot{
		Name: name, Title: title, X: page.Scale{Title: "nodes N", Type: page.Number, Log: true},
		Y: page.Scale{Title: y, Type: page.Number, Log: true},
	}
}

// claimsTable has a row for each claim, those first that a reader has to look into. command
// is what tries one again.
func claimsTable(id, title string, all []claims.Verdict, labels map[string]page.Ref, command string) page.Table {
	t := page.Table{ID: id, Title: title, Columns: []page.Column{
		column("algorithm"), {Key: "claim", Title: "claim", Type: page.Text, Wide: true}, chosen("load"), chosen("verdict"),
		{Key: "n", Title: "N", Type: page.Number}, {Key: "predicted", Title: "predicted", Type: page.Number},
		{Key: "measured", Title: "measured", Type: page.Number}, {Key: "kind", Title: "kind", Type: page.Text, Choose: true, Hidden: true},
		{Key: "source", Title: "source", Type: page.Text, Wide: true, Hidden: true}, {Key: "id", Title: "id", Type: page.Text, Hidden: true},
	}}
	for _, status := range byWeight {
		for i := range all {
			if v := &all[i]; v.Verdict == status {
				t.Rows = append(t.Rows, claimRow(v, labels[v.Algorithm], command))
			}
		}
	}
	return t
}

// claimRow is a claim, and what opens below it.
func claimRow(v *claims.Verdict, label page.Ref, command string) page.Row {
	n, predicted, measured := page.Value{}, page.Value{}, page.Value{}
	if v.Shown >= 0 && v.Shown < len(v.Points) {
		p := &v.Points[v.Shown]
		n, predicted = page.Num(float64(p.Nodes)), page.Value{Number: page.Known(p.Predicted), Text: measure(*v, p.Predicted)}
		measured = page.Value{Text: measuredText(*v), Small: strings.TrimPrefix(closeness(*v), ", ")}
		if x := cmp.Or(p.Mean, p.Max, p.Min); x != nil {
			measured.Number = page.Known(*x)
		}
	}
	more := page.More{
		Text: []string{fmt.Sprintf("%s (%s; %s)", claimText(*v), v.Load, v.Source), v.Text}, Pre: pointsText(v), Plots: claimPlot(v, label),
		Commands: []string{"dmebench " + command + " " + cmp.Or(v.ID, v.Algorithm)},
	}
	for _, t := range v.Tolerances {
		more.Text = append(more.Text, fmt.Sprintf("Rests on a tolerance of %v (%d of what was compared).", t, t.Points))
	}
	for _, f := range v.Fits {
		more.Text = append(more.Text, fmt.Sprintf("%s, %s: a = %s, c = %s, exponent %s; growths by AICc: %s.",
			claims.Place(f.Transport, f.Condition), sizesText(f.Sizes),
			boundsText(&f.A), boundsText(&f.C), boundsText(f.Exponent), rankingText(f.Ranking)))
	}
	return page.Row{Label: label, Open: &more, Values: []page.Value{
		page.Word(v.Algorithm), page.Word(briefClaim(*v)), page.Word(string(v.Load)), verdictValue(v.Verdict), n, predicted, measured,
		page.Word(string(v.Kind)), page.Word(v.Source), page.Word(v.ID),
	}}
}

func column(name string) page.Column { return page.Column{Key: name, Title: name, Type: page.Text} }

// chosen is a column by whose values readers filter.
func chosen(name string) page.Column {
	return page.Column{Key: name, Title: name, Type: page.Text, Choose: true}
}

func pageFacts(environment map[string]string) (facts page.Facts) {
	for _, name := range slices.Sorted(maps.Keys(environment)) {
		facts = append(facts, [2]string{name, environment[name]})
	}
	return facts
}

// claimPlot draws the points of a claim against N, beside what is predicted or fitted.
func claimPlot(v *claims.Verdict, label page.Ref) []page.Plot {
	plot := overNodes(units.Slug(v.ID), briefClaim(*v), v.Quantity)
	for _, same := range cells.Grouped(v.Points, func(p claims.Point) string { return claims.Place(p.Transport, p.Condition) }) {
		place := claims.Place(same[0].Transport, same[0].Condition)
		measured := page.Series{Name: place, Role: page.Scattered, Label: label}
		predicted := page.Series{Name: "predicted, " + place, Role: page.Exact, Label: label}
		fit := slices.IndexFunc(v.Fits, func(f claims.Fit) bool { return claims.Place(f.Transport, f.Condition) == place })
		if fit >= 0 {
			predicted.Name = "fitted, " + place
		}
		for _, p := range same {
			if p.Mean == nil || *p.Mean <= 0 || p.Predicted <= 0 {
				continue
			}
			at := []page.Real{page.Real(p.Nodes), page.Real(*p.Mean)}
			if p.Lo != nil && p.Hi != nil && *p.Lo > 0 {
				at = append(at, page.Real(*p.Lo), page.Real(*p.Hi))
			}
			measured.Points, measured.Tips = append(measured.Points, at), append(measured.Tips, p.How)
			y := p.Predicted
			if fit >= 0 {
				y = v.Fits[fit].A.Value + v.Fits[fit].C.Value*y
			}
			predicted.Points = append(predicted.Points, []page.Real{page.Real(p.Nodes), page.Real(y)})
		}
		if len(measured.Points) > 1 {
			plot.Series = append(plot.Series, measured, predicted)
		}
	}
	if len(plot.Series) == 0 {
		return nil
	}
	return []page.Plot{plot}
}

// pointsText lists what was measured where.
func pointsText(v *claims.Verdict) string {
	if len(v.Points) == 0 {
		return ""
	}
	t := layout.NewTable("load", "N", "runs", "predicted", "mean", "range", "")
	for _, p := range v.Points {
		t.Add(placeText(p.Transport, p.Condition), count(p.Nodes), count(p.Runs), units.Number(p.Predicted), p.Interval(), span(p), p.How)
	}
	var b strings.Builder
	_ = t.WriteText(&b) // a Builder takes everything
	return b.String()
}

// ground is the level of the answer: an exact claim that fails is a fault of the paper
// or of the program, and any other that fails deserves a look.
func ground(d *claims.Document) page.Level {
	switch {
	case d.Counts.ExactFailed > 0 || !d.Complete:
		return page.Unsound
	case d.Counts.Fails > 0:
		return page.Look
	}
	return page.Sound
}

func verdictValue(s claims.Status) page.Value {
	class := map[claims.Status]string{claims.Holds: "good", claims.Partly: "doubt", claims.Fails: "bad"}[s]
	return page.Value{Text: verdictWord(s), Class: cmp.Or(class, "unknown")}
}

func boundsValue(b *claims.Bounds) page.Value {
	if b == nil {
		return page.Value{}
	}
	return page.Value{Number: page.Known(b.Value), Text: boundsText(b)}
}

// verdictWords is what the words of verdicts mean, a line for each: "word: meaning".
//
//go:embed verdicts.txt
var verdictWords string

func verdictNotes() (notes []page.Note) {
	for line := range strings.Lines(verdictWords) {
		word, meaning, _ := strings.Cut(strings.TrimSpace(line), ": ")
		notes = append(notes, page.Note{Term: word, Text: meaning})
	}
	return notes
}
