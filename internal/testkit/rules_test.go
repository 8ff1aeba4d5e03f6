package testkit_test

import (
	"cmp"
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
	but  []string // what a pure one may import of the standard library nevertheless
}

// importRules is the architecture: the first rule for a folder holds.
var importRules = []importRule{
	{of: []string{"dme"}, may: []string{"units"}, pure: true},
	// How values and names are written.
	{of: []string{"units"}, may: []string{}, pure: true},
	{of: []string{"algorithms/quorum", "algorithms/spanning"}, may: []string{"dme", "units"}, pure: true},
	{of: []string{"dme/collections"}, may: []string{"dme"}, pure: true},
	// What papers claim, in the words in which it is judged.
	{of: []string{"dme/claim"}, may: []string{"dme"}, pure: true},
	{of: []string{"algorithms"}, may: []string{"dme", "algorithms/..."}},
	// The network in memory runs nodes like every runtime, also in a browser.
	{
		of: []string{"dme/vnet"}, may: []string{"dme", "internal/runtime/noderun"}, not: machine,
		pure: true, but: []string{"sync", "sync/atomic", "crypto/sha256"}, // several searches share what they hash with
	},
	{of: []string{"internal/testkit/toys"}, may: []string{"dme", "dme/collections"}},
	{of: []string{"dme/conformance"}, may: []string{"dme", "dme/claim", "dme/collections", "dme/vnet", "internal/runtime/noderun"}},
	// An algorithm: never another algorithm.
	{
		of:  []string{"algorithms/..."},
		may: []string{"dme", "dme/claim", "dme/collections", "algorithms/quorum", "algorithms/spanning"}, pure: true,
	},

	{of: []string{"transport"}, may: []string{"dme"}},
	// What transports have in common.
	{of: []string{"transport/peers"}, may: []string{"dme", "transport"}},
	// The suite that all transports pass, with peers in processes of their own.
	{of: []string{"transport/transporttest"}, may: []string{"dme", "transport", "internal/platform/launch", "internal/testkit"}},
	// Delays and faults, in front of any transport.
	{of: []string{"transport/link"}, may: []string{"dme", "transport", "internal/platform/rawio", "units"}},
	{of: []string{"transport/..."}, may: []string{"dme", "transport", "transport/peers", "internal/platform/rawio"}},
	// System calls, under transports and alarms alike; processes of one's own; and
	// what knows nothing of nodes.
	{
		of: []string{
			"internal/platform/rawio", "internal/platform/launch", "internal/platform/clock",
			"internal/platform/fileio", "internal/platform/environment", "internal/platform/layout",
			"internal/platform", "internal/testkit",
		},
		may: []string{},
	},

	// Nodes that are processes of their own. It knows their protocol and no network.
	{of: []string{"internal/runtime/foreign"}, may: []string{"dme"}},

	// Certificates, in files.
	{of: []string{"internal/testbed"}, may: []string{"internal/platform/fileio", "transport/nats"}},

	// Looks at hosts, and knows nothing of runs.
	{of: []string{"internal/testbed/doctor"}, may: []string{
		"internal/platform/clock", "internal/platform/environment",
		"internal/platform/fileio", "internal/platform/layout",
		"units", "transport/udp",
	}},

	{of: []string{"workload"}, may: []string{"dme", "units"}},
	// Faults follow the rules of membership of the network in memory.
	{of: []string{"workload/fault"}, may: []string{"dme", "dme/collections", "dme/vnet", "units"}},
	// Numbers in, numbers out.
	{of: []string{"stats"}, may: []string{}, not: machine},
	// What others read results with.
	{of: []string{"runs"}, may: []string{"dme", "units", "internal/platform/fileio"}},
	// Judges results, however they came about.
	{of: []string{"claims"}, not: slices.Concat(networks, runners, []string{"algorithms/..."})},
	// Shows sweeps to whoever looks, and runs nothing.
	{of: []string{"internal/experiment/live"}, not: slices.Concat(networks, runners)},
	{of: []string{"report", "report/..."}, not: slices.Concat(networks, runners, []string{"algorithms/..."})},

	// Who runs nodes, one by one and as a process.
	{of: []string{"internal/runtime/noderun"}, may: []string{"dme"}, not: machine},
	{of: []string{"internal/runtime/localprocess"}, may: []string{
		"dme", "internal/runtime/noderun", "internal/record", "workload",
	}},
	{of: []string{"internal/runtime/witness"}, may: []string{"dme", "internal/runtime/noderun", "internal/record", "transport/nats"}},
	{of: []string{"internal/record"}, may: []string{"dme"}},
	// Searches and worked examples: on the network in memory and on no other.
	{of: []string{"internal/record/recording"}, may: []string{"dme", "dme/vnet", "internal/runtime/noderun"}, not: machine},
	{of: []string{"internal/record/spacetime"}, may: []string{"dme", "dme/vnet", "internal/record/recording"}},
	{of: []string{"internal/runtime/stall"}, may: []string{"dme", "runs"}},
	{of: []string{"internal/search/check"}, may: []string{
		"dme", "dme/claim", "dme/vnet", "internal/record/recording", "internal/record/spacetime", "internal/runtime/stall",
		"internal/platform/hugepages", "internal/platform/layout", "units", "runs",
	}},
	{of: []string{"internal/search/trace"}, may: []string{
		"dme", "dme/vnet", "internal/runtime/noderun", "internal/record/recording", "internal/record/spacetime", "internal/search/check",
	}},

	// Rooms, where no rule above says more.
	{of: []string{"internal/platform", "internal/platform/..."}, may: []string{"internal/platform/..."}},
	{of: []string{"internal/search", "internal/search/..."}, not: networks},
	{of: []string{"internal/record/..."}, not: []string{"internal/runtime/worker", "internal/runtime/coordinator", "internal/sim"}},
	{of: []string{"internal/sim"}, not: []string{"internal/runtime/worker", "internal/runtime/coordinator"}},
}

