package report

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"dmebench/internal/validate"
	"dmebench/report/plots"
	"dmebench/report/units"
)

//go:embed validation.html
var validationHTML string

// File is a file of a report, to be written as a whole.
type File struct {
	Name string
	Data []byte
}

// Validation returns the files of a validation: for programs, for a repository
// and for a browser.
func Validation(d *validate.Document) ([]File, error) {
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
	}, nil
}

// validationView is what the page's template is filled with.
type validationView struct {
	Document   *validate.Document
	Style      template.CSS
	Summary    string
	Sound      bool
	Conditions string
	Against    []claimView
	Algorithms []algorithmView
	Scaling    []growingView
	Figures    []template.HTML
	Growths    []string
	Method     []fact
}

type algorithmView struct {
	ID, Name, Counts string
	Claims           []claimView
}

// claimView is a verdict as it is read.
type claimView struct {
	Algorithm, Claim, Load, Source string
	Predicted, Measured            string
	Word, Class, Text              string
	Where                          string // conditions and sizes of a claim that holds
	Points                         []pointView
	Fits                           []fitView
}

type pointView struct {
	Condition, Nodes, Runs, Predicted, Mean, Range, How string
	Agrees                                              bool
}

type fitView struct {
	Where, Sizes, A, C, Exponent, Ranking, How string
	Agrees                                     bool
}

func validationPage(d *validate.Document) ([]byte, error) {
	v := validationView{
		Document: d, Style: template.CSS(pageCSS), Summary: ValidationSummary(d), Sound: d.Counts.ExactFailed == 0 && d.Complete,
		Conditions: conditionsText(d), Method: methodOf(d),
	}
	for i := range d.Claims {
		c := viewOf(&d.Claims[i])
		if k := len(v.Algorithms); k == 0 || v.Algorithms[k-1].Name != c.Algorithm {
			v.Algorithms = append(v.Algorithms, algorithmView{ID: "algorithm-" + units.Slug(c.Algorithm), Name: c.Algorithm})
		}
		a := &v.Algorithms[len(v.Algorithms)-1]
		a.Claims = append(a.Claims, c)
		if c.Class == "bad" || c.Class == "part" || c.Class == "false" {
			v.Against = append(v.Against, c)
		}
	}
	for i := range v.Algorithms {
		v.Algorithms[i].Counts = v.Algorithms[i].count()
	}
	for i := range d.Scaling {
		v.Scaling = append(v.Scaling, growingViewOf(&d.Scaling[i]))
	}
	for _, f := range scalingFigures(d) {
		drawn, err := f.Render(plots.SVG)
		if err != nil {
			return nil, err
		}
		v.Figures = append(v.Figures, template.HTML(drawn[plots.SVG])) // a figure's text is escaped where it is drawn
	}
	t, err := template.New("validation").Parse(validationHTML)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = t.Execute(&out, v)
	return out.Bytes(), err
}

func conditionsText(d *validate.Document) string {
	text := fmt.Sprintf("mode %s · network %s · seed %d · started %s", d.Mode, d.Transport, d.Seed, d.Started)
	if len(d.Controls) > 0 {
		text += " · not validated, because known to be wrong as published: " + strings.Join(d.Controls, ", ")
	}
	return text
}

func viewOf(v *validate.Verdict) claimView {
	word, rest := string(v.Verdict), strings.TrimPrefix(v.Text, string(v.Verdict))
	c := claimView{
		Algorithm: v.Algorithm, Claim: claimText(v), Load: v.Load, Source: v.Source,
		Predicted: predictedText(v), Measured: measuredText(v),
		Word: word, Class: classes[v.Verdict], Text: strings.TrimPrefix(rest, ":"),
	}
	if v.Verdict != validate.Holds {
		for _, p := range v.Points {
			c.Points = append(c.Points, pointViewOf(p))
		}
	} else {
		c.Where = whereText(v.Points)
	}
	for _, f := range v.Fits {
		c.Fits = append(c.Fits, fitViewOf(f))
	}
	return c
}

// classes are the page's classes of verdicts.
var classes = map[validate.Word]string{
	validate.Holds: "good", validate.Partly: "part", validate.Fails: "bad", validate.KnownFalse: "false",
	validate.NotShown: "open", validate.Undecided: "open", validate.NotMeasurable: "open", validate.NotRun: "open",
}

func (a *algorithmView) count() string {
	holds := 0
	for _, c := range a.Claims {
		if c.Class == "good" {
			holds++
		}
	}
	return fmt.Sprintf("%d of %s hold", holds, plural(len(a.Claims), "claim"))
}

func pointViewOf(p validate.Point) pointView {
	v := pointView{
		Condition: placeText(p.Transport, p.Condition), Nodes: units.Count(uint64(p.Nodes)), Runs: units.Count(uint64(p.Runs)),
		Predicted: units.Number(p.Predicted), Mean: units.Missing, How: p.How, Agrees: p.Agrees,
	}
	if p.Mean != nil {
		v.Mean = units.Number(*p.Mean)
		if p.Hi != nil && *p.Hi > *p.Mean {
			v.Mean += " ± " + units.Number(*p.Hi-*p.Mean)
		}
	}
	if p.Min != nil && p.Max != nil {
		v.Range = units.Number(*p.Min)
		if *p.Max != *p.Min {
			v.Range += " … " + units.Number(*p.Max)
		}
	}
	return v
}

