package commandline

import (
	"fmt"

	"dmebench/dme"
	"dmebench/internal/atomicfile"
	"dmebench/internal/check"
	"dmebench/internal/trace"
)

// saveScenario keeps a counterexample as a scenario, and returns the name of its
// file, "" where that cannot be done, which is said.
func (p *program) saveScenario(file string, a *dme.Algorithm, o check.Options, sequenced bool, r check.Report, replay string) string {
	text, err := trace.Save(file, trace.Counterexample{
		Algorithm: a, Nodes: o.Nodes, Set: o.Set, Seed: r.Seed, Sequenced: sequenced, Bypass: o.Bypass,
		Violates: r.Trace.Violation.Property, Verdict: r.Trace.Violation.Verdict, Replay: replay,
		Steps: r.Trace.Steps(), Repeats: r.Trace.Repeats, ReadFile: o.ReadFile,
	})
	if err == nil {
		err = atomicfile.Write(file, text)
	}
	if err != nil {
		fmt.Fprintf(p.stderr, "dmebench: warning: the counterexample is not saved in %s: %v\n", file, err)
		return ""
	}
	return file
}
