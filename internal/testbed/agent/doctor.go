package agent

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"dmebench/internal/runtime/host"
	"dmebench/internal/testbed/doctor"
)

// The requests of doctor, in a lease that takes part in no run.
const (
	opExamine op = "examine" // examine your host
	opGate    op = "gate"    // open a gate for the others
	opReach   op = "reach"   // try to reach theirs
)

// examination is what such requests say.
type examination struct {
	Need  doctor.Need    `json:"need"`            // examine
	Key   []byte         `json:"key,omitempty"`   // gate: that the hosts share
	Doors []doctor.Doors `json:"doors,omitempty"` // reach
	Count int            `json:"count,omitempty"` // reach: questions to each
}

// examined is what is answered.
type examined struct {
	Findings []doctor.Finding `json:"findings,omitempty"` // examine
	Doors    *doctor.Doors    `json:"doors,omitempty"`    // gate
	Paths    []doctor.Path    `json:"paths,omitempty"`    // reach, in the order of the doors
}

const (
	reachable     = 100 // doors in a request, at most
	mostQuestions = 100 // to each
)

// examine carries out requests of doctor. The address is the agent's own, and nothing
// is written: whoever asks says what is needed, and no more.
func (l *lease) examine(q *request, x *answer) error {
	e := q.Doctor
	if e == nil {
		return fmt.Errorf("agent: %s: it is not said what for", q.Op)
	}
	x.Doctor = new(examined)
	switch q.Op {
	case opExamine:
		x.Doctor.Findings = doctor.Examine(l.ctx, doctor.Options{Need: e.Need, Listen: l.host.Listen(), Several: true})
		return nil
	case opGate:
		g, err := l.openGate(e.Key)
		if err != nil {
			return err
		}
		d := g.Doors()
		x.Doctor.Doors = &d
		return nil
	}
	g := l.gate.Load()
	switch {
	case g == nil:
		return errors.New("agent: reach: there is no gate of this host yet")
	case e.Count < 1 || e.Count > mostQuestions || len(e.Doors) > reachable:
		return fmt.Errorf("agent: reach: %d questions to %d hosts: at most %d to %d", e.Count, len(e.Doors), mostQuestions, reachable)
	}
	x.Doctor.Paths = g.ReachAll(l.ctx, e.Doors, e.Count)
	return nil
}

// openGate opens the host's gate, once in a lease.
func (l *lease) openGate(key []byte) (*doctor.Gate, error) {
	g, err := doctor.OpenGate(l.agent.address, l.agent.name, key)
	if err != nil {
		return nil, err
	}
	if !l.gate.CompareAndSwap(nil, g) {
		g.Close()
		return nil, errors.New("agent: gate: it is open already")
	}
	return g, nil
}

// closeGate is called when no request is carried out any more.
func (l *lease) closeGate() {
	if g := l.gate.Load(); g != nil {
		g.Close()
	}
}

// ask asks the agent something for doctor.
func (h *Remote) ask(ctx context.Context, o op, e examination) (*examined, error) {
	x, err := h.call(ctx, request{Op: o, Doctor: &e})
	if err == nil && x.Doctor == nil {
		err = h.errorf("no answer to '%s'", o)
	}
	return x.Doctor, err
}

// Muster returns all agents that are there, whatever they run and whoever has taken
// them: once so many are, and otherwise after some time; after a second where none are
// expected.
func (f *Fleet) Muster(ctx context.Context, expect int, patience time.Duration) ([]Info, error) {
	if expect <= 0 {
		patience = min(patience, listAtAll)
	}
	return f.gather(ctx, patience, func(all []Info) bool { return expect > 0 && len(all) >= expect })
}

