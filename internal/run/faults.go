package run

import (
	"errors"
	"fmt"
	"slices"

	"dmebench/workload/fault"
)

// checkFaults refuses a schedule that cannot be carried out.
func (j *Job) checkFaults() error {
	if len(j.Faults) == 0 {
		return nil
	}
	errs := []error{j.Faults.Check(j.Algorithm, j.System, j.Spec.Nodes)}
	if j.Network.Real() {
		errs = append(errs, j.checkProcesses())
	}
	return errors.Join(errs...)
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
