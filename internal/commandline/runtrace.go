package commandline

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"dmebench/internal/atomicfile"
	"dmebench/internal/coordinator"
	"dmebench/internal/eventlog"
	"dmebench/internal/exit"
	"dmebench/internal/foreign"
	"dmebench/internal/recording"
	"dmebench/internal/run"
	"dmebench/result"
	"dmebench/workload/fault"
)

// A recording is bounded: maxEvents in all, and no fewer than minEvents of a node.
const (
	maxEvents = 1 << 20
	minEvents = 1 << 10
)

func traceFlag() cli.Flag {
	return &cli.StringFlag{Name: "trace", Usage: "record what happens in the run, event by event, in `FILE` (JSON Lines); " +
		"'dmebench trace -f FILE' draws it. For simulations, and for real networks on this host alone"}
}

// recorder keeps the recording of a run; nil where none is wanted.
type recorder struct {
	file string
	job  *run.Job
	kept *eventlog.Kept
}

// recorder refuses what cannot be recorded before anything starts.
func (p *program) recorder(c *cli.Context, job *run.Job, elsewhere bool) (*recorder, error) {
	file := c.String("trace")
	if file == "" {
		if c.IsSet("trace") {
			return nil, usage("--trace: into which file?")
		}
		return nil, nil
	}
	if elsewhere {
		return nil, usage("--trace: a recording puts the events of all nodes into one order, which the clocks of several hosts " +
			"cannot; run on this host alone, or with --transport sim")
	}
	for _, f := range job.Faults {
		if job.Network.Real() && f.What != fault.Pause && f.What != fault.Partition {
			return nil, usage("--trace: a process that comes or goes (%s) takes its part of the recording with it; "+
				"record this with --transport sim", f.What)
		}
	}
	if info, err := os.Stat(file); err == nil && !info.Mode().IsRegular() {
		return nil, failWith(exit.CantCreate, fmt.Errorf("--trace %s: it is no regular file; choose another name", file))
	}
	if err := atomicfile.Probe(filepath.Dir(file)); err != nil {
		return nil, failWith(exit.CantCreate, fmt.Errorf("--trace %s: cannot write there: %w; choose another place", file, err))
	}
	return &recorder{file: file, job: job}, nil
}

// ask has the run recorded.
func (r *recorder) ask(opt *coordinator.Options) {
	if r == nil {
		return
	}
	opt.Record = max(minEvents, maxEvents/r.job.Spec.Nodes)
	opt.Recorded = func(k eventlog.Kept) { r.kept = &k }
}

// write writes the recording down and says so.
func (r *recorder) write(stderr io.Writer, quiet bool, of *result.Result) error {
	switch {
	case r == nil:
		return nil
	case r.kept == nil:
		fmt.Fprintf(stderr, "dmebench: warning: there is no recording in %s: the run failed before its processes could hand it over\n", r.file)
		return nil
	}
	s := r.job.Spec
	h := recording.Header{
		Algorithm: s.Algorithm, Title: r.job.Algorithm.Title, Nodes: s.Nodes, Absent: r.job.Faults.Absent(), Kinds: r.job.Algorithm.Kinds,
		Set: s.Set, Transport: s.Transport, Workload: s.Workload, Seed: s.Seed, Clock: recording.Virtual,
		Dropped: r.kept.Dropped, Whole: r.kept.Dropped == 0 && (of.Status == result.OK || of.Status == result.Violated),
	}
	logs := recording.Logs{Algorithm: r.job.Algorithm, Kept: *r.kept, Repeats: !r.job.Guarantees().Reliable}
	if r.job.Network.Real() {
		h.Clock, logs.FromFirst, logs.Slack = recording.Host, true, clockSlack
	}
	if foreign.Is(s.Algorithm) {
		logs.Describe, h.Kinds = foreign.Describe, slices.Sorted(maps.Keys(of.Messages.ByKind))
	}
	count := 0
	err := atomicfile.Stream(r.file, func(w io.Writer) (err error) {
		count, err = recording.Write(w, h, recording.Merge(logs))
		return err
	})
	if err != nil {
		return failWith(exit.CantCreate, fmt.Errorf("--trace %s: cannot write the recording: %w", r.file, err))
	}
	if r.kept.Dropped > 0 {
		fmt.Fprintf(stderr, "dmebench: warning: %s shows the beginning of the run: %d later events found no room; "+
			"make fewer requests to see all\n", r.file, r.kept.Dropped)
	}
	if !quiet {
		fmt.Fprintf(stderr, "dmebench: %d events recorded in %s; 'dmebench trace -f %s' shows them\n", count, r.file, r.file)
	}
	return nil
}

// clockSlack is by how much the clocks of two processes of a host may be apart.
const clockSlack = 100 * time.Microsecond
