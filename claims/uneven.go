package claims

import "dmebench/result"

// Uneven reports whether nodes that all asked all the time were served unequally in a
// run without faults, by so much that its times and its throughput are those of the
// nodes that were served.
func Uneven(r *result.Result) bool {
	faults := len(r.Faults)+len(r.Spec.Faults) > 0
	asked := r.Asked()
	return !faults && asked.Workload == "saturate" && r.Entries >= uint64(fewTurns*asked.Nodes) &&
		r.Fairness.Jain != nil && *r.Fairness.Jain < evenJain
}
