package advise

import (
	"context"
	"slices"
	"time"

	"dmebench/dme"
	"dmebench/internal/experiment"
	"dmebench/report/rank"
	"dmebench/runs"
)

// This file measures lock services, in a program that has some, beside the chosen algorithm: on
// this host, with links as long as requested.

const (
	enoughRuns  = 7                          // for an interval, and for a test among eight
	measuredFor = runs.Duration(time.Second) // each
	serverWord  = "servers"                  // the option of services that says how many there are
)

// measure fills in what services and the algorithm that was chosen do here.
func (a *Advice) measure(ctx context.Context, opt Options) error {
	services := opt.Catalog[len(opt.Catalog.Algorithms()):]
	q := &a.Question
	if len(services) == 0 || a.Choose == "" || q.Transport != runs.DefaultTransport || q.Law != "constant" || q.Sites != "" {
		return nil
	}
	entries := experiment.Entries([]string{a.Choose})
	for _, s := range services {
		if _, err := s.New(q.Nodes, q.Seed, nil); err != nil {
			a.LeftOut = append(a.LeftOut, LeftOut{[]string{s.Name}, err.Error()})
			continue
		}
		k := slices.IndexFunc(s.Options, func(o dme.Option) bool { return o.Name == serverWord })
		if k < 0 {
			entries = append(entries, runs.Entry{Name: s.Name, Label: s.Title})
			continue
		}
		for _, n := range s.Options[k].Words {
			entries = append(entries, runs.Entry{Name: s.Name, Label: s.Title + " of " + n, Set: map[string]string{serverWord: n}})
		}
	}
	set := make(map[string]string)
	if !q.DelayMeasured {
		set["delay"] = q.Delay.String()
	}
	done, err := a.carryOut(ctx, opt, runs.Workload{Duration: measuredFor}, runs.Experiment{
		Name: "services", Algorithms: entries, Transports: experiment.Entries([]string{q.Transport}), Repetitions: enoughRuns,
	}, set)
	if err != nil {
		return err
	}
	if a.Measured, err = rank.Of(done, rank.Options{Metrics: a.columns()}); err == nil {
		a.Measured.Name = "measured here"
	}
	return err
}

// The failures that a question may ask to be survived.
var survivable = []string{"crash", "restart", "pause", "partition"}

// fails says what of what is to be survived an algorithm does not; "" if it survives all.
func (q *Question) fails(a *dme.Algorithm) string {
	f := failureOf(a.Name)
	if f.Crash == "unknown" && a.Survives != nil { // one of the user's own
		f.Crash = "goes on"
	}
	is := map[string]string{"crash": f.Crash, "restart": f.Restart, "pause": f.Pause, "partition": f.Partition}
	for _, what := range q.Survive {
		if is[what] == "–" {
			return what + ": its nodes cannot do that"
		} else if is[what] != "goes on" {
			return is[what] + " after a " + what
		}
	}
	return ""
}
