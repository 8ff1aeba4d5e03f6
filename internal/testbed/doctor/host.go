package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"dmebench/internal/platform/atomicfile"
	"dmebench/internal/platform/clock"
	"dmebench/internal/platform/environment"
	"dmebench/units"
)

// processorReading is what a host has to run on.
type processorReading struct {
	allowed  int     // processors that this process may run on
	online   int     // of the host
	quota    float64 // processors' time that its control groups allow; 0 for no limit
	governor string
	boost    string // "on", "off", "" if it is not known
}

// crowd is how many processes on each processor make times say more about the processors
// than about the algorithm.
const crowd = 100

// judge compares the processors with the processes that will share them.
func (r *processorReading) judge(processes int) Finding {
	have, of := float64(r.allowed), plural(max(r.allowed, r.online), "processor")
	if r.online > r.allowed {
		of = fmt.Sprintf("%d of %s", r.allowed, of)
	}
	if r.quota > 0 {
		of += fmt.Sprintf(", of whose time the control group allows %.3g", r.quota)
		have = min(have, r.quota)
	}
	each := float64(processes) / have
	return fine("processors", "%s, for %s", of, plural(processes, "process")).
		raise(have < float64(r.allowed), Warning, "lift the quota (docker: --cpuset-cpus in place of --cpus; Kubernetes: limits equal to "+
			"whole processors): processes that have used it up stand still for the rest of each period").
		raise(each > crowd, Warning, "take fewer nodes or more hosts: times will say more about the processors than about the algorithm").
		raise(each > 1, Note, "processes take turns, which is part of every time; fewer nodes or more hosts if that is not meant")
}

// judgeFrequency says whether a processor's speed depends on what it does.
func (r *processorReading) judgeFrequency() Finding {
	return fine("frequency", "governor %s, boost %s", cmp.Or(r.governor, "not known"), cmp.Or(r.boost, "not known")).
		raise(r.governor != "" && r.governor != "performance", Note,
			"processors slow down while they wait: cpupower frequency-set -g performance").
		raise(r.boost == "on", Note,
			"the speed depends on how many processors are busy and how warm they are: switch boost off for repeatable figures")
}

// boost says whether processors may exceed their speed; "" if that is not known.
func boost(root string) string {
	dir := filepath.Join(root, "sys/devices/system/cpu")
	turbo, _ := os.ReadFile(dir + "/intel_pstate/no_turbo")
	boost, _ := os.ReadFile(dir + "/cpufreq/boost")
	return map[string]string{"0\n": "on", "1\n": "off", "01\n": "on", "00\n": "off"}[cmp.Or(string(turbo), "0"+string(boost))]
}

// loadReading is what else went on while the host was watched.
type loadReading struct {
	known  bool
	busy   float64       // processors that others kept busy
	stolen float64       // share of the time that the hypervisor gave to others, now
	ever   float64       // the same, since the host was started
	late   time.Duration // by which the latest of this process's timers came
}

// judge says whether others keep the processors busy.
func (r *loadReading) judge(p processorReading) Finding {
	if !r.known {
		return notKnown("load", "not known on this system")
	}
	of := max(p.online, p.allowed, 1)
	f := fine("load", "others keep %.2g of %s busy; timers come up to %s late",
		r.busy, plural(of, "processor"), units.Time(float64(r.late)))
	level, share := OK, r.busy/float64(of)
	switch {
	case share > 0.25 || r.late > 50*time.Millisecond:
		level = Warning
	case share > 0.05:
		level = Note
	}
	return f.raise(level > OK, level, "see what else runs (top), and end it or wait for it")
}

// judgeStolen says whether a hypervisor gives the processors to others.
func (r *loadReading) judgeStolen() Finding {
	if !r.known {
		return notKnown("steal", "not known on this system")
	}
	level := OK
	switch some := 0.01; {
	case r.stolen > some:
		level = Warning
	case r.ever > some:
		level = Note
	}
	return fine("steal", "%.2g%% of the time was stolen by the hypervisor just now, %.2g%% since the start of this host",
		100*r.stolen, 100*r.ever).
		raise(level > OK, level, "choose machines with processors of their own, none that are shared or burst")
}

// watch looks at the host for a second: what its clocks do, and how busy it is with
// other things than this process.
func (r *readings) watch(ctx context.Context, facts map[string]string) {
	const interval = time.Millisecond
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	begin, clocks, before, own := time.Now(), clock.Read(), environment.TimesOfProcessors(), ownTime()
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for last := begin; ctx.Err() == nil; {
		select {
		case <-ticker.C:
		case <-ctx.Done():
		}
		now := time.Now()
		r.load.late = max(r.load.late, now.Sub(last)-interval)
		last = now
	}
	r.clock = readClock()
	r.clock.change = clocks.Until(clock.Read())
	after, took := environment.TimesOfProcessors(), time.Since(begin)
	r.processors = processorReading{allowed: runtime.NumCPU(), online: after.Processors, governor: facts["governor"], boost: boost("/")}
	r.processors.quota, _ = environment.CPUQuota()
	r.load.since(before, after, (ownTime()-own).Seconds()/took.Seconds())
}

