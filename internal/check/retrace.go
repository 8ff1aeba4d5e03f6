package check

import (
	"fmt"

	"dmebench/dme/vnet"
)

// trace repeats the way to the violation that was found in a network of nodes,
// which have to show the same.
func (x *exhaustive) trace() (*Trace, error) {
	w := x.space.NewWalker()
	n := vnet.New(x.model)
	v, h := x.space.Of(n)
	path := x.origins.path(x.found.state)
	if x.found.move >= 0 {
		path = append(path, x.found.move)
	}
	var steps []vnet.Step
	for _, k := range path {
		enabled, _ := w.Enabled(v, nil)
		step, ok := w.In(n, v, enabled[k])
		if !ok || !n.Possible(step) {
			return nil, fault("step %d, %v, of the schedule that was found is not possible", len(steps)+1, step)
		}
		bad := w.Do(v, h, enabled[k])
		steps = append(steps, step)
		n.Do(step)
		if bad != nil {
			break
		}
		copy(v, w.Next)
		h = w.Hash
		if _, real := x.space.Of(n); real != h {
			return nil, fault("step %d, %v, leads the nodes into another state than in the search, "+
				"as it does where an algorithm's saved state is not all of its state", len(steps), step)
		}
	}
	t, _ := x.replay(x.model, steps, false)
	if t.Violation.Property == "" {
		return nil, fault("the search found '%v', its schedule does not show it", &x.found.Violation)
	}
	return t, nil
}

// fault is an error of the search itself.
func fault(format string, args ...any) error {
	return fmt.Errorf("check: "+format+"; this is a fault of the search, please report it", args...)
}
