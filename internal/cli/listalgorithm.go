package cli

import (
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/internal/platform/layout"
	"dmebench/internal/search/trace"
	"dmebench/workload/fault"
)

// showAlgorithm prints what an algorithm says of itself, and an example.
func (p *program) showAlgorithm(a *dme.Algorithm) error {
	style := p.pageStyle()
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n%s\n", style.Strong(a.Name), a.Title, style.Muted(style.Wrap(a.Citation, 0)))
	if a.Description != "" {
		fmt.Fprintf(&b, "\n%s\n", style.Wrap(a.Description, 0))
	}
	opt, err := a.Resolve(nil)
	if err != nil {
		return err
	}
	b.WriteByte('\n')
	columns(&b, style, [][2]string{
		{"messages", strings.Join(a.Kinds, ", ")}, {"needs of its links", orDash(needs(a.Needs(opt)), ", ")},
		{"supports", orDash(fault.Supported(a), ", ")}, {"messages per CS, as claimed", costs(a)},
	})
	writeOptions(&b, style, a.Options)
	writeInvariants(&b, style, a)
	writeClaims(&b, style, a)
	if a.AsPublished {
		fmt.Fprintf(&b, "\nIt is known to be wrong: 'dmebench check --algorithm %s --nodes 3' shows how.\n", a.Name)
	} else if s, err := trace.Example(a); err == nil { // else check says what is wrong with it
		played, err := s.Play(a, nil)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "\n%s\n('dmebench trace --scenario %s --svg FILE' draws it.)\n", played.Text, s.Name)
	}
	_, err = io.WriteString(p.stdout, b.String())
	return err
}

// writeAlgorithmsPage writes docs/algorithms.md.
func (p *program) writeAlgorithmsPage() error {
	examples, err := p.builtInScenarios()
	if err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString(`# Algorithms

The algorithms describe themselves: ` + "`dmebench list NAME`" + ` prints all about one: values of options, ` +
		`claims with their sources, invariants. ` +
		`Each picture is a worked example that the tests replay: first one request alone, then two at once, or a figure of the paper. ` +
		"`dmebench trace --scenario NAME/example`" + ` prints the first of an algorithm. ` +
		`N is the number of nodes, K the size of a quorum, T the delay of a message, E the duration of a critical section.

'TR-869' is G. Ricart, A. K. Agrawala: An Algorithm for Mutual Exclusion in Computer Networks, ` +
		`University of Maryland, 1980; 'textbook' is A. D. Kshemkalyani, M. Singhal: Distributed Computing, ` +
		`Cambridge University Press, 2008, chapter 9. ` +
		`A claim is made with the default options unless it names others. ` +
		`An algorithm supports crash if it goes on without a node; restart, join and leave if its nodes know how to; ` +
		`see [faults.md](faults.md). The literal texts that are [known to be wrong](errata.md) come last.

`)
	t := layout.NewTable("Algorithm", "Class", "Needs of its links", "Supports", "Messages per CS, as claimed")
	for _, a := range p.catalog.Algorithms() {
		if a.AsPublished {
			continue // known to be wrong: not for choosing
		}
		opt, err := a.Resolve(nil)
		if err != nil {
			return err
		}
		class := string(a.Class)
		if a.Dynamic {
			class += ", dynamic"
		}
		t.Add(fmt.Sprintf("[`%s`](#%s)", a.Name, a.Name), class, strings.Join(needs(a.Needs(opt)), ", "),
			strings.Join(fault.Supported(a), ", "), costs(a))
	}
	if err := t.WriteMarkdown(&b); err != nil {
		return err
	}
	for _, a := range p.catalog.Algorithms() {
		describeAlgorithm(&b, a, examples)
		for _, x := range examples {
			if s := x.Scenario; s.Algorithm == a.Name && s.Name != trace.ExampleName(a) {
				showScenario(&b, s, s.Title)
				fmt.Fprintf(&b, "\n`dmebench trace --scenario %s`\n", s.Name)
			}
		}
	}
	_, err = io.WriteString(p.stdout, b.String())
	return err
}

func showScenario(b *strings.Builder, s *trace.Scenario, caption string) {
	image := path.Join("images", "scenarios", strings.ReplaceAll(s.Name, "/", "-")+".svg")
	fmt.Fprintf(b, "\n![%s](%s)\n", caption, image)
}

// briefly names the texts that the head of the page introduces by their short names.
var briefly = strings.NewReplacer(
	"G. Ricart, A. K. Agrawala: An Algorithm for Mutual Exclusion in Computer Networks, University of Maryland TR-869, 1980", "TR-869",
	"A. D. Kshemkalyani, M. Singhal: Distributed Computing, Cambridge University Press 2008, chapter 9", "Textbook",
	"A. Kshemkalyani and M. Singhal, Distributed Computing, Cambridge University Press, 2008", "Textbook",
)