// whereText lists conditions with their sizes: "serial (N = 4 8 16), …".
func whereText(points []validate.Point) string {
	var order []string
	sizes := make(map[string][]string)
	for _, p := range points {
		place := placeText(p.Transport, p.Condition)
		if sizes[place] == nil {
			order = append(order, place)
		}
		sizes[place] = append(sizes[place], units.Count(uint64(p.Nodes)))
	}
	var parts []string
	for _, place := range order {
		parts = append(parts, fmt.Sprintf("%s (N = %s)", place, strings.Join(sizes[place], " ")))
	}
	return strings.Join(parts, ", ")
}

func placeText(transport, condition string) string {
	switch {
	case transport == "":
		return "construction"
	case transport == "sim":
		return condition
	}
	return condition + " over " + transport
}

func fitViewOf(f validate.Fit) fitView {
	return fitView{
		Where: placeText(f.Transport, f.Condition), Sizes: sizesText(f.Sizes),
		A: boundsText(&f.A), C: boundsText(&f.C), Exponent: boundsText(f.Exponent), Ranking: rankingText(f.Ranking),
		How: f.How, Agrees: f.Agrees,
	}
}

func sizesText(n []int) string {
	if len(n) == 0 {
		return units.Missing
	}
	return fmt.Sprintf("%d: %s … %s", len(n), units.Count(uint64(n[0])), units.Count(uint64(n[len(n)-1])))
}

func boundsText(b *validate.Bounds) string {
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

// rankingText lists growths by how well they fit: "√N, log N (+12), …".
func rankingText(ranking []validate.Ranked) string {
	var parts []string
	for i, r := range ranking {
		text := r.Growth
		switch {
		case r.AICc == nil:
			text += " (exact)"
		case i > 0 && r.Delta == nil: // the best is exact
			text += " (+∞)"
		case i > 0:
			text += " (+" + units.Number(*r.Delta) + ")"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

type growingView struct {
	Algorithm, Set, Where, Sizes string
	Best, A, C, Exponent, LogLog string
	Fits                         []growthView
	Ranking                      string
	Points                       []growingPointView
	Members                      bool
}

type growthView struct{ Growth, A, C, Delta string }

type growingPointView struct{ Nodes, Runs, PerCS, PerSqrtN, PerCubeRoot, PerLogN, PerMember string }

func growingViewOf(s *validate.Scaling) growingView {
	v := growingView{
		Algorithm: s.Algorithm, Set: setText(s.Set), Where: placeText(s.Transport, s.Condition),
		Best: s.Best, A: boundsText(&s.A), C: boundsText(&s.C), Exponent: boundsText(s.Exponent), LogLog: boundsText(s.LogLog),
		Ranking: rankingText(s.Ranking),
	}
	var sizes []int
	for _, p := range s.Points {
		sizes = append(sizes, p.Nodes)
		x := growingPointView{
			Nodes: units.Count(uint64(p.Nodes)), Runs: units.Count(uint64(p.Runs)), PerCS: units.Number(p.PerCS),
			PerSqrtN: units.Number(p.PerSqrtN), PerCubeRoot: units.Number(p.PerCubeRoot), PerLogN: units.Number(p.PerLogN),
			PerMember: units.Missing,
		}
		if p.PerMember != nil {
			x.PerMember, v.Members = units.Number(*p.PerMember), true
		}
		v.Points = append(v.Points, x)
	}
	for _, r := range s.Ranking {
		g := growthView{Growth: r.Growth, A: boundsText(&r.A), C: boundsText(&r.C), Delta: "0"}
		switch {
		case r.AICc == nil:
			g.Delta = "exact"
		case r.Delta == nil:
			g.Delta = "∞"
		default:
			g.Delta = units.Number(*r.Delta)
		}
		v.Fits = append(v.Fits, g)
	}
	v.Sizes = sizesText(sizes)
	return v
}

// methodOf describes the document's environment.
func methodOf(d *validate.Document) []fact {
	var facts []fact
	for _, k := range sortedKeys(d.Environment) {
		facts = append(facts, fact{k, d.Environment[k]})
	}
	return facts
}

func sortedKeys(m map[string]string) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func setText(set map[string]string) string { return validate.Written(set) }

// validationMarkdown is the document as a page of a repository.
func validationMarkdown(d *validate.Document) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# Do the papers' claims hold?\n\n%s\n\n%s\n", ValidationSummary(d), conditionsText(d))
	last := ""
	for i := range d.Claims {
		c := viewOf(&d.Claims[i])
		if c.Algorithm != last {
			last = c.Algorithm
			fmt.Fprintf(&b, "\n## %s\n\n| claim | source | load | predicted | measured | verdict |\n|---|---|---|---|---|---|\n", c.Algorithm)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | **%s**%s |\n", cellText(c.Claim), cellText(c.Source), c.Load,
			c.Predicted, c.Measured, c.Word, cellText(strings.TrimPrefix(d.Claims[i].Text, c.Word)))
	}
	if len(d.Scaling) > 0 {
		b.WriteString("\n## Growth of messages per CS\n\n" +
			"Fits of y = a + c·g(N); the exponent is p of y = a + c·N^p. Intervals are 95%.\n\n" +
			"| algorithm | load | sizes | best | a | c | exponent | others, by AICc |\n|---|---|---|---|---|---|---|---|\n")
		for i := range d.Scaling {
			s := growingViewOf(&d.Scaling[i])
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %s |\n",
				strings.TrimSpace(s.Algorithm+" "+s.Set), s.Where, s.Sizes, s.Best, s.A, s.C, s.Exponent, s.Ranking)
		}
	}
	return []byte(b.String())
}

// cellText keeps a text within its cell of a table.
func cellText(s string) string {
	return strings.NewReplacer("|", "\\|", "\n", " ", "*", "\\*", "_", "\\_").Replace(s)
}
