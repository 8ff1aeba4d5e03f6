package report_test

import (
	"cmp"
	"errors"
	"fmt"
	"html"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"dmebench/claims"
	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/internal/testkit"
	"dmebench/report"
	"dmebench/report/page"
	"dmebench/report/plots"
	"dmebench/runs"
)

// What a report says of experiments. The lines of a case make the experiment:
//
//	runs LABELS WORKLOADS SIZES REPETITIONS   as in the function experiment; each further line adds to it
//	vary N                                    six runs for each of the lines that follow it:
//	change SPEC                               what is asked of them, in JSON
//	crashed FAULT; FAULT                      as in the function crashed
//	loaded CAPACITY RATE…                     runs that serve at most so many entries per second
//	grown EXPRESSION NOISE SIZE…              runs over two networks whose messages per CS grow like that
//	lean                                      nothing but messages is left
//	hosts N                                   as in the function place
//	flowing N                                 runs have a course of so many intervals
//	set WHICH PATH VALUE                      of a result, or with Run. of a run: LABEL@NODES#REPETITION, * for any
//	ramp WHICH PATH START STEP                the same, START+STEP·REPETITION
//	input PATH VALUE                          of the report's input
//	disordered                                links that do not keep order
//	claim {…}                                 a claim, in JSON; predictions see the total rate as E
//
// Lines set, ramp, hosts, flowing and lean speak of what the last of the lines before them have added;
// "all" lets them speak of all runs. The others say what is shown of it, in their order:
//
//	figures PATTERN…    the names of those that are drawn; of * those that are unless others are asked for
//	labels FIGURE       what stands in a figure
//	caption FIGURE
//	answer, warnings, bad, facts, loads, notes TERM
//	                    these parts of the page's data, as text
//	cells LABEL METRIC… what the page has of the cells of a label, * for all
//	table ID            a table of the page, a row on each line
//	csv COLUMN…         of summary.csv
//	tex FILE            a table for LaTeX
func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			testkit.Cases(t, file, func(t *testing.T, input []string) string {
				m := making{t: t}
				var show [][]string
				for _, line := range input {
					if words := strings.Fields(line); !m.make(words, line) {
						show = append(show, words)
					}
				}
				var out []string
				made := make(map[string]built) // by the figures that are asked for
				for _, words := range show {
					in := m.in
					if slices.Contains([]string{"labels", "caption"}, words[0]) || words[0] == "figures" && words[1] != "*" && in.Only == nil {
						in.Only = words[1:]
					}
					in.Plots, in.Formats = slices.Contains([]string{"figures", "labels", "caption", "tex"}, words[0]), []plots.Format{plots.SVG}
					key := fmt.Sprint(in.Plots, in.Only)
					if _, ok := made[key]; !ok {
						b, err := filesOf(in)
						if errors.As(err, new(*report.UnknownFigures)) {
							out = append(out, words[1]+": there is none")
							continue
						} else if err != nil {
							t.Fatal(err)
						}
						made[key] = b
					}
					out = append(out, made[key].shown(t, words)...)
				}
				return strings.Join(out, "\n")
			})
		})
	}
}

// making is an input that is being made.
type making struct {
	t      *testing.T
	in     report.Input
	from   int // the first run that lines speak of
	nodes  int
	claims claim.List

	disordered bool // links keep no order
}

func (m *making) add(in report.Input) {
	if m.in.Runs == nil {
		in.Header.Experiment.Workloads = nil
		m.in = in
		return
	}
	m.from = len(m.in.Runs)
	m.in.Runs = append(m.in.Runs, in.Runs...)
}

