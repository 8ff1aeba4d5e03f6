package runs

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dmebench/dme"
	"dmebench/units"
)

// A dimension is one thing in which cells may differ.
type dimension struct {
	name string
	of   func(Spec) string // "" if it was not given
}

// dimensions lists everything that makes a cell what it is. Seeds, time-outs and
// addresses are not part of it.
var dimensions = [...]dimension{
	{"algorithm", func(s Spec) string { return s.Algorithm }},
	{"set", func(s Spec) string { return Settings(s.Set) }},
	{"nodes", func(s Spec) string { return strconv.Itoa(s.Nodes) }},
	{"transport", func(s Spec) string { return s.Transport }},
	{"workload", func(s Spec) string { return s.Workload }},
	{"cs", func(s Spec) string { return s.CS }},
	{"rate", func(s Spec) string { return given(s.Rate) }},
	{"total_rate", func(s Spec) string { return given(s.TotalRate) }},
	{"requests", func(s Spec) string { return given(float64(s.Requests)) }},
	{"duration", func(s Spec) string {
		if s.Duration == 0 {
			return ""
		}
		return s.Duration.String()
	}},
	{"nodes_per_worker", func(s Spec) string { return given(float64(s.NodesPerWorker)) }},
	{"warmup", func(s Spec) string { return s.Warmup }},
	{"faults", func(s Spec) string { return strings.Join(s.Faults, "; ") }},
	{"resource", func(s Spec) string { return s.Resource }},
	{hostsDimension, func(Spec) string { return "" }}, // a result has them, see [Result.Key]
}

