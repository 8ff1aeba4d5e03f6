package report

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"strings"

	"dmebench/claims"
	"dmebench/internal/platform/layout"
	"dmebench/report/plots"
	"dmebench/report/survival"
	"dmebench/runs"
	"dmebench/units"
)

//go:embed page.css
var pageCSS string

//go:embed validation.html
var validationHTML string

//go:embed validation.css
var validationCSS string

//go:embed validation.js
var validationJS string

// File is a file of a report, to be written as a whole.
type File struct {
	Name string
	Data []byte
}

// Validation returns the files of a validation: for programs, for a repository
// and for a browser.
func Validation(d *claims.Document) ([]File, error) {
	b, err := json.MarshalIndent(d, "", " ")
	if err != nil {
		return nil, fmt.Errorf("report: validation: %w", err)
	}
	page, err := validationPage(d)
	if err != nil {
		return nil, fmt.Errorf("report: validation: %w", err)
	}
	return []File{
		{"validate.json", append(b, '\n')},
		{"validate.md", validationMarkdown(d)},
		{"validate.html", page},
		{"validate.csv", validationCSV(d)},
	}, nil
}

// validationView is what the page's template is filled with.
type validationView struct {
	*claims.Document
	Style, Own template.CSS
	Script     template.JS
	Answer     string // in a sentence
	Summary    string
	Ground     string // of the answer: its class
	Made       string // when and how
	Conditions string
	Cards      []growthCard
	Algorithms []validated
	Verdicts   []given
	Figures    []template.HTML
}

// given is a verdict with the number of claims that have it.
type given struct {
	Status claims.Status
	Class  string
	N      int
}

// validated is an algorithm with the verdicts on its claims.
type validated struct {
	ID, Name, Counts string
	Claims           []claims.Verdict
}

func validationPage(d *claims.Document) ([]byte, error) {
	v := validationView{
		Document: d, Style: template.CSS(pageCSS), Own: template.CSS(validationCSS), Script: template.JS(validationJS),
		Answer: validationAnswer(d), Summary: ValidationSummary(d), Ground: ground(d),
		Made:       fmt.Sprintf("mode %s · network %s · %s", d.Mode, d.Transport, d.Started),
		Conditions: conditionsText(d), Cards: growthCards(d), Algorithms: byAlgorithm(d), Verdicts: verdictsGiven(d),
	}
	for i, card := range v.Cards {
		f, err := card.figure()
		if err != nil {
			return nil, err
		}
		if v.Cards[i].Figure, err = drawing(f); err != nil {
			return nil, err
		}
	}
	for _, f := range scalingFigures(d) {
		drawn, err := drawing(f)
		if err != nil {
			return nil, err
		}
		v.Figures = append(v.Figures, drawn)
	}
	t, err := template.New("validation").Funcs(template.FuncMap{
		"class": class, "word": verdictWord, "claim": claimText, "brief": briefClaim,
		"nodes": nodesText, "predicted": briefPredicted, "measured": briefMeasured, "where": claims.Where,
		"holds": func(v claims.Verdict) bool { return v.Verdict == claims.Holds },
		"place": placeText, "count": count, "number": units.Number, "present": present, "settings": runs.Settings,
		"sizes": sizesText, "bounds": boundsText, "ranking": rankingText, "behind": behind, "span": span, "members": hasMembers,
		"percent": func(x float64) string { return units.Number(100*x) + "%" }, "closeness": closeness,
	}).Parse(validationHTML)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = t.Execute(&out, v)
	return out.Bytes(), err
}

// ground is the class of the answer: an exact claim that fails is a fault of the paper
// or of the program, and any other that fails deserves a look.
func ground(d *claims.Document) string {
	switch {
	case d.Counts.ExactFailed > 0 || !d.Complete:
		return "unsound"
	case d.Counts.Fails > 0:
		return "look"
	}
	return "sound"
}

// drawing returns a figure for a page.
func drawing(f plots.Figure) (template.HTML, error) {
	drawn, err := f.Render(plots.SVG)
	return template.HTML(drawn[plots.SVG]), err // a figure's text is escaped where it is drawn
}

// verdictsGiven counts the verdicts, those first that say most.
func verdictsGiven(d *claims.Document) []given {
	var all []given
	for _, s := range byWeight {
		n := 0
		for _, v := range d.Claims {
			if v.Verdict == s {
				n++
			}
		}
		if n > 0 {
			all = append(all, given{s, class(s), n})
		}
	}
	return all
}