// make carries out a line; it returns false where the line says what is shown.
func (m *making) make(words []string, line string) bool {
	t := m.t
	list := func(word string) []string { return strings.Split(word, ",") }
	switch words[0] {
	case "runs":
		var sizes []int
		for _, n := range list(words[3]) {
			sizes = append(sizes, int(amount(t, n)))
		}
		m.add(experiment(t, list(words[1]), list(words[2]), sizes, int(amount(t, words[4]))))
	case "vary":
		m.nodes = int(amount(t, words[1]))
	case "change":
		var spec runs.Spec
		testkit.Set(t, &spec, "", strings.TrimPrefix(line, "change "))
		m.change(spec)
	case "crashed":
		m.add(crashed(t, strings.Split(strings.TrimPrefix(line, "crashed "), "; ")...))
	case "loaded":
		for _, word := range words[2:] {
			in := experiment(t, []string{"a"}, []string{"poisson"}, []int{5}, 6)
			for _, r := range in.Runs {
				r.Result.Spec.TotalRate, r.Result.Spec.Requests = amount(t, word), 0
				*r.Result.Throughput = min(amount(t, word), amount(t, words[1]))
			}
			from := m.from
			if m.in.Runs == nil {
				in.Header = runs.Header{}
			}
			m.add(in)
			if word != words[2] {
				m.from = from
			}
		}
	case "grown":
		m.grown(words[1], amount(t, words[2]), words[3:])
	case "all":
		m.from = 0
	case "lean":
		lean(report.Input{Set: runs.Set{Runs: m.in.Runs[m.from:]}})
	case "hosts":
		place(report.Input{Set: runs.Set{Runs: m.in.Runs[m.from:]}}, int(amount(t, words[1])))
	case "flowing":
		flowing(report.Input{Set: runs.Set{Runs: m.in.Runs[m.from:]}}, int(amount(t, words[1])))
	case "set", "ramp":
		some := false
		for i := m.from; i < len(m.in.Runs); i++ {
			r := &m.in.Runs[i]
			if !matches(words[1], *r) {
				continue
			}
			some = true
			value := strings.Join(words[3:], " ")
			if words[0] == "ramp" {
				value = strconv.FormatFloat(amount(t, words[3])+amount(t, words[4])*float64(r.Repetition), 'f', -1, 64)
			}
			if field, ok := strings.CutPrefix(words[2], "Run."); ok {
				testkit.Set(t, r, field, value)
			} else {
				testkit.Set(t, r.Result, words[2], value)
			}
		}
		if !some {
			t.Fatalf("no run is %s", words[1])
		}
	case "input":
		testkit.Set(t, &m.in, words[1], strings.Join(words[2:], " "))
	case "disordered":
		m.disordered = true
	case "claim":
		var c struct{ Quantity, Formula, Expression, Load, Kind, KnownFalse, Only string }
		testkit.Set(t, &c, "", strings.TrimPrefix(line, "claim "))
		m.claim(claim.Claim{
			Quantity: quantity(t, cmp.Or(c.Quantity, "messages-per-cs")), Formula: c.Formula, Expression: c.Expression,
			Load: claim.Load(cmp.Or(c.Load, string(claim.AnyLoad))), Kind: claim.Kind(cmp.Or(c.Kind, string(claim.Exact))), KnownFalse: c.KnownFalse,
			Source: "Someone 1980, section 2; textbook, section 9.4", EqualDelays: c.Only == "equal delays", FIFO: c.Only == "FIFO",
		}, c.Only)
	default:
		return false
	}
	return true
}

// change adds six runs of one algorithm with a workload of their own.
func (m *making) change(spec runs.Spec) {
	in := experiment(m.t, []string{"ricart-agrawala"}, []string{"poisson"}, []int{m.nodes}, 6)
	in.Header = runs.Header{}
	label := fmt.Sprint("change ", len(m.in.Header.Experiment.Workloads))
	for i, r := range in.Runs {
		s := &r.Result.Spec
		s.TotalRate, s.Set, s.Requests = spec.TotalRate, spec.Set, cmp.Or(spec.Requests, s.Requests)
		in.Runs[i].Workload = label
	}
	workloads := append(m.in.Header.Experiment.Workloads, runs.Workload{Name: "poisson", Label: label, Set: spec.Set})
	m.add(in)
	m.in.Header.Experiment.Workloads = workloads
}

