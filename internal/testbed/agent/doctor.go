package agent

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"dmebench/internal/runtime/host"
	"dmebench/internal/testbed/doctor"
)

// openGate opens the host's gate, once in a lease. The address is the agent's own.
func (l *lease) openGate(key []byte) (doctor.Doors, error) {
	g, err := doctor.OpenGate(l.host.Listen(), l.agent.Name, key)
	if err != nil {
		return doctor.Doors{}, err
	}
	if !l.gate.CompareAndSwap(nil, g) {
		g.Close()
		return doctor.Doors{}, errors.New("agent: gate: it is open already")
	}
	return g.Doors(), nil
}

// reach tries to reach the gates of other hosts.
func (l *lease) reach(q reachRequest) ([]doctor.Path, error) {
	g := l.gate.Load()
	if g == nil {
		return nil, errors.New("agent: reach: there is no gate of this host yet")
	}
	return g.ReachAll(l.ctx, q.Doors, q.Count), nil
}

// Agents returns all agents, whatever they run and whether or not they are taken: once expect are
// there, and otherwise after some time; after a second if none are expected.
func (f *Fleet) Agents(ctx context.Context, expect int, patience time.Duration) ([]Info, error) {
	return f.gather(ctx, expect, patience, func(all []Info) int { return len(all) })
}

// Examine examines the hosts of agents as a run with these needs would find them, and tries with
// that many questions which of them reach which; took is how long that took. Agents that are in
// use, or run another program, are reported and left alone. Meanwhile no other coordinator can take
// the others.
func (f *Fleet) Examine(ctx context.Context, agents []Info, need doctor.Need, questions int) (
	hosts []doctor.Host, paths []doctor.Path, took time.Duration, err error,
) {
	if err := agree(agents); err != nil {
		return nil, nil, 0, err
	}
	free, _ := f.able(agents)
	// The needs of each, with the nodes spread evenly.
	sharers := uint64(max(1, len(free)))
	part := func(all uint64) uint64 { return (all + sharers - 1) / sharers }
	need.Processes = int(part(uint64(need.Processes)))
	need.Threads, need.Memory = part(need.Threads), part(need.Memory)
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
			_ = remotes[k].Close() // frees itself if told nothing
		}
	})
	return hosts, paths, took, ctx.Err()
}

// examine takes an agent and has it examine its host; nil if it cannot be taken.
func (f *Fleet) examine(ctx context.Context, i Info, need doctor.Need) (*Remote, []doctor.Finding) {
	h := f.Host(i)
	if _, err := h.Open(ctx, host.Part{Nodes: 1}); err != nil {
		return nil, []doctor.Finding{silentAgent(err)}
	}
	findings, err := ask(ctx, h, askExamine, need)
	if err != nil {
		_ = h.Close()
		return nil, []doctor.Finding{silentAgent(err)}
	}
	return h, findings
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
	fails := func(k int, err error) { found[k].Findings = append(found[k].Findings, silentAgent(err)) }
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	doors := make([]*doctor.Doors, len(all))
	each(len(all), len(all), func(k int) {
		if all[k] == nil {
			return
		}
		d, err := ask(ctx, all[k], askGate, key)
		if err != nil {
			fails(k, err)
			return
		}
		doors[k] = &d
	})
	paths := make([][]doctor.Path, len(all))
	each(len(all), atATime, func(k int) {
		var others []doctor.Doors
		for j, d := range doors {
			if j != k && d != nil && doors[k] != nil {
				others = append(others, *d)
			}
		}
		if len(others) > 0 {
			var err error
			if paths[k], err = ask(ctx, all[k], askReach, reachRequest{others, questions}); err != nil {
				fails(k, err)
			}
		}
	})
	return slices.Concat(paths...)
}

// each does something for 0 to n−1, a few at a time.
func each(n, atATime int, do func(k int)) {
	var all errgroup.Group
	all.SetLimit(max(1, atATime))
	for k := range n {
		all.Go(func() error { do(k); return nil })
	}
	_ = all.Wait()
}