// byAlgorithm divides the verdicts, which stand in the order of the algorithms.
func byAlgorithm(d *claims.Document) []validated {
	var all []validated
	for _, v := range d.Claims {
		if k := len(all); k == 0 || all[k-1].Name != v.Algorithm {
			all = append(all, validated{ID: "algorithm-" + units.Slug(v.Algorithm), Name: v.Algorithm})
		}
		a := &all[len(all)-1]
		a.Claims = append(a.Claims, v)
	}
	for i, a := range all {
		against := slices.DeleteFunc(slices.Clone(a.Claims), func(v claims.Verdict) bool { return v.Verdict == claims.Holds })
		all[i].Counts = fmt.Sprintf("%d of %s hold", len(a.Claims)-len(against), plural(len(a.Claims), "claim"))
	}
	return all
}

func conditionsText(d *claims.Document) string {
	text := fmt.Sprintf("mode %s · network %s · seed %d · started %s", d.Mode, d.Transport, d.Seed, d.Started)
	if len(d.Controls) > 0 {
		text += " · not validated, because known to be wrong as published: " + strings.Join(d.Controls, ", ")
	}
	return text
}

// class is the page's class of a verdict.
func class(s claims.Status) string {
	switch s {
	case claims.Holds:
		return "good"
	case claims.Partly:
		return "part"
	case claims.Fails:
		return "bad"
	case claims.KnownFalse:
		return "false"
	}
	return "open"
}

// span writes the least and the greatest value of a point.
func span(p claims.Point) string {
	switch {
	case p.Min == nil || p.Max == nil:
		return ""
	case *p.Max == *p.Min:
		return units.Number(*p.Min)
	}
	return units.Number(*p.Min) + " … " + units.Number(*p.Max)
}

func placeText(transport, condition string) string {
	if transport == "" && condition == "" {
		return "construction"
	}
	return claims.Place(transport, condition)
}

func count(n int) string { return units.Count(uint64(n)) }

// present writes a number that may be missing.
func present(x *float64) string {
	if x == nil {
		return units.Missing
	}
	return units.Number(*x)
}

// sizesText says at how many numbers of nodes something was measured: "12: 7 …
// 993".
func sizesText(points any) string {
	sizes, _ := points.([]int)
	if measured, ok := points.([]claims.ScalingPoint); ok {
		for _, p := range measured {
			sizes = append(sizes, p.Nodes)
		}
	}
	if len(sizes) == 0 {
		return units.Missing
	}
	return fmt.Sprintf("%d: %s … %s", len(sizes), count(sizes[0]), count(sizes[len(sizes)-1]))
}

func hasMembers(s claims.Scaling) bool {
	return slices.ContainsFunc(s.Points, func(p claims.ScalingPoint) bool { return p.PerMember != nil })
}

func boundsText(b *claims.Bounds) string {
	switch {
	case b == nil:
		return units.Missing
	case b.Lo == nil || b.Hi == nil:
		return units.Number(b.Value) + " (unbounded)"
	case *b.Lo == *b.Hi:
		return units.Number(b.Value)
	}
	return fmt.Sprintf("%s [%s, %s]", units.Number(b.Value), units.Number(*b.Lo), units.Number(*b.Hi))
}

// behind says by how much a growth is worse than the best, by AICc.
func behind(r claims.Ranked) string {
	switch {
	case r.AICc == nil:
		return "exact"
	case r.Delta == nil: // the best is exact
		return "∞"
	}
	return units.Number(*r.Delta)
}