// since works out what others did between two readings, while this process kept some
// processors busy itself.
func (r *loadReading) since(before, after environment.ProcessorTimes, own float64) {
	all := float64(after.All - before.All)
	if r.known = all > 0; r.known {
		r.ever, r.stolen = float64(after.Stolen)/float64(after.All), float64(after.Stolen-before.Stolen)/all
		r.busy = max(0, float64(after.Busy-before.Busy)/all*float64(after.Processors)-own)
	}
}

// ownTime is the processors' time that this process has taken.
func ownTime() time.Duration {
	var u unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &u) // the zero value if it fails
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// higher says how a limit is raised, by the beginning of its name.
var higher = [][2]string{
	{"pids.max", "raise the control group's limit (docker: --pids-limit; systemd: TasksMax=; Kubernetes: podPidsLimit of the kubelet)"},
	{"kernel.", "raise it: sysctl -w LIMIT=NUMBER"},
	{"RLIMIT_NPROC", "raise it (ulimit -u; systemd: LimitNPROC=)"},
	{"RLIMIT_NOFILE", "raise it: ulimit -n NUMBER (docker: --ulimit nofile=NUMBER; systemd: LimitNOFILE=NUMBER)"},
	{"memory limit", "raise the control group's limit (docker: --memory; systemd: MemoryMax=; Kubernetes: resources.limits.memory)"},
	{"RLIMIT_AS", "raise it (ulimit -v)"},
	{"GOMEMLIMIT", "raise it or leave it out"},
}

// judgeLimits compares what the run takes with what is left.
func judgeLimits(l environment.Limits, n Need) (all []Finding) {
	for _, x := range []struct {
		check string
		takes uint64
		limit environment.Limit
		text  func(uint64) string
	}{
		{"memory", n.Memory, l.Memory, units.Bytes},
		{"threads", n.Threads, l.Threads, units.Count},
		{"descriptors", n.Descriptors, l.Descriptors, units.Count},
	} {
		left := "no limit is known"
		if x.limit.Left != environment.Unlimited {
			left = fmt.Sprintf("%s left (%s)", x.text(x.limit.Left), x.limit.By)
		}
		f := fine(x.check, "%s; the run takes about %s", left, x.text(x.takes))
		for _, h := range higher {
			f = f.raise(x.takes > x.limit.Left && strings.HasPrefix(x.limit.By, h[0]), Problem,
				strings.NewReplacer("LIMIT", x.limit.By, "NUMBER", fmt.Sprint(x.takes)).Replace(h[1]))
		}
		all = append(all, f.raise(x.takes > x.limit.Left, Problem, "take fewer nodes, more --nodes-per-worker or more hosts"))
	}
	return all
}

// resultsReading is where results will be kept.
type resultsReading struct {
	in   string // the folder, or the nearest one above it that is there
	err  error  // of writing a file there that survives a power cut
	took time.Duration
	free uint64 // bytes
}

// readResults tries to write where results will be kept.
func readResults(folder string) resultsReading {
	r := resultsReading{in: folder}
	for _, err := os.Stat(r.in); errors.Is(err, fs.ErrNotExist) && r.in != filepath.Dir(r.in); _, err = os.Stat(r.in) {
		r.in = filepath.Dir(r.in)
	}
	begin := time.Now()
	if r.err = atomicfile.Probe(r.in); r.err == nil {
		r.err = atomicfile.SyncDir(r.in)
	}
	r.took = time.Since(begin)
	if s := (unix.Statfs_t{}); unix.Statfs(r.in, &s) == nil {
		r.free = uint64(s.Bavail) * uint64(s.Bsize)
	}
	return r
}

func (r *resultsReading) judge(folder string) Finding {
	if r.err != nil {
		return fine("results", "%s cannot be written: %v", folder, r.err).raise(true, Problem, "choose another folder with --out")
	}
	level := Warning
	if r.free < 16<<20 {
		level = Problem
	}
	return fine("results", "%s takes files, on the disk within %s; %s free", folder, units.Time(float64(r.took)), units.Bytes(r.free)).
		raise(r.free < 1<<30, level, "make room").
		raise(r.took > 100*time.Millisecond, Note, "each result waits so long for the disk: choose a faster one for sweeps of short runs")
}
