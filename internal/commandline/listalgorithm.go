package commandline

import (
	"fmt"
	"io"
	"strings"

	"dmebench/dme"
	"dmebench/internal/trace"
	"dmebench/workload/fault"
)

// showAlgorithm prints what an algorithm says of itself, and an example of it step
// by step.
func (p *program) showAlgorithm(a *dme.Algorithm) error {
	style := p.helpStyle()
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
		{"bears", orDash(fault.Bears(a), ", ")}, {"messages per CS, as claimed", costs(a)},
	})
	writeOptions(&b, style, a.Options)
	writeInvariants(&b, style, a)
	writeClaims(&b, style, a)
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
	_, err = io.WriteString(p.stdout, b.String())
	return err
}
