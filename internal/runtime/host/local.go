package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"

	"dmebench/dme"
	"dmebench/internal/platform/launch"
	"dmebench/internal/record"
	"dmebench/internal/runtime/control"
	"dmebench/internal/runtime/noderun"
	"dmebench/internal/runtime/witness"
	"dmebench/internal/runtime/worker"
	"dmebench/runs"
)

// Local is this host. Workers are children of this process and inherit a page of
// memory that all of them share: their counters lie in it, and the witness. The zero
// value is ready to be opened.
type Local struct {
	Label   string // its name; "" for "this host"
	Address string // HOST:PORT at which workers listen; "" for any free port of the loopback
	Program string // to start workers from; "" for this very program

	part Part
	page *witness.Page

	mu      sync.Mutex
	started []launch.Process
}

var _ Host = (*Local)(nil)

func (h *Local) Name() string { return cmp.Or(h.Label, "this host") }

func (h *Local) Listen() string { return cmp.Or(h.Address, launch.Loopback) }

// Open makes the page. The clock is this process's own.
func (h *Local) Open(_ context.Context, p Part) (_ About, err error) {
	h.part = p
	h.page, err = witness.CreatePage(witness.Room{Nodes: p.Nodes, Records: p.Records, Watched: p.Watched})
	return About{Name: h.Name(), Listen: h.Listen()}, err
}

func (h *Local) Start(_ context.Context, w Worker) (launch.Process, error) {
	if h.page == nil {
		return nil, fmt.Errorf("%s cannot be started: %s takes no part in a run", w.Name, h.Name())
	}
	p, err := launch.Local{Program: h.Program, Files: []*os.File{h.page.File()}}.Start(launch.Command{
		Word: worker.Command, Name: w.Name, Config: w.Boot, GOMAXPROCS: h.procs(w.GOMAXPROCS),
	})
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	h.started = append(h.started, p)
	h.mu.Unlock()
	return p, nil
}

// procs returns the GOMAXPROCS of a worker; 0 asks for none in particular. Workers that keep all
// processors busy among themselves get one each: more would cost wake-ups between their own threads.
func (h *Local) procs(asked int) int {
	if asked == 0 && h.part.Workers >= runtime.GOMAXPROCS(0) {
		return 1
	}
	return asked
}

func (h *Local) Read(_ context.Context, readings []Reading) error {
	nodes := h.page.Nodes()
	for _, id := range h.part.Local {
		c := &nodes[id-1]
		readings[id-1] = Reading{
			Sent: c.Sent.Load(), Handled: c.Handled.Load(),
			Requests: c.Requests.Load(), Entries: c.Entries.Load(),
			Timers: c.Timers.Load(), Pending: c.Pending.Load(),
			Activity: noderun.Activity(c.Activity.Load()),
		}
	}
	return nil
}

func (h *Local) Witness(_ context.Context, waits bool) (Witness, error) {
	w := Witness{Entries: h.page.Entries(), Held: h.page.Held(), Resource: h.page.Resource()}
	w.Violations, w.First = h.page.Violations()
	if waits {
		w.Waits = new(noderun.WaitCounts)
		for _, id := range h.part.Local {
			if one := h.page.Waits(id); one != nil {
				w.Waits.Take(one)
			}
		}
	}
	return w, nil
}

func (h *Local) Hold(_ context.Context, order uint64) error {
	h.page.Hold(order)
	return nil
}

// Remove takes a node out of the page. If it had left the critical section and recorded that, and was
// about to count it, it is counted.
func (h *Local) Remove(_ context.Context, id dme.NodeID) (control.Left, error) {
	left, log := worker.Left(h.page, id)
	if uint64(len(log)) > left.Counts.Entries {
		h.page.Counters(id).Entries.Add(1)
		if noderun.Activity(left.Counts.Activity) == noderun.Inside {
			left.Counts.Activity = uint64(noderun.Idle)
		}
	}
	h.page.Remove(id)
	return left, nil
}

func (h *Local) Report(context.Context) (Report, error) {
	r := Report{Host: runs.Host{Name: h.Name(), Address: h.Listen()}, Nodes: make([]NodeReport, len(h.part.Local))}
	for k, id := range h.part.Local {
		left, log := worker.Left(h.page, id)
		r.Nodes[k] = NodeReport{left, record.Append(nil, log)}
	}
	return r, nil
}

// Close kills the workers that are left, waits for their ends, and frees the page.
func (h *Local) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range h.started {
		p.Kill() // of one that has ended, nothing
	}
	for _, p := range h.started {
		<-p.Ended()
	}
	h.started = nil
	if h.page == nil {
		return nil
	}
	err := h.page.Close()
	h.page = nil
	if err != nil {
		return errors.New("shared page: " + err.Error())
	}
	return nil
}
