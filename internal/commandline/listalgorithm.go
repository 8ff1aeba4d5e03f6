package commandline

import (
	"fmt"
	"io"
	"strings"

	"dmebench/dme"
	"dmebench/internal/tables"
	"dmebench/internal/terminal"
	"dmebench/internal/trace"
)

// showAlgorithm prints what an algorithm says of itself, and an example of it step
// by step.
func (p *program) showAlgorithm(a *dme.Algorithm) error {
	style := terminal.Of(p.stdout)
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n%s\n", style.Strong(a.Name), a.Title, style.Muted(style.Wrap(a.Citation, 0)))
	if a.Description != "" {
		fmt.Fprintf(&b, "\n%s\n", style.Wrap(a.Description, 0))
	}
	opt, err := a.Resolve(nil)
	if err != nil {
		return err
	}
	facts := new(tables.Table)
	facts.Add("messages", strings.Join(a.Kinds, ", "))
	facts.Add("needs of its links", orDash(needs(a.Needs(opt)), ", "))
	facts.Add("messages per CS, as claimed", costs(a))
	b.WriteByte('\n')
	if err := facts.WriteText(&b); err != nil {
		return err
	}
	if len(a.Options) > 0 {
		b.WriteString("\noptions, for --set\n")
		options := new(tables.Table)
		for _, o := range a.Options {
			options.Add("  "+o.Name+"="+o.Values(), o.Help+" (default "+orNone(o.Default)+")")
		}
		if err := options.WriteText(&b); err != nil {
			return err
		}
	}
	switch {
	case a.AsPublished:
		fmt.Fprintf(&b, "\nIt is known to be wrong: 'dmebench check --algorithm %s --nodes 3' shows how.\n", a.Name)
	default:
		s, err := trace.Example(a)
		if err != nil {
			break // check says what is wrong with it
		}
		text, _, err := s.Play(a, nil)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "\n%s\n('dmebench trace --scenario %s --svg FILE' draws it.)\n", text, s.Name)
	}
	fmt.Fprintf(&b, "\n'dmebench list --json' has its %d claims, and docs/algorithms.md shows them.\n", len(a.Claims))
	_, err = io.WriteString(p.stdout, b.String())
	return err
}