// machine is what a page in a browser does not have.
var machine = []string{"net", "net/...", "os", "os/...", "syscall", "golang.org/x/sys/...", "testing", "testing/..."}

// runners carry runs out.
var runners = []string{"internal/runtime/run", "internal/sim", "internal/runtime/localprocess", "internal/runtime/noderun", "dme/vnet"}

// networks is what runs nodes over real networks.
var networks = []string{
	"transport", "transport/...", "github.com/nats-io/...",
	"internal/runtime/worker", "internal/runtime/coordinator", "internal/runtime/control", "internal/runtime/host",
	"internal/testbed/agent",
}

// natsUsers are the only packages that import NATS: the transport, the control
// plane, the agents of other hosts, what critical sections share, and what compares
// the transport with the client library alone.
var natsUsers = []string{
	"transport/nats", "internal/runtime/control", "internal/testbed/agent", "internal/testbed/workqueue",
	"internal/runtime/witness", "internal/runtime/ping",
}

const natsModules = "github.com/nats-io/"

// Packages that nobody imports but the folders named: what is on top stays on
// top.
var importers = map[string][]string{
	".":                            {"cmd/..."}, // package dmebench is for programs
	"internal/cli":                 {"."},
	"internal/runtime/ping":        {"internal/cli"}, // measures networks, and is no part of one
	"internal/runtime/coordinator": {"internal/cli"},
	"internal/experiment/validate": {"internal/cli"},
	"internal/experiment":          {"internal/cli", "internal/experiment/advise"},
	"internal/experiment/live":     {"internal/cli", "internal/experiment"},
	"internal/runtime/worker":      {"internal/cli", "internal/runtime/host"},
	"internal/runtime/host":        {"internal/cli", "internal/runtime/coordinator", "internal/testbed/agent"},
	"internal/testbed/agent":       {"internal/cli"},
	"internal/testbed/doctor":      {"internal/cli", "internal/testbed/agent"},
	// Memory that the workers of a host share, and a resource that those of all do.
	"internal/runtime/witness": {"internal/runtime/coordinator", "internal/runtime/host", "internal/runtime/worker"},
	// Whoever starts processes, and the processes.
	"internal/platform/launch": {
		"internal/cli", "internal/runtime/coordinator", "internal/runtime/host", "internal/testbed/agent",
		"internal/runtime/worker", "internal/testbed/workqueue",
		"internal/runtime/ping", "transport/transporttest",
	},
	// For tests alone.
	"dme/conformance":         {"internal/testkit/suite"},
	"transport/transporttest": {},
	"internal/testkit":        {"internal/testkit/suite", "transport/transporttest"},
	"internal/testkit/toys":   {},
	"internal/testkit/suite":  {},
}

// violations returns everything in m that breaks a rule, each with its place.
func violations(m *module) []string {
	all := slices.Clone(m.long)
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
				checkPure(m, f, importRules[i].but, report)
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
			report(s, folder+" imports "+p+"; only "+cmp.Or(enumerate(who), "tests")+" may")
		}
	}
}

// folders returns the patterns of folders that the rules speak of and that must
// therefore be there.
func folders() []string {
	all := slices.Concat(natsUsers, runners)
	for _, r := range importRules {
		all = slices.Concat(all, r.of, r.may)
	}
	for folder, who := range importers {
		all = append(append(all, folder), who...)
	}
	slices.Sort(all)
	return slices.Compact(all)
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