// Examine examines the hosts of agents as a run would find them that needs so much of
// all together, and tries which of them reach which, with so many questions; took is
// how long that took. Agents that are in use, or run another program, are said to be
// and left alone. Meanwhile nobody else can take the others.
func (f *Fleet) Examine(ctx context.Context, agents []Info, need doctor.Need, questions int) (
	hosts []doctor.Host, paths []doctor.Path, took time.Duration, err error,
) {
	if err := agree(agents); err != nil {
		return nil, nil, 0, err
	}
	free, _ := f.able(agents)
	need = need.Share(max(1, len(free)))
	hosts = make([]doctor.Host, len(agents))
	remotes := make([]*Remote, len(agents))
	each(len(agents), len(agents), func(k int) {
		i := agents[k]
		hosts[k] = doctor.Host{Name: i.Name, Address: i.Address, Environment: i.Environment}
		switch {
		case !i.Program.Same(f.program):
			hosts[k].Findings = []doctor.Finding{{
				Check: "program", Level: doctor.Problem, Found: f.otherProgram(i).Error(), Do: "install the same build on all hosts",
			}}
		case i.Holder != "":
			hosts[k].InUse, hosts[k].Findings = i.Holder, []doctor.Finding{doctor.InUse(i.Holder)}
		default:
			remotes[k], hosts[k].Findings = f.examine(ctx, i, need)
		}
	})
	begin := time.Now()
	paths = f.reachAll(ctx, remotes, hosts, questions)
	took = time.Since(begin)
	each(len(remotes), len(remotes), func(k int) {
		if remotes[k] != nil {
			_ = remotes[k].Close() // it frees itself where that cannot be said
		}
	})
	return hosts, paths, took, ctx.Err()
}

// examine takes an agent and has it examine its host; nil where it cannot be taken.
func (f *Fleet) examine(ctx context.Context, i Info, need doctor.Need) (*Remote, []doctor.Finding) {
	h := f.Host(i)
	if err := h.Open(ctx, host.Part{Nodes: 1}); err != nil {
		return nil, []doctor.Finding{silentAgent(err)}
	}
	x, err := h.ask(ctx, opExamine, examination{Need: need})
	if err != nil {
		_ = h.Close()
		return nil, []doctor.Finding{silentAgent(err)}
	}
	return h, x.Findings
}

func silentAgent(err error) doctor.Finding {
	return doctor.Finding{
		Check: "agent", Level: doctor.Problem, Found: err.Error(),
		Do: "see on that host whether its agent is running and what it has logged",
	}
}

// reachAll opens the gates of hosts and has each host try those of the others. What
// keeps a host from that is added to what was found of it.
func (f *Fleet) reachAll(ctx context.Context, all []*Remote, found []doctor.Host, questions int) []doctor.Path {
	const atATime = 4 // more would disturb one another
	var hosts []*Remote
	var at []int // of found
	for k, h := range all {
		if h != nil {
			hosts, at = append(hosts, h), append(at, k)
		}
	}
	if len(hosts) < 2 {
		return nil
	}
	fails := func(k int, err error) {
		findings := &found[at[k]].Findings
		*findings = append(*findings, silentAgent(err))
	}
	key := make([]byte, 32)
	_, _ = rand.Read(key) // it never fails
	doors := make([]*doctor.Doors, len(hosts))
	each(len(hosts), len(hosts), func(k int) {
		x, err := hosts[k].ask(ctx, opGate, examination{Key: key})
		if err != nil {
			fails(k, err)
			return
		}
		doors[k] = x.Doors
	})
	paths := make([][]doctor.Path, len(hosts))
	each(len(hosts), atATime, func(k int) {
		var others []doctor.Doors
		for j, d := range doors {
			if j != k && d != nil && doors[k] != nil {
				others = append(others, *d)
			}
		}
		for some := range slices.Chunk(others, reachable) {
			x, err := hosts[k].ask(ctx, opReach, examination{Doors: some, Count: questions})
			if err != nil {
				fails(k, err)
				return
			}
			paths[k] = append(paths[k], x.Paths...)
		}
	})
	return slices.Concat(paths...)
}

// each does something for 0 to n−1, a few at a time.
func each(n, atATime int, do func(k int)) {
	var wait sync.WaitGroup
	places := make(chan struct{}, max(1, atATime))
	for k := range n {
		places <- struct{}{}
		wait.Go(func() {
			defer func() { <-places }()
			do(k)
		})
	}
	wait.Wait()
}
