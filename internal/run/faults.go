package run

import (
	"fmt"
	"time"
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
	if j.Needs.SequencedBroadcast {
		return fmt.Errorf("faults: what becomes of a sequenced broadcast when a node fails is not defined; "+
			"choose other options of %s", j.Algorithm.Name)
	}
	if j.absent = j.Faults.Absent(); j.absent != nil {
		return j.prepare()
	}
	return nil
}
