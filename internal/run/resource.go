package run

import "fmt"

// Resources lists the shared resources that critical sections can use.
func Resources() []string { return []string{"nats"} }

// checkResource refuses a shared resource that is not there, and one in virtual time:
// its server answers in real time.
func (j *Job) checkResource() error {
	switch {
	case j.Spec.Resource == "":
		return nil
	case j.Spec.Resource != Resources()[0]:
		return fmt.Errorf("unknown resource %q; there is %s", j.Spec.Resource, Resources()[0])
	case !j.Network.Real():
		return &CannotRun{
			Resource: true,
			Why:      fmt.Errorf("resource %s is for real networks: %s runs in virtual time", j.Spec.Resource, j.Network.Name),
			advice:   "leave --resource out: a simulation sees every overlap by itself",
		}
	}
	return nil
}
