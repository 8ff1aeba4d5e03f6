package check

import (
	"context"
	"fmt"
	"time"

	"dmebench/dme/vnet"
)

// Part is what came of some of the schedules of a random search: a range of them that
// was run elsewhere, one after the other. It travels as JSON.
type Part struct {
	First int `json:"first"` // schedule, counted from 0: its seed is the search's plus this
	Done  int `json:"done"`  // schedules that were run, up to the one that broke a property

	Steps     uint64 `json:"steps"`
	Entries   uint64 `json:"entries"`
	MaxBypass int    `json:"max_bypass"`
	Refused   uint64 `json:"refused,omitempty"`
	Refusal   string `json:"refusal,omitempty"`

	Starved  int    `json:"starved,omitempty"`  // schedules in which a node starved that nobody promised not to
	Starving string `json:"starving,omitempty"` // what the first of them showed

	Broken bool `json:"broken,omitempty"` // the last that was run broke a property
}

// Part runs count schedules from first on, fewer where one breaks a property or ctx
// ends.
func (s *Search) Part(ctx context.Context, first, count int) Part {
	p := Part{First: first}
	var taken []vnet.Step
	for k := first; k < first+count && ctx.Err() == nil && !p.Broken; k++ {
		one, broken := s.schedule(int64(k), taken[:0])
		p.Done++
		p.Broken = broken != nil
		if one != nil {
			taken = one.taken
			p.count(one)
		}
	}
	return p
}

// count adds a schedule that was run.
func (p *Part) count(one *run) {
	p.Steps += uint64(one.Steps)
	p.Entries += one.Entries
	p.MaxBypass = max(p.MaxBypass, one.MaxBypass)
	count, reason := one.Refused()
	p.Refused += count
	p.Refusal = firstReason(p.Refusal, reason)
	if one.search.excuses(one.Violation) {
		p.starve(1, fmt.Sprintf("%v (seed %d)", one.Violation, one.Seed))
	}
}

// starve adds schedules in which a node starved, after those that are counted.
func (p *Part) starve(schedules int, first string) {
	if p.Starved == 0 {
		p.Starving = first
	}
	p.Starved += schedules
}

// Join is the report of a random search that was run in parts, which next returns in the
// order of their schedules: the report of [Search.Random] with a single worker. What
// broke a property is run again here, and shortened. Elapsed and Workers are left to the
// caller.
//
// next's last argument is the first schedule of the part that is asked for. An error of
// next ends the search with it, but for the end of the search's time or of ctx.
func (s *Search) Join(ctx context.Context, next func(ctx context.Context, first int) (Part, error)) (Report, error) {
	start := time.Now()
	ctx, cancel := s.within(ctx)
	defer cancel()
	var all Part
	for all.Done < s.Schedules && !all.Broken {
		p, err := next(ctx, all.Done)
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			return Report{}, err
		}
		if p.First != all.Done || p.Done < 1 || p.Done > s.Schedules-all.Done {
			return Report{}, fmt.Errorf("check: a part of %d schedules from %d on, where those from %d on to %d were asked for",
				p.Done, p.First, all.Done, s.Schedules)
		}
		all.add(p)
	}
	r := &randomSearch{Search: s, done: uint64(all.Done), sum: all}
	r.failed.Store(int64(s.Schedules))
	if all.Broken {
		k := all.Done - 1
		one, broken := s.schedule(int64(k), nil)
		if broken == nil {
			return Report{}, fmt.Errorf("check: the schedule of seed %d broke a property elsewhere, and breaks none here; "+
				"does its algorithm depend on more than its state?", s.Seed+uint64(k))
		}
		r.fail(int64(k), broken, one.steps())
	}
	return r.finish(ctx, start), nil
}

// add adds the part that comes after p.
func (p *Part) add(q Part) {
	p.Done += q.Done
	p.Steps += q.Steps
	p.Entries += q.Entries
	p.MaxBypass = max(p.MaxBypass, q.MaxBypass)
	p.Refused += q.Refused
	p.Refusal = firstReason(p.Refusal, q.Refusal)
	p.starve(q.Starved, q.Starving)
	p.Broken = q.Broken
}
