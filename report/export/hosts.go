package export

import (
	"slices"
	"strconv"
	"strings"

	"dmebench/report/columns"
	"dmebench/result"
)

// resultsOf returns what came of runs, nil where nothing did.
func resultsOf(runs []result.Run) []*result.Result {
	var all []*result.Result
	for _, r := range runs {
		all = append(all, r.Result)
	}
	return all
}

func onHosts(runs []result.Run) bool { return result.OnHosts(resultsOf(runs)) }

// lostUpdates counts those of the shared resource; "" where there was none.
func lostUpdates(r *result.Result) string {
	if r.Safety.Resource == nil {
		return ""
	}
	return strconv.FormatUint(r.Safety.Resource.LostUpdates, 10)
}

// hostsTable has a row for each host of each run.
func hostsTable(runs []result.Run) [][]string {
	late := result.LateDimensions(resultsOf(runs))
	rows := [][]string{slices.Concat(identity(), columns.Header("status", "host", "address", "labels", "nodes_there",
		"cores", "cores_busy", "cores_busy_workers", "memory_free_bytes",
		"clock_offset_ns", "clock_bound_ns", "clock_drift_ppm", "clock_set_ns"), late)}
	for _, r := range runs {
		if r.Result == nil {
			continue
		}
		for _, h := range r.Result.Hosts {
			var nodes []string
			for _, node := range h.Nodes {
				nodes = append(nodes, strconv.Itoa(node))
			}
			row := append(identify(r), string(r.Result.Status), h.Name, h.Address, result.Settings(h.Labels), strings.Join(nodes, " "))
			if l := h.Load; l != nil {
				row = append(row, strconv.Itoa(l.Cores), decimal(l.Busy), decimal(l.Workers), strconv.FormatInt(l.MemoryFree, 10))
			} else {
				row = append(row, h.Environment["cores"], "", "", "")
			}
			if c := h.Clock; c != nil {
				row = append(row, strconv.FormatInt(c.OffsetNS, 10), strconv.FormatInt(c.BoundNS, 10), decimal(c.DriftPPM),
					strconv.FormatInt(c.SetNS, 10))
			} else {
				row = append(row, "", "", "", "")
			}
			rows = append(rows, append(row, dimensions(r, late)...))
		}
	}
	return rows
}

// linksTable has a row for each link between hosts of each run.
func linksTable(runs []result.Run) [][]string {
	late := result.LateDimensions(resultsOf(runs))
	rows := [][]string{slices.Concat(identity(), columns.Header("status", "from", "to", "sent", "lost", "rtt_min_ns", "rtt_median_ns",
		"rtt_p99_ns", "by", "clock_offset_ns", "clock_bound_ns", "clock_drift_ppm"), late)}
	for _, r := range runs {
		if r.Result == nil {
			continue
		}
		for _, l := range r.Result.Links {
			row := append(identify(r), string(r.Result.Status), l.From, l.To, strconv.Itoa(l.Sent), strconv.Itoa(l.Lost))
			for _, ns := range []int64{l.RTTMin, l.RTTMedian, l.RTTP99} {
				row = append(row, measured(ns))
			}
			if row = append(row, l.By); l.BoundNS == nil {
				row = append(row, "", "", "")
			} else {
				row = append(row, strconv.FormatInt(l.OffsetNS, 10), strconv.FormatInt(*l.BoundNS, 10), decimal(l.DriftPPM))
			}
			rows = append(rows, append(row, dimensions(r, late)...))
		}
	}
	return rows
}

func decimal(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// measured writes a time; "" where there was no answer that took one.
func measured(ns int64) string {
	if ns == 0 {
		return ""
	}
	return strconv.FormatInt(ns, 10)
}
