package check

import (
	"errors"
	"fmt"
	"slices"

	"dmebench/dme/vnet"
)

// retracing repeats a way that was found in a network of nodes.
type retracing struct {
	*exhaustive
	walker  *vnet.Walker
	network *vnet.Network
	steps   []vnet.Step
	err     error
}

// trace repeats the way to the violation that was found.
func (x *exhaustive) trace() (*Trace, error) {
	path := x.origins.path(x.found.state)
	if x.found.move >= 0 {
		path = append(path, x.found.move)
	}
	retrace := x.retrace
	if x.byClass {
		retrace = x.retraceClasses
	}
	t, err := retrace(path)
	if err == nil && x.reduction != nil {
		t = x.shrink(plan{model: x.model}, t.Steps(), t.Violation.Property)
	}
	return t, err
}

// retrace repeats moves in a network of nodes, which have to show what was found.
// A move is an index of the steps that are possible; what is forced follows it.
func (x *exhaustive) retrace(path []int) (*Trace, error) {
	r := &retracing{exhaustive: x, walker: x.space.NewWalker(), network: vnet.New(x.model)}
	v, h := x.space.Of(r.network)
	r.walker.Reduce(x.reduction)
	for _, k := range path {
		enabled, _ := r.walker.Enabled(v, nil)
		r.follow(v, h, enabled[k])
		bad := r.walker.Do(v, h, enabled[k])
		if bad == nil && x.reduction != nil {
			_, bad = r.walker.Settle(r.follow)
		}
		if bad != nil || r.err != nil {
			break
		}
		copy(v, r.walker.Next)
		h = r.walker.Hash
	}
	if r.err != nil {
		return nil, r.err
	}
	t, _ := x.replay(x.model, r.steps, false)
	if t.Violation.Property == "" {
		return nil, fault("the search found '%v', its schedule does not show it", &x.found.Violation)
	}
	return t, nil
}

// errSpurious says that classes have a schedule that the nodes have not.
var errSpurious = errors.New("the nodes cannot follow the schedule that was found")

// retraceClasses is retrace where each state stands for its class. All but the
// last move of a path that ends with a step are numbers of classes.
func (x *exhaustive) retraceClasses(path []int) (*Trace, error) {
	n, walker, classes := vnet.New(x.model), x.space.NewWalker(), x.space.NewClasses()
	first, _ := x.space.Of(n)
	v := slices.Clone(classes.Of(first))
	var steps []vnet.Step
	for i, move := range path {
		next, step := v, vnet.Step{}
		enabled, _ := walker.Enabled(v, nil)
		if last := i == len(path)-1 && x.found.move >= 0; last {
			step = enabled[move]
		} else {
			moves := 0
			for _, s := range enabled {
				classes.Step(walker, v, s, func(rep []uint32) {
					if moves == move {
						next, step = slices.Clone(rep), s
					}
					moves++
				})
			}
		}
		real, ok := classes.In(n, v, step)
		if !ok {
			return nil, errSpurious
		}
		steps = append(steps, real)
		n.Do(real)
		v = next
	}
	t, _ := x.replay(x.model, steps, false)
	if t.Violation.Property == "" {
		return nil, errSpurious
	}
	return t, nil
}

// follow has the network take a step that the walker takes from a state, in which
// it has to be itself.
func (r *retracing) follow(v []uint32, h vnet.Hash, x vnet.Step) {
	if r.err != nil {
		return
	}
	if _, real := r.space.Of(r.network); real != h {
		r.err = fault("step %d, %v, leads the nodes into another state than in the search, "+
			"as it does where an algorithm's saved state is not all of its state", len(r.steps), r.steps[len(r.steps)-1])
		return
	}
	step, ok := r.walker.In(r.network, v, x)
	if !ok || !r.network.Possible(step) {
		r.err = fault("step %d, %v, of the schedule that was found is not possible", len(r.steps)+1, step)
		return
	}
	r.steps = append(r.steps, step)
	r.network.Do(step)
}

// fault is an error of the search itself.
func fault(format string, args ...any) error {
	return fmt.Errorf("check: "+format+"; this is a fault of the search, please report it", args...)
}