func (m *making) grown(expression string, noise float64, sizes []string) {
	c := claim.Claim{Formula: expression, Expression: expression}
	for _, network := range []string{"tcp", runs.Sim} {
		from := m.from
		first := m.in.Runs == nil
		var of []int
		for _, n := range sizes {
			of = append(of, int(amount(m.t, n)))
		}
		in := lean(experiment(m.t, []string{"a"}, []string{"serial"}, of, 6))
		for _, r := range in.Runs {
			x, ok := c.Prediction(dme.Setting{Nodes: r.Result.Nodes})
			if !ok {
				m.t.Fatalf("%s cannot be computed", expression)
			}
			r.Result.Transport, r.Result.Spec.Transport = network, network
			*r.Result.Messages.PerCS = x + noise*float64(r.Repetition-2)
		}
		m.add(in)
		if network == runs.Sim && !first {
			m.from = from
		}
	}
	m.predict()
}

func (m *making) predict() {
	m.in.Setting = func(s runs.Spec) (setting dme.Setting, c claims.Circumstance, ok bool) {
		return dme.Setting{Nodes: s.Nodes, E: time.Duration(s.TotalRate)}, claims.Of(s, !m.disordered, true), true
	}
}

func (m *making) claim(c claim.Claim, only string) {
	if below, ok := strings.CutPrefix(only, "E<"); ok {
		c.Applies = func(s dme.Setting) bool { return float64(s.E) < amount(m.t, below) }
	}
	m.claims = append(m.claims, c)
	m.in.Claims = func(string) claim.List { return m.claims }
	m.predict()
}

func quantity(t *testing.T, id string) claim.Quantity {
	all := []claim.Quantity{claim.MessagesPerCS, claim.ResponseTime, claim.Throughput, claim.WorkSpread, claim.BypassByOne}
	i := slices.IndexFunc(all, func(q claim.Quantity) bool { return q.ID == id })
	if i < 0 {
		t.Fatalf("no quantity %s", id)
	}
	return all[i]
}

var selector = regexp.MustCompile(`^([^@#]*)(?:@(\d+))?(?:#(\d+))?$`)

// matches reports whether a run is one of those that a line speaks of.
func matches(which string, r runs.Run) bool {
	m := selector.FindStringSubmatch(which)
	return (m[1] == "*" || m[1] == r.Label) && (m[2] == "" || m[2] == fmt.Sprint(r.Result.Nodes)) &&
		(m[3] == "" || m[3] == fmt.Sprint(r.Repetition))
}

