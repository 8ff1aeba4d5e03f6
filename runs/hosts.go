package runs

import (
	"slices"
	"strings"
)

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

// hostNames lists the hosts of a run in alphabetical order, "" where there are none.
func (r *Result) hostNames() string {
	var names []string
	for _, h := range r.Hosts {
		names = append(names, h.Name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// Keys returns the key of the cell of each run. One that failed before it had hosts
// belongs to the first cell that differs from its own in them alone, lest it become
// a cell by itself. Every run must have a result.
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

// LateDimensions names those of resource and hosts in which any of the runs has a
// value. They came when tables had their columns: these have them last, and only where
// they are, so that columns stay where they were.
func LateDimensions(runs []*Result) []string {
	return slices.DeleteFunc([]string{"resource", hostsDimension}, func(name string) bool {
		return !slices.ContainsFunc(runs, func(r *Result) bool { return r != nil && r.Key().Get(name) != "" })
	})
}

// SyncDelayTooShort reports whether the synchronization delay of a run on several
// hosts is not known because it is shorter than their clocks can tell. Of runs that are
// repetitions of one another, those whose delay is known are then the slow ones.
func (r *Result) SyncDelayTooShort() bool { return r.SyncDelay == nil && r.SyncDelayBound != nil }

// SyncDelays lists the metrics that say how long a synchronization delay was, by the
// clocks of a run's hosts.
func SyncDelays() []string {
	return []string{SyncDelayP50, SyncDelayMean, SyncDelayP99, SyncDelayOverT}
}

// acrossHosts reports whether runs on several hosts alone have the metric.
func (m Metric) acrossHosts() bool { return m.Name == SyncDelayBound || m.Name == SyncDelayLoad }

// MetricsOf lists the metrics that the runs may have: all of them, or all but those
// of runs on several hosts.
func MetricsOf(runs []*Result) []Metric {
	if OnHosts(runs) {
		return Metrics()
	}
	return slices.DeleteFunc(Metrics(), Metric.acrossHosts)
}