// given writes a number so that it can be read as one again.
func given(x float64) string {
	if x == 0 {
		return ""
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}

// Settings writes options in the order of their names: "hot=3 share=0.5".
func Settings(set map[string]string) string {
	return strings.Join(dme.Assigned(set), " ")
}

// SetFlags writes them as on a command line: " --set hot=3 --set share=0.5".
func SetFlags(set map[string]string) (flags string) {
	for _, word := range dme.Assigned(set) {
		flags += " --set " + Quoted(word)
	}
	return flags
}

// Dimensions names everything in which cells may differ: the keys of a [Spec]
// that are part of a [Key], in their order, and hosts, which a [Result] has.
func Dimensions() []string {
	return units.Texts(dimensions[:], func(d dimension) string { return d.name })
}

// Key says what a cell is: everything that a run was asked to do, but for its
// seed, and on which hosts. Runs of equal keys are repetitions of one another. Keys are comparable,
// and so can be those of a map.
//
// [Key.Without] forgets dimensions: cells whose keys are equal without them differ in
// nothing else.
type Key struct {
	values [len(dimensions)]string
}

// KeyOf returns the key of the cell that a specification belongs to, wherever it is
// run; [Result.Key] knows the hosts too.
func KeyOf(s Spec) Key {
	var k Key
	for i, d := range dimensions {
		k.values[i] = d.of(s)
	}
	return k
}

// index finds a dimension. An unknown name is a fault of the program.
func index(name string) int {
	i := slices.IndexFunc(dimensions[:], func(d dimension) bool { return d.name == name })
	if i < 0 {
		panic(fmt.Sprintf("runs: there is no dimension %q", name))
	}
	return i
}

// Get returns the value of a dimension, "" if none was given.
func (k Key) Get(name string) string { return k.values[index(name)] }

// Without returns the key without these dimensions.
func (k Key) Without(names ...string) Key {
	for _, name := range names {
		k.values[index(name)] = ""
	}
	return k
}

// Settings returns the dimensions that have a value, by their names.
func (k Key) Settings() map[string]string {
	all := make(map[string]string)
	for i, d := range dimensions {
		if k.values[i] != "" {
			all[d.name] = k.values[i]
		}
	}
	return all
}

// With returns the key with another value of a dimension.
func (k Key) With(name, value string) Key {
	k.values[index(name)] = value
	return k
}

// Place returns where and under which load the cell was run: what cells must
// have in common for their algorithms to be compared.
func (k Key) Place() Key { return k.Without("algorithm", "set", "nodes", "requests") }

// String names the cell for people: "maekawa quorum=grid nodes=7 transport=sim".
func (k Key) String() string {
	var parts []string
	for i, d := range dimensions {
		switch value := k.values[i]; {
		case value == "":
		case d.name == "algorithm" || d.name == "set":
			parts = append(parts, value)
		default:
			parts = append(parts, d.name+"="+value)
		}
	}
	return strings.Join(parts, " ")
}

// Varying names the dimensions in which not all keys are equal, in their order.
func Varying(keys []Key) []string {
	var names []string
	for i, d := range dimensions {
		if slices.ContainsFunc(keys, func(k Key) bool { return k.values[i] != keys[0].values[i] }) {
			names = append(names, d.name)
		}
	}
	return names
}

// Asked returns what a run was asked to do, even if its result says only the most important.
func (r *Result) Asked() Spec {
	s := r.Spec
	s.Algorithm, s.Nodes = cmp.Or(s.Algorithm, r.Algorithm), cmp.Or(s.Nodes, r.Nodes)
	s.Transport, s.Workload = cmp.Or(s.Transport, r.Transport), cmp.Or(s.Workload, r.Workload)
	return s
}

// hostsDimension is the dimension that says where runs were made. Not what was
// asked for says it but what came of it: an experiment names no hosts.
const hostsDimension = "hosts"

// Key returns the key of the cell that the run belongs to: what it was asked to do,
// and of a run on several hosts which these were. Runs on different hosts are no
// repetitions of one another.
func (r *Result) Key() Key {
	k := KeyOf(r.Asked())
	k.values[index(hostsDimension)] = r.hostNames()
	return k
}

// hostNames lists the hosts of a run in alphabetical order, "" if there are none.
func (r *Result) hostNames() string {
	names := units.Texts(r.Hosts, func(h Host) string { return h.Name })
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// Keys returns the key of the cell of each run. One that failed before it had hosts belongs to the
// first cell that differs from its own in them alone, or it would be a cell by itself. Every run
// must have a result.
func Keys(runs []Run) map[*Result]Key {
	keys := make(map[*Result]Key)
	placed := make(map[Key]Key) // the first with hosts, by what it is without
	for _, r := range runs {
		k := r.Result.Key()
		keys[r.Result] = k
		asked := k.Without(hostsDimension)
		if _, known := placed[asked]; !known && len(r.Result.Hosts) > 0 {
			placed[asked] = k
		}
	}
	for r, k := range keys {
		if at, known := placed[k]; known && r.Status == Failed {
			keys[r] = at
		}
	}
	return keys
}

// OnHosts reports whether any of the runs was made on several hosts.
func OnHosts(runs []*Result) bool {
	return slices.ContainsFunc(runs, func(r *Result) bool { return r != nil && len(r.Hosts) > 0 })
}

// late are the dimensions that came when tables had their columns: these have them last, and only
// if runs have a value, so that columns stay where they were.
var late = []string{"resource", hostsDimension}

// EarlyDimensions names the dimensions that every table of runs has, in their order.
func EarlyDimensions() []string {
	return slices.DeleteFunc(Dimensions(), func(name string) bool { return slices.Contains(late, name) })
}

// LateDimensions names the other ones, resource and hosts, as far as any of the runs has
// a value.
func LateDimensions(runs []*Result) []string {
	return slices.DeleteFunc(slices.Clone(late), func(name string) bool {
		return !slices.ContainsFunc(runs, func(r *Result) bool { return r != nil && r.Key().Get(name) != "" })
	})
}

// SyncDelayTooShort reports whether the synchronization delay of a run on several hosts is unknown
// because it is shorter than their clocks can resolve. Among repetitions, those whose delay is
// known are then the slow ones.
func (r *Result) SyncDelayTooShort() bool { return r.SyncDelay == nil && r.SyncDelayBound != nil }

// SyncDelays lists the metrics that say how long a synchronization delay was, by the
// clocks of a run's hosts.
func SyncDelays() []string {
	return []string{SyncDelayP50, SyncDelayMean, SyncDelayP99, SyncDelayOverT}
}

func (m Metric) acrossHosts() bool { return m.Name == SyncDelayBound || m.Name == SyncDelayLoad }

// MetricsOf lists the metrics that the runs may have: all of them, or all but those
// of runs on several hosts.
func MetricsOf(runs []*Result) []Metric {
	if OnHosts(runs) {
		return Metrics()
	}
	return slices.DeleteFunc(Metrics(), Metric.acrossHosts)
}
