package commandline

import (
	"fmt"

	"dmebench/dme"
	"dmebench/dme/vnet"
	"dmebench/internal/atomicfile"
	"dmebench/internal/check"
	"dmebench/internal/trace"
)

// saveScenario keeps a counterexample as a scenario, and returns the name of its
// file, "" where that cannot be done, which is said.
func (p *program) saveScenario(file string, a *dme.Algorithm, o check.Options, sequenced bool, r check.Report, replay string) string {
	violates, bypass := r.Trace.Violation.Property, o.Bypass
	switch violates {
	case check.Starvation: // which a scenario cannot judge: it plays one schedule
		violates, bypass = vnet.Overtaking, r.Trace.Bypass
	case vnet.Overtaking:
		bypass = r.Trace.Bypass
	}
	text, err := trace.Save(file, trace.Counterexample{
		Algorithm: a, Nodes: o.Nodes, Set: o.Set, Seed: r.Seed, Sequenced: sequenced, Bypass: bypass,
		Violates: violates, Verdict: r.Trace.Violation.Verdict, Replay: replay,
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
