package commandline

import (
	"fmt"
	"maps"
	"path/filepath"
	"strings"

	"dmebench/dme"
	"dmebench/dme/vnet"
	"dmebench/internal/atomicfile"
	"dmebench/internal/check"
	"dmebench/internal/trace"
)

// saveScenario keeps a counterexample as a scenario, and returns the name of its
// file, "" where that cannot be done, which is said.
func (p *program) saveScenario(file string, a *dme.Algorithm, o check.Options, sequenced bool, r check.Report, replay string) string {
	x := trace.Counterexample{
		Algorithm: a, Nodes: o.Nodes, Set: o.Set, Seed: r.Seed, Sequenced: sequenced, Bypass: o.Bypass,
		Violates: r.Trace.Violation.Property, Verdict: r.Trace.Violation.Verdict, Replay: replay,
		Steps: r.Trace.Steps(), Repeats: r.Trace.Repeats,
	}
	switch x.Violates {
	case check.Starvation: // which a scenario cannot judge: it plays one schedule
		x.Violates, x.Bypass = vnet.Overtaking, r.Trace.Bypass
	case vnet.Overtaking:
		x.Bypass = r.Trace.Bypass
	}
	text, err := saved(file, x, o.ReadFile)
	if err == nil {
		err = atomicfile.Write(file, text)
	}
	if err != nil {
		fmt.Fprintf(p.stderr, "dmebench: warning: the counterexample is not saved in %s: %v\n", file, err)
		return ""
	}
	return file
}

// saved returns the text of the counterexample in a file. The files that its options name
// are named as seen from there.
func saved(file string, x trace.Counterexample, read func(string) ([]byte, error)) ([]byte, error) {
	named := make(map[string]bool)
	x.ReadFile = func(name string) ([]byte, error) {
		named[name] = true
		return read(name)
	}
	text, err := trace.Save(file, x)
	set := maps.Clone(x.Set)
	for name := range named {
		there, ok := asSeenFrom(file, name)
		if !ok {
			continue
		}
		for key, value := range x.Set {
			if before, ok := strings.CutSuffix(value, name); ok && strings.HasSuffix(before, ":") {
				set[key] = before + there
			}
		}
	}
	if err != nil || maps.Equal(set, x.Set) {
		return text, err
	}
	x.Set, x.ReadFile = set, besides(file)
	return trace.Save(file, x)
}

// asSeenFrom returns the name of a file in relation to another's folder; ok is false where
// it is absolute, and found from everywhere.
func asSeenFrom(file, name string) (there string, ok bool) {
	folder, err := filepath.Abs(filepath.Dir(file))
	if err != nil || filepath.IsAbs(name) {
		return "", false
	}
	if name, err = filepath.Abs(name); err != nil {
		return "", false
	}
	there, err = filepath.Rel(folder, name)
	return there, err == nil
}
