package commandline

import (
	"fmt"
	"strings"

	"dmebench/dme"
	"dmebench/internal/terminal"
)

// invariant is one as 'list --json' shows it.
type invariant struct {
	Name      string `json:"name"`
	Statement string `json:"statement"`
	Citation  string `json:"citation"`
	Faults    bool   `json:"faults"` // it holds after crashes, too
}

func invariantsOf(a *dme.Algorithm) []invariant {
	all := []invariant{}
	for _, i := range a.Invariants {
		all = append(all, invariant{i.Name, i.Statement, i.Citation, i.Faults})
	}
	return all
}

func invariantNames(all []dme.Invariant) []string {
	names := []string{}
	for _, i := range all {
		names = append(names, i.Name)
	}
	return names
}

// writeInvariants writes the invariants of an algorithm for 'list NAME'.
func writeInvariants(w *strings.Builder, s terminal.Style, a *dme.Algorithm) {
	if len(a.Invariants) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n", s.Strong("Invariants, which 'check' looks at in every state"))
	var rows [][2]string
	for _, i := range a.Invariants {
		rows = append(rows, [2]string{i.Name, i.Statement + " (" + i.Citation + ")"})
	}
	columns(w, s, rows)
}