// describeAlgorithm writes the section of an algorithm, without figures of its paper.
func describeAlgorithm(b *strings.Builder, a *dme.Algorithm, examples []trace.BuiltIn) {
	fmt.Fprintf(b, "\n## %s\n\n%s. %s.\n\n", a.Name, a.Title, briefly.Replace(strings.TrimSuffix(a.Citation, ".")))
	if a.AsPublished {
		fmt.Fprintf(b, "[The fault and its repair](errata.md#%s).\n", a.Name)
		return
	}
	if a.Description != "" {
		fmt.Fprintf(b, "%s\n", a.Description)
	}
	for _, x := range examples {
		if x.Name == trace.ExampleName(a) {
			showScenario(b, x.Scenario, "An example of "+a.Name)
		}
	}
	fmt.Fprintf(b, "\nMessages: %s.\n", strings.Join(a.Kinds, ", "))
	for _, o := range a.Options {
		fmt.Fprintf(b, "- `--set %s=%s` (default %s): %s\n", o.Name, o.Values(), orNone(o.Default), firstClause(o.Help))
	}
	if headlines := headlineClaims(a); len(headlines) > 0 {
		b.WriteString("\nClaims:\n")
		for _, c := range headlines {
			formula, _, _ := strings.Cut(c.Formula, ":")
			if strings.Contains(formula, ";") || strings.Contains(formula, " or ") {
				formula = c.Formula // what follows tells the cases apart
			}
			fmt.Fprintf(b, "- %s: %s (%s, %s)\n", c.Quantity, formula, conditions(c), c.Kind)
		}
	}
}

// firstClause is the beginning of a help, or all if it begins with values.
func firstClause(help string) string {
	i := strings.IndexAny(help, ":;")
	if i < 0 || len(strings.Fields(help[:i])) < 3 {
		return help
	}
	return help[:i]
}

// headlineClaims are the first claims that a reader asks for: what an entry costs,
// how fast a handover is, and one more.
func headlineClaims(a *dme.Algorithm) claim.List {
	var all claim.List
	chosen := make(map[string]bool)
	for _, wanted := range []claim.Quantity{claim.MessagesPerCS, claim.SyncDelay, {}} {
		// Those under the default options come first.
		for _, c := range slices.SortedStableFunc(slices.Values(claim.Of(a)), func(x, y claim.Claim) int { return len(x.Set) - len(y.Set) }) {
			fits := c.Quantity == wanted || wanted == claim.Quantity{} && c.Quantity != claim.Violations && c.Quantity != claim.Unserved
			if fits && !chosen[c.Quantity.ID] && c.KnownFalse == "" {
				all, chosen[c.Quantity.ID] = append(all, c), true
				break
			}
		}
	}
	return all
}

func writeClaims(w *strings.Builder, s layout.Style, a *dme.Algorithm) {
	var rows [][2]string
	for _, c := range byQuantity(claim.Of(a)) {
		text := fmt.Sprintf("%s (%s, %s; %s)", c.Formula, conditions(c), c.Kind, c.Source)
		if c.KnownFalse != "" {
			text += "; known to be false: " + c.KnownFalse
		}
		rows = append(rows, [2]string{c.Quantity.String(), text})
	}
	section(w, s, "Claims, which 'validate' judges", rows)
}

// byQuantity returns the claims such that those about one quantity stand
// together, where the first of them stood.
func byQuantity(claims claim.List) claim.List {
	first := make(map[claim.Quantity]int)
	for i, c := range slices.Backward(claims) {
		first[c.Quantity] = i
	}
	return slices.SortedStableFunc(slices.Values(claims), func(a, b claim.Claim) int { return first[a.Quantity] - first[b.Quantity] })
}

func conditions(c claim.Claim) string {
	text := string(c.Load)
	for _, name := range slices.Sorted(maps.Keys(c.Set)) {
		text += fmt.Sprintf(", `%s=%s`", name, c.Set[name])
	}
	if c.FIFO {
		text += ", links that keep order"
	}
	return text
}

// costs sums up what an algorithm's messages cost with its default options: what
// is claimed of every entry, and what of light and of heavy load.
func costs(a *dme.Algorithm) string {
	var parts []string
	for _, load := range []claim.Load{claim.AnyLoad, claim.Light, claim.Saturated, claim.Worst} {
		i := slices.IndexFunc(claim.Of(a), func(c claim.Claim) bool {
			numeric := c.Kind != claim.Asymptotic && c.Kind != claim.LowerBound
			return c.Quantity == claim.MessagesPerCS && c.Load == load && numeric && c.KnownFalse == "" && c.Set == nil
		})
		if i < 0 {
			continue
		}
		formula, _, _ := strings.Cut(claim.Of(a)[i].Formula, ":")
		if claim.Of(a)[i].Kind == claim.UpperBound {
			formula = "≤ " + formula
		}
		parts = append(parts, fmt.Sprintf("%s (%s)", formula, load))
	}
	if parts == nil {
		return "–"
	}
	return strings.Join(parts, "; ")
}

type invariant struct {
	Name      string `json:"name"`
	Statement string `json:"statement"`
	Citation  string `json:"citation"`
	Faults    bool   `json:"faults"` // holds after crashes, too
}

func invariantsOf(a *dme.Algorithm) []invariant {
	all := []invariant{}
	for _, i := range a.Invariants {
		all = append(all, invariant{i.Name, i.Statement, i.Citation, i.Faults})
	}
	return all
}

func writeInvariants(w *strings.Builder, s layout.Style, a *dme.Algorithm) {
	var rows [][2]string
	for _, i := range a.Invariants {
		rows = append(rows, [2]string{i.Name, i.Statement + " (" + i.Citation + ")"})
	}
	section(w, s, "Invariants, which 'check' looks at in every state", rows)
}
