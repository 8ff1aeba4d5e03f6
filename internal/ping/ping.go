package ping

import (
	"context"
	"time"

	"dmebench/internal/run"
	"dmebench/transport/nats"
)

const (
	// pairsPerSet is how many pairs the same processes make: an even number, so
	// that each side is first as often as the other.
	pairsPerSet = 2

	// warmUp is what the processes do of each task before it counts.
	warmUp = 20 * time.Millisecond
)

// Options is what a measurement needs beside its specification.
type Options struct {
	Environment map[string]string

	// Progress is called with the stretches so far, of all.
	Progress func(done, of int)
}

// Run measures what the specification says. It returns an error, and no report,
// where a process has failed or ctx has ended; no process is left behind.
func Run(ctx context.Context, s Spec, opt Options) (*Report, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	if opt.Progress == nil {
		opt.Progress = func(int, int) {}
	}
	r := &runner{spec: s, progress: opt.Progress, report: &Report{
		SchemaVersion: SchemaVersion, Spec: s, Environment: opt.Environment,
		Placement: Placement{Processes: s.Processes, Pinned: s.Pin, PairsPerSet: pairsPerSet},
	}}
	r.stretches = len(s.Networks) * len(s.tasks()) * s.Pairs * 2
	for _, name := range s.Networks {
		if err := r.network(ctx, name); err != nil {
			return nil, err
		}
	}
	return r.report, nil
}

// runner is one measurement.
type runner struct {
	spec   Spec
	report *Report

	progress        func(done, of int)
	done, stretches int
}

// network measures one network, with new processes every few pairs.
func (r *runner) network(ctx context.Context, name string) error {
	n, options, err := lookup(name, r.spec.set(name))
	if err != nil {
		return err
	}
	setup := Setup{
		Network: name, Set: r.spec.set(name), Processes: r.spec.Processes, Size: r.spec.Size, Pin: r.spec.Pin,
	}
	if n.Brokered {
		server, err := nats.StartServer(2 * r.spec.Processes)
		if err != nil {
			return err
		}
		defer server.Close()
		setup.Broker = server.Broker()
		r.report.Placement.NATSServer = "embedded in the measuring process"
	}
	var all []Measurement
	for _, t := range r.spec.tasks() {
		all = append(all, Measurement{Transport: name, UDPLayer: options[run.LayerOption], Test: t.Test, Tokens: t.Tokens})
	}
	for pair := 0; pair < r.spec.Pairs; pair += pairsPerSet {
		if err := r.pairs(ctx, setup, pair, all); err != nil {
			return err
		}
	}
	for i := range all {
		all[i].compare()
	}
	r.report.Measurements = append(r.report.Measurements, all...)
	return nil
}

// pairs measures some pairs of each task with the same processes.
func (r *runner) pairs(ctx context.Context, setup Setup, pair int, all []Measurement) error {
	order := [2]Side{Bare, Ours}
	sides := make(map[Side]*Cluster)
	for _, setup.Side = range order {
		c, err := Start(ctx, setup)
		if err != nil {
			return err
		}
		defer c.Close()
		sides[setup.Side] = c
		r.report.Placement.CPUs, r.report.Placement.GOMAXPROCS = c.cpus, c.gomaxprocs
	}
	tasks := r.spec.tasks()
	for _, t := range tasks {
		t.Stretch = min(t.Stretch, warmUp)
		for _, side := range order {
			if _, err := sides[side].Measure(t); err != nil {
				return err
			}
		}
	}
	for n := pair; n < min(pair+pairsPerSet, r.spec.Pairs); n++ {
		for i, t := range tasks {
			values := make(map[Side]Values)
			for _, side := range order {
				v, err := sides[side].Measure(t)
				if err != nil {
					return err
				}
				values[side] = v
				r.done++
				r.progress(r.done, r.stretches)
			}
			all[i].Pairs = append(all[i].Pairs, Pair{
				Processes: pair/pairsPerSet + 1, First: order[0], Bare: values[Bare], Ours: values[Ours],
			})
		}
		order[0], order[1] = order[1], order[0]
	}
	return nil
}
