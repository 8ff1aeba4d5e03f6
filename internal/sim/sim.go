// Package sim runs the nodes of a job in virtual time: the same nodes, runners and local processes
// as over a real network, on a network whose every delay is known. One goroutine carries out one
// event after the other.
//
// The network is reliable. A message takes the delay T (constant), between T/2 and 3T/2 (uniform)
// or a time with mean T that is distributed exponentially or by Pareto's law; messages of one
// ordered pair of nodes keep their order unless the job says otherwise. A broadcast is one
// transmission. Its copies travel independently of one another, except for an algorithm that needs
// broadcasts to be sequenced: then each reaches all nodes at one instant, its sender too, after
// every earlier one.
//
// Links can be made worse by package transport/link, with the same fate for the k-th message of a
// link as on real networks. Reordered and repeated messages are outside the order that the network
// keeps; a broadcast is then a message to each.
//
// Nodes come and go as in package dme/vnet, and the others hear of it within the bound on delays.
// Messages to a paused node wait; a partition loses those between its sides, and
// no node hears of it.
//
// Guarantees: the outcome is a function of the job, byte for byte. Random delays come from a stream
// of their own, so that the workload of a seed is the same under every network. At one instant,
// deliveries come before timers, timers before exits, exits before new requests, and those before
// faults; among equals, what was arranged first comes first. Every run ends: one that does not fall
// silent, or in which requests wait while no node enters, is found by a watchdog in virtual time.
//
// A handler takes no time here, a link has no bandwidth unless it is given one, and what waits for
// it has no bound.
package sim

import (
	"context"
	"fmt"

	"dmebench/internal/record"
	"dmebench/internal/record/measure"
	"dmebench/internal/record/recording"
	"dmebench/internal/runtime/run"
	"dmebench/runs"
)

// Options is what a simulation may be asked for beside its job.
type Options struct {
	// Partial asks for a result, marked so, even if the context ends while the workload goes on.
	Partial bool

	// Progress is called when the workload begins, and then after every few thousand events, unless
	// it is nil. During the call, look says where the run stands.
	Progress func(look func() run.State)

	// Record is how many events are recorded. Recorded is called with them at the end; nil if none
	// are wanted. The result is the same, byte for byte.
	Record   int
	Recorded func(recording.Kept)

	// Entries keeps the record of each critical section beside the result.
	Entries bool
}

// Run carries out a job whose network is the simulated one. The result's status
// says how the run ended; an error says that there is no result, because ctx
// was cancelled or the job cannot be simulated.
func Run(ctx context.Context, job *run.Job) (*runs.Result, error) {
	return RunWith(ctx, job, Options{})
}

// RunWith is Run with options.
func RunWith(ctx context.Context, job *run.Job, opt Options) (*runs.Result, error) {
	o, err := observe(ctx, job, opt)
	if err != nil {
		return nil, err
	}
	r := measure.Result(o)
	if opt.Entries {
		if r.Sections, err = record.Pack(o.Entries, o.Start, o.Dropped); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func observe(ctx context.Context, job *run.Job, opt Options) (measure.Observation, error) {
	if job.Network.Real() {
		return measure.Observation{}, fmt.Errorf("sim: the job's network is %s; only %s is simulated", job.Network.Name, runs.Sim)
	}
	s := newSimulation(ctx, job)
	if opt.Progress != nil {
		s.looks = &looks{s: s, progress: opt.Progress}
	}
	if opt.Recorded != nil {
		s.events = recording.NewLog(func() int64 { return s.now }, opt.Record)
	}
	if err := s.run(); err != nil {
		if ctx.Err() == nil || !opt.Partial || !s.begun {
			return measure.Observation{}, err
		}
		s.fail("interrupted")
		s.partial = true
	}
	if opt.Recorded != nil {
		opt.Recorded(s.events.Kept())
	}
	return s.observation(), nil
}
