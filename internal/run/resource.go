package run

import (
	"fmt"
	"slices"
	"strings"

	"dmebench/internal/suggest"

	"dmebench/internal/resource"
)

// Resources lists the shared resources that critical sections can use.
func Resources() []string { return []string{resource.NATS} }

// checkResource refuses a shared resource that is not there, and one in virtual time:
// its server answers in real time.
func (j *Job) checkResource() error {
	switch {
	case j.Spec.Resource == "":
		return nil
	case !slices.Contains(Resources(), j.Spec.Resource):
		return suggest.Unknown("resource", j.Spec.Resource, Resources(), "there is "+strings.Join(Resources(), ", "))
	case !j.Network.Real():
		return &CannotRun{
			Resource: true,
			Why:      fmt.Errorf("resource %s is for real networks: %s runs in virtual time", j.Spec.Resource, j.Network.Name),
			advice:   "leave --resource out: a simulation sees every overlap by itself",
		}
	}
	return nil
}
