package agent

import (
	"context"
	"time"

	"dmebench/internal/workqueue"
)

// sideline is what an agent does while nobody has taken it: the tasks of work queues.
type sideline struct {
	end   context.CancelFunc // nil while nothing is done
	done  chan struct{}
	later *time.Timer // when it is to be taken up again; nil where it is not
}

// restBetween is how long an agent waits after a run before it takes tasks again: the
// next run of a sweep would have to wait until they are given back.
const restBetween = 2 * time.Second

// takeTasks begins to do tasks.
func (a *agent) takeTasks() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.lease == nil && !a.ending {
		a.serveTasks(a.cores)
	}
}

// serveTasks does tasks on so many cores from now on; on none it only says that this
// agent is there. It is called with the agent's lock held.
func (a *agent) serveTasks(cores int) {
	wait := a.endTasks()
	ctx, end := context.WithCancel(context.Background())
	done := make(chan struct{})
	a.aside.end, a.aside.done = end, done
	go func() {
		defer close(done)
		wait()
		if err := workqueue.Serve(ctx, a.conn, a.name, cores); err != nil {
			a.log("no tasks of work queues are done here: %v", err)
		}
	}()
}

// leaveTasks gives back what is being done, and returns a function that waits for that.
// It is called with the agent's lock held.
func (a *agent) leaveTasks() (wait func()) {
	wait = a.endTasks()
	if !a.ending {
		a.serveTasks(0)
	}
	return wait
}

func (a *agent) endTasks() (wait func()) {
	if a.aside.later != nil {
		a.aside.later.Stop()
		a.aside.later = nil
	}
	if a.aside.end == nil {
		return func() {}
	}
	a.aside.end()
	a.aside.end = nil
	done := a.aside.done
	return func() { <-done }
}

// resumeTasks takes tasks again after a while. It is called with the agent's lock held.
func (a *agent) resumeTasks() {
	if !a.ending {
		a.aside.later = time.AfterFunc(restBetween, a.takeTasks)
	}
}
