package run

import (
	"fmt"
	"slices"
	"time"

	"dmebench/workload/fault"
)

// Bound returns the longest time that a message takes, as the nodes are told: what
// the user vouches for, or else what a simulated network keeps to; 0 where nobody
// knows.
func (j *Job) Bound() time.Duration {
	if bound, vouched := j.vouchedBound(); vouched {
		return bound
	}
	return j.networkBound()
}

// checkFaults refuses faults that cannot be carried out on the job's system, and
// has it prepared for nodes that join later.
func (j *Job) checkFaults() error {
	if len(j.Faults) == 0 {
		return nil
	}
	if err := j.Faults.Check(j.Algorithm, j.System, j.Spec.Nodes); err != nil {
		return err
	}
	if j.Network.Real() {
		if err := j.checkProcesses(); err != nil {
			return err
		}
	}
	if j.Needs.SequencedBroadcast {
		return fmt.Errorf("faults: what becomes of a sequenced broadcast when a node fails is not defined; "+
			"choose other options of %s", j.Algorithm.Name)
	}
	if j.absent = j.Faults.Absent(); j.absent != nil {
		return j.prepare()
	}
	return nil
}

// BearsLoss reports whether a run over a real network can go on without the nodes of a
// process that is lost: its algorithm is made for that.
func (j *Job) BearsLoss() bool {
	return j.Network.Real() && j.Algorithm.Survives != nil && j.Spec.NodesPerWorker == 1 && !j.Needs.SequencedBroadcast
}

// checkProcesses refuses what cannot be done to processes.
func (j *Job) checkProcesses() error {
	partition := func(f fault.Fault) bool { return f.What == fault.Partition }
	if i := slices.IndexFunc(j.Faults, func(f fault.Fault) bool { return !partition(f) }); i >= 0 && j.Spec.NodesPerWorker > 1 {
		return fmt.Errorf("fault %q: it would befall the whole process, which hosts %d nodes; leave --nodes-per-worker at 1",
			j.Faults[i], j.Spec.NodesPerWorker)
	}
	if i := slices.IndexFunc(j.Faults, partition); i >= 0 && j.NetOptions[MulticastOption] == "true" {
		return fmt.Errorf("fault %q: a partition befalls single frames and cannot befall a datagram to all; leave %s=true out",
			j.Faults[i], MulticastOption)
	}
	return nil
}