func amount(t *testing.T, word string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(word, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

var (
	inFigure = regexp.MustCompile(`<text[^>]*>([^<]*)</text>`)
)

// shown is what a line asks for.
func (b built) shown(t *testing.T, words []string) (lines []string) {
	found := func(pattern *regexp.Regexp) (all []string) {
		for _, m := range pattern.FindAllStringSubmatch(b.svg(t, words[1]), -1) {
			all = append(all, html.UnescapeString(m[1]))
		}
		return all
	}
	switch words[0] {
	case "figures":
		var names []string
		for _, pattern := range words[1:] {
			names = append(names, b.plots(t, pattern)...)
		}
		return []string{"figures: " + strings.Join(names, " ")}
	case "labels":
		return []string{words[1] + ": " + strings.Join(found(inFigure), " | ")}
	case "caption":
		return []string{words[1] + ": " + b.captions(t)[words[1]]}
	case "csv":
		for _, row := range b.csv(t) {
			line := row["label"] + " N=" + row["nodes"]
			for _, column := range words[1:] {
				value, known := row[column]
				if !known {
					value = "no such column"
				}
				line += fmt.Sprintf(" %s=%q", column, value)
			}
			lines = append(lines, line)
		}
		return lines
	case "tex":
		return slices.DeleteFunc(strings.Split(string(b.file(t, "tables/"+words[1])), "\n"), func(line string) bool { return line == "" })
	}
	return b.data(t, words)
}

// data is a part of the page's data as text.
func (b built) data(t *testing.T, words []string) (lines []string) {
	say := func(parts ...string) {
		parts = slices.DeleteFunc(parts, func(x string) bool { return x == "" })
		lines = append(lines, strings.Join(parts, " | "))
	}
	d := b.page(t)
	switch words[0] {
	case "answer":
		say(append([]string{string(d.Answer.Level)}, d.Answer.Status...)...)
		say(d.Title, d.Started, d.Answer.Description, d.Answer.Asked, d.Answer.Title)
		for _, x := range d.Answer.Sentences {
			say(append([]string{x.About, x.Text}, x.Notes...)...)
		}
	case "warnings":
		for _, w := range d.Warnings {
			say(w.Text, w.Where, fmt.Sprint(w.Cells))
		}
	case "bad":
		for _, r := range d.Bad {
			say(append([]string{r.Status, r.Where, r.Reason}, r.Why...)...)
		}
	case "facts":
		for _, f := range d.Facts {
			say(f[:]...)
		}
	case "loads":
		for _, l := range d.Loads {
			say(l.Brief, l.Title)
		}
	case "notes":
		for _, n := range d.Notes {
			if n.Term == strings.Join(words[1:], " ") {
				say(n.Term, n.Text)
			}
		}
	case "cells":
		for _, c := range d.Cells {
			if label := d.Labels[c.Label].Name; words[1] == "*" || words[1] == label {
				say(append([]string{label, d.Loads[c.Load].Brief, fmt.Sprint("N=", c.Nodes)}, values(d, c, words[2:])...)...)
			}
		}
	case "table":
		for _, table := range d.Tables {
			for _, row := range table.Rows {
				var values []string
				for i, v := range row.Values {
					if strings.HasPrefix(table.ID, words[1]) {
						values = append(values, table.Columns[i].Title+": "+valueText(v))
					}
				}
				if values != nil {
					say(values...)
				}
			}
		}
	default:
		t.Fatalf("what is %q?", words)
	}
	return lines
}

// values are metrics of a cell, and what is predicted of them.
func values(d *page.Data, c page.Cell, metrics []string) (all []string) {
	for i, m := range d.Metrics {
		if e := c.Values[i]; slices.Contains(metrics, m.Name) && e.Count > 0 {
			all = append(all, fmt.Sprintf("%s %.6g [%.6g, %.6g] of %d %s", m.Name, e.Median, e.Lo, e.Hi, e.Count, e.Against))
			for _, p := range c.Predictions {
				if p.Metric == i {
					all = append(all, strings.TrimSpace(fmt.Sprintf("%s = %.6g %s %s", p.Formula, float64(p.Value), p.Verdict, p.False)))
				}
			}
		}
	}
	return append(all, fmt.Sprintf("%d runs, %d bad", c.Runs, c.Bad), strings.Join(c.Notes, "; "))
}

func valueText(v page.Value) string {
	text := v.Text
	if text == "" && v.Number != nil {
		text = fmt.Sprintf("%.6g", float64(*v.Number))
	}
	return strings.TrimSpace(text + " " + v.Small + " " + v.Class)
}

// plots lists the figures of a report that match a pattern.
func (b built) plots(t *testing.T, pattern string) (names []string) {
	t.Helper()
	for name := range b.files {
		figure, isFigure := strings.CutPrefix(strings.TrimSuffix(name, ".svg"), "plots/")
		if ok, err := path.Match(pattern, figure); err != nil {
			t.Fatal(err)
		} else if ok && isFigure {
			names = append(names, figure)
		}
	}
	slices.Sort(names)
	return names
}

// svg is a figure of the report.
func (b built) svg(t *testing.T, name string) string {
	t.Helper()
	return string(b.file(t, "plots/"+name+".svg"))
}

func (b built) file(t *testing.T, name string) []byte {
	t.Helper()
	data, ok := b.files[name]
	if !ok {
		t.Fatalf("there is no file %s", name)
	}
	return data
}
