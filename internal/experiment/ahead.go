package experiment

import (
	"context"

	"dmebench/result"
)

// Elsewhere carries out a simulation on another host. A result says that the run failed
// where it did; an error says that there is nobody to carry out any more.
type Elsewhere func(ctx context.Context, s result.Spec) (*result.Result, error)

// most is how many simulations are begun elsewhere before the first of them is finished.
// It bounds the results that wait for their turn, and is enough that a long one does not
// leave the other hosts idle soon.
const most = 1024

// ahead has simulations carried out elsewhere before it is their turn: while the result
// of one is waited for, the next are under way. It does not go past a run over a real
// network, which simulations on the same hosts would disturb.
type ahead struct {
	ctx  context.Context
	run  Elsewhere
	todo []Cell

	begun   int               // cells, from the first on
	results []chan finishedAt // by cell; nil for one that is not begun
}

// finishedAt is what came of a cell.
type finishedAt struct {
	result *result.Result
	err    error
}

func newAhead(ctx context.Context, todo []Cell, run Elsewhere) *ahead {
	return &ahead{ctx: ctx, run: run, todo: todo, results: make([]chan finishedAt, len(todo))}
}

// takes reports whether a cell is carried out elsewhere.
func (a *ahead) takes(c Cell) bool { return a.run != nil && c.Spec.Transport == result.Sim }

// result waits for cell i, all before which are finished.
func (a *ahead) result(i int) (*result.Result, error) {
	for a.begun = max(a.begun, i); a.begun < min(i+most, len(a.todo)) && a.takes(a.todo[a.begun]); a.begun++ {
		spec, done := a.todo[a.begun].Spec, make(chan finishedAt, 1)
		a.results[a.begun] = done
		go func() {
			r, err := a.run(a.ctx, spec)
			done <- finishedAt{r, err}
		}()
	}
	x := <-a.results[i]
	a.results[i] = nil
	return x.result, x.err
}
