package advise

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"dmebench/dme"
	"dmebench/internal/experiment"
	"dmebench/internal/platform/layout"
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
	if len(services) == 0 || opt.Run == nil || a.Choose == "" || q.Transport != runs.DefaultTransport || q.Law != "constant" || q.Sites != "" {
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
	done, err := a.carryOut(ctx, opt, nil, runs.Workload{Duration: measuredFor}, runs.Experiment{
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
	is := map[string]string{"crash": f.Crash, "restart": f.Restart, "pause": f.Pause, "partition": f.Partition}
	if a.Survives == nil {
		is["crash"] = "stops"
	} else if is["crash"] == "unknown" { // one of the user's own
		is["crash"] = "goes on"
	}
	for _, what := range q.Survive {
		if is[what] != "goes on" {
			return strings.TrimSpace(what + ": " + map[string]string{
				"stops": "some node waits for ever after it", "unsafe": "two nodes may be in the critical section after it",
				"fenced": "two nodes may be inside after it, and only a resource that looks at their fencing tokens knows who is late",
				"–":      "its nodes cannot do that", "unknown": "what becomes of it is not known",
			}[is[what]])
		}
	}
	return ""
}

func (a *Advice) writeMeasured(out *strings.Builder, style layout.Style) error {
	if a.Measured == nil {
		return nil
	}
	fmt.Fprintf(out, "\n%s\n", style.Strong("Lock services, measured on this host beside it"))
	return a.Measured.WriteText(out, style)
}
