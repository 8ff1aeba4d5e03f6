package house

import (
	"go/ast"
	"maps"
	"slices"
	"strings"
)

// importRule says what the packages of some folders may import of this module.
type importRule struct {
	of   []string
	may  []string // import nothing else; nil leaves it open
	not  []string // not reach these, folders or packages from elsewhere, through any chain of imports
	pure bool     // a pure state machine, or what one is made of
}

// importRules is the architecture: the first rule for a folder holds.
var importRules = []importRule{
	{of: []string{"dme"}, may: []string{}, pure: true},
	{of: []string{"algorithms/quorum"}, may: []string{"dme"}, pure: true},
	{of: []string{"algorithms/catalog"}, may: []string{"dme", "algorithms/..."}},
	// The network in memory runs nodes like every runtime, also in a browser.
	{of: []string{"dme/vnet"}, may: []string{"dme", "internal/noderun"}},
	{of: []string{"dme/conformance"}, may: []string{"dme", "dme/vnet", "internal/noderun"}},
	// An algorithm: never another algorithm.
	{of: []string{"algorithms/..."}, may: []string{"dme", "algorithms/quorum"}, pure: true},

	{of: []string{"transport"}, may: []string{"dme"}},
	// What transports have in common.
	{of: []string{"transport/frame", "transport/peers"}, may: []string{"dme", "transport"}},
	// The suite that all transports pass, with peers in processes of their own.
	{of: []string{"transport/transporttest"}, may: []string{"dme", "transport", "transport/frame", "internal/launch"}},
	{of: []string{"transport/..."}, may: []string{"dme", "transport", "transport/frame", "transport/peers", "internal/rawio"}},
	// System calls, under transports and alarms alike; and processes of one's own.
	{of: []string{"internal/rawio", "internal/launch"}, may: []string{}},

	{of: []string{"workload"}, may: []string{"dme"}},
	// Numbers in, numbers out.
	{of: []string{"report/stats", "report/units"}, may: []string{}},
	// What others read results with.
	{of: []string{"result"}, may: []string{"dme"}, not: networks},
	{of: []string{"report", "report/..."}, not: slices.Concat(networks, []string{"algorithms/...", "internal/sim"})},
	{of: []string{"internal/noderun"}, may: []string{"dme"}},
	{of: []string{"internal/localprocess"}, may: []string{"dme", "internal/noderun", "internal/entrylog", "workload"}},
}

// networks is what runs nodes over real networks.
var networks = []string{
	"transport", "transport/...", "github.com/nats-io/...",
	"internal/worker", "internal/coordinator", "internal/control",
}

// natsUsers are the only packages that import NATS: the transport, the control
// plane, and what compares the transport with the client library alone.
var natsUsers = []string{"transport/nats", "internal/control", "internal/ping"}

const natsModules = "github.com/nats-io/"

// Packages that nobody imports but the folders named: what is on top stays on
// top.
var importers = map[string][]string{
	".":             {"cmd/..."},              // package dmebench is for programs
	"internal/ping": {"internal/commandline"}, // measures networks, and is no part of one
}

// violations returns everything in m that breaks a rule, each with its place.
func violations(m *module) []string {
	var all []string
	for _, folder := range slices.Sorted(maps.Keys(m.pkgs)) {
		i := slices.IndexFunc(importRules, func(r importRule) bool { return matchAny(r.of, folder) })
		for _, f := range m.pkgs[folder] {
			report := func(at ast.Node, what string) { all = append(all, m.at(at)+": "+what) }
			for _, s := range f.Imports {
				checkEverywhere(m, folder, s, report)
				if i >= 0 {
					importRules[i].checkImport(m, folder, s, report)
				}
			}
			if i >= 0 && importRules[i].pure {
				checkPure(m, f, report)
			}
		}
		if i >= 0 {
			all = append(all, importRules[i].checkReach(m, folder)...)
		}
	}
	return all
}

// checkEverywhere applies the rules that hold for every package.
func checkEverywhere(m *module, folder string, s *ast.ImportSpec, report func(ast.Node, string)) {
	p := importPath(s)
	if strings.HasPrefix(p, natsModules) && !slices.Contains(natsUsers, folder) {
		report(s, folder+" imports "+p+"; only "+enumerate(natsUsers)+" may")
	}
	if target, ok := m.local(p); ok {
		if who, ok := importers[target]; ok && !matchAny(who, folder) {
			report(s, folder+" imports "+p+"; only "+strings.Join(who, " and ")+" may")
		}
	}
}

func (r importRule) checkImport(m *module, folder string, s *ast.ImportSpec, report func(ast.Node, string)) {
	p := importPath(s)
	target, ok := m.local(p)
	switch {
	case ok && r.may != nil && !matchAny(r.may, target):
		may := "nothing of this module"
		if len(r.may) > 0 {
			may = strings.Join(r.may, ", ") + " of this module and nothing else"
		}
		report(s, folder+" imports "+p+"; it may import "+may)
	case !ok && r.pure && !standard(p):
		report(s, folder+" imports "+p+"; it may import the standard library only")
	}
}

// checkReach reports what the folder reaches and may not, each with one of the
// shortest chains of imports that lead there.
func (r importRule) checkReach(m *module, folder string) []string {
	var all []string
	chains := map[string]string{folder: folder} // what is reached: how
	for queue := []string{folder}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		for _, f := range m.pkgs[at] {
			for _, s := range f.Imports {
				target, ours := m.local(importPath(s))
				if !ours {
					target = importPath(s)
				}
				if chains[target] != "" {
					continue
				}
				chains[target] = chains[at] + " → " + target
				if matchAny(r.not, target) {
					all = append(all, m.at(s)+": "+chains[target]+"; "+folder+" may not reach "+target)
				} else if ours {
					queue = append(queue, target)
				}
			}
		}
	}
	return all
}

// enumerate writes a list as a sentence does.
func enumerate(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