// rankingText lists growths by how well they fit: "√N, log N (+12), …".
func rankingText(ranking []claims.Ranked) string {
	var parts []string
	for i, r := range ranking {
		text := r.Growth
		switch {
		case r.AICc == nil:
			text += " (exact)"
		case i > 0:
			text += " (+" + behind(r) + ")"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// validationMarkdown is the document as a page of a repository.
func validationMarkdown(d *claims.Document) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# Do the papers' claims hold?\n\n%s\n\n%s\n", ValidationSummary(d), conditionsText(d))
	if cards := growthCards(d); len(cards) > 0 {
		b.WriteString("\n## How messages grow\n\n")
		for _, card := range cards {
			for _, l := range card.Loads {
				fmt.Fprintf(&b, "- **%s**, %s: claimed %s: **%s**. Measured %s. %s\n", card.Algorithm, l.Load, brief(l.Claim.Formula),
					verdictWord(l.Claim.Verdict), l.Measured, l.Best)
			}
		}
	}
	// A text must stay within its cell of a table.
	cell := strings.NewReplacer("|", "\\|", "\n", " ", "*", "\\*", "_", "\\_").Replace
	for _, a := range byAlgorithm(d) {
		fmt.Fprintf(&b, "\n## %s\n\n| claim | source | load | predicted | measured | verdict |\n|---|---|---|---|---|---|\n", a.Name)
		for _, v := range a.Claims {
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | **%s**%s |\n", cell(claimText(v)), cell(v.Source), v.Load,
				predictedText(v), measuredText(v), v.Verdict, cell(v.Detail))
		}
	}
	if len(d.Scaling) > 0 {
		b.WriteString("\n## Growth of messages per CS\n\n" +
			"Fits of y = a + c·g(N); the exponent is p of y = a + c·N^p. Intervals are 95%.\n\n" +
			"| algorithm | load | sizes | best | a | c | exponent | others, by AICc |\n|---|---|---|---|---|---|---|---|\n")
		for _, s := range d.Scaling {
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %s |\n",
				strings.TrimSpace(s.Algorithm+" "+runs.Settings(s.Set)), placeText(s.Transport, s.Condition), sizesText(s.Points),
				s.Best, boundsText(&s.A), boundsText(&s.C), boundsText(s.Exponent), rankingText(s.Ranking))
		}
	}
	return []byte(b.String())
}

// scalingFigures draws messages per CS against N, a figure for each load and
// network.
func scalingFigures(d *claims.Document) []plots.Figure {
	var figures []plots.Figure
	var labels []string
	for i := range d.Scaling {
		s := &d.Scaling[i]
		label := strings.TrimSpace(s.Algorithm + " " + runs.Settings(s.Set))
		if !slices.Contains(labels, label) {
			labels = append(labels, label)
		}
		where := placeText(s.Transport, s.Condition)
		k := slices.IndexFunc(figures, func(f plots.Figure) bool { return f.Subtitle == where })
		if k < 0 {
			k = len(figures)
			figures = append(figures, plots.Figure{
				Name: "growth-" + units.Slug(where), Title: "Messages per critical section", Subtitle: where,
				X: plots.Axis{Label: "nodes N", Kind: plots.Values}, Y: plots.Axis{Label: "messages per CS", Kind: plots.Values},
			})
		}
		series := plots.Series{Label: label, Style: slices.Index(labels, label), Role: plots.Measured}
		for _, p := range s.Points {
			series.Points = append(series.Points, plots.At(float64(p.Nodes), p.PerCS))
		}
		figures[k].Series = append(figures[k].Series, series)
	}
	return figures
}

// Survival returns the files of the table of what each algorithm survives, as
// [Validation] does for claims.
func Survival(d *survival.Document) ([]survival.File, error) { return survival.Files(d, pageCSS) }

// validationCSV has a row for each claim at each point, and one for a claim that has
// none.
func validationCSV(d *claims.Document) []byte {
	rows := [][]string{runs.TableHead("algorithm", "set", "transport", "nodes", "claim", "quantity", "formula", "load", "kind", "source",
		"verdict", "condition", "standing", "runs", "predicted", "mean", "mean_ci999_low", "mean_ci999_high", "min", "max",
		"closest", "tolerance", "tolerance_for", "evidence")}
	for _, v := range d.Claims {
		about := []string{v.ID, v.Quantity, v.Formula, string(v.Load), string(v.Kind), v.Source, string(v.Verdict)}
		subject := []string{v.Algorithm, runs.Settings(v.Set)}
		if len(v.Points) == 0 {
			row := append(append(subject, "", ""), about...)
			rows = append(rows, append(row, make([]string, len(rows[0])-len(row))...))
		}
		for _, p := range v.Points {
			row := append(append([]string{}, subject...), p.Transport, strconv.Itoa(p.Nodes))
			row = append(append(row, about...), p.Condition, string(p.Standing), strconv.Itoa(p.Runs), number(p.Predicted))
			var tolerance *float64
			if p.Tolerance > 0 {
				tolerance = &p.Tolerance
			}
			for _, x := range []*float64{p.Mean, p.Lo, p.Hi, p.Min, p.Max, p.Closest, tolerance} {
				text := ""
				if x != nil {
					text = number(*x)
				}
				row = append(row, text)
			}
			rows = append(rows, append(row, p.ToleranceFor, evidence(p)))
		}
	}
	return layout.CSV(rows)
}

// evidence says what a point rests on.
func evidence(p claims.Point) string {
	switch {
	case p.Source != "":
		return p.Source
	case p.Transport == "":
		return "construction"
	}
	return "runs"
}
