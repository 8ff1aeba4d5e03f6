package run

import "dmebench/dme"

// Setting is what predictions for the job's run depend on, but for T: that is
// known of a simulation, and measured in a network.
func (j *Job) Setting() dme.Setting {
	return dme.Setting{
		Nodes: j.Spec.Nodes, Options: j.Options, System: j.System,
		E: j.Plan.MeanHold(), Rate: j.Plan.OfferedRate(), Variability: j.Plan.HoldVariability(),
	}
}
