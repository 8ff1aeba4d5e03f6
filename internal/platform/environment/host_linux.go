package environment

import (
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// limitsAt returns what is left of all but memory, on a host whose file system is at root.
func limitsAt(root string) Limits {
	l := unlimited()
	// The fourth field is 'running/all' of the host's threads.
	_, threads, _ := strings.Cut(firstFields(filepath.Join(root, "proc/loadavg"), 4), "/")
	if there, ok := number(threads); ok {
		for _, file := range []string{"threads-max", "pid_max"} {
			if most, ok := numberIn(filepath.Join(root, "proc/sys/kernel", file)); ok {
				l.Threads.used(most, there, "kernel."+file)
			}
		}
	}
	l.controlGroups(root)
	var r unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &r) == nil {
		l.Descriptors.lower(r.Max, "RLIMIT_NOFILE") // up to which the Go runtime raises it
	}
	if unix.Getrlimit(unix.RLIMIT_NPROC, &r) == nil && os.Getuid() != 0 { // root is exempt
		l.Threads.used(r.Cur, threadsOf(root, os.Getuid()), "RLIMIT_NPROC")
	}
	return l
}

func (l *Limits) controlGroups(root string) {
	for dir := range groupsAt(root) {
		most, ok1 := numberIn(filepath.Join(dir, "pids.max"))
		there, ok2 := numberIn(filepath.Join(dir, "pids.current"))
		if ok1 && ok2 {
			l.Threads.used(most, there, "pids.max of the control group")
		}
	}
}

// groupsAt yields the folders of the control groups that this process is in, of
// version 2 or 1, from its own up to the highest that can be seen.
func groupsAt(root string) iter.Seq[string] {
	return func(yield func(string) bool) {
		text, _ := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
		for line := range strings.Lines(string(text)) {
			parts := strings.SplitN(strings.TrimSpace(line), ":", 3) // number:controllers:path
			if len(parts) != 3 {
				continue
			}
			top := filepath.Join(root, "sys/fs/cgroup", parts[1])
			for group := filepath.Join("/", parts[2]); ; group = filepath.Dir(group) {
				if !yield(filepath.Join(top, group)) {
					return
				}
				if group == "/" {
					break
				}
			}
		}
	}
}

// leftOfGroups returns how many bytes of memory the control groups leave. The
// system's cache of files does not count as taken.
func leftOfGroups(root string) (bytes uint64, limited bool) {
	bytes = Unlimited
	for dir := range groupsAt(root) {
		for _, of := range []struct{ limit, taken, files string }{
			{"memory.max", "memory.current", "inactive_file"}, {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"},
		} {
			const unlimited = 1 << 62 // version 1 writes a number near 2⁶³
			limit, ok := numberIn(filepath.Join(dir, of.limit))
			if !ok || limit >= unlimited {
				continue
			}
			taken, _ := numberIn(filepath.Join(dir, of.taken))
			files, _ := number(field(filepath.Join(dir, "memory.stat"), of.files, " "))
			taken -= min(taken, files)
			bytes, limited = min(bytes, limit-min(limit, taken)), true
		}
	}
	return bytes, limited
}

func threadsOf(root string, uid int) (n uint64) {
	files, _ := filepath.Glob(filepath.Join(root, "proc/[0-9]*/status"))
	for _, file := range files {
		if of := strings.Fields(field(file, "Uid", ":")); len(of) > 0 && of[0] == strconv.Itoa(uid) {
			threads, _ := number(field(file, "Threads", ":"))
			n += threads
		}
	}
	return n
}

// number reads a number; ok is false for a word, such as 'max'.
func number(text string) (n uint64, ok bool) {
	n, err := strconv.ParseUint(strings.TrimSpace(text), 10, 64)
	return n, err == nil
}

func numberIn(file string) (uint64, bool) { return number(firstFields(file, 1)) }

func cpuQuotaAt(root string) (processors float64, limited bool) {
	for dir := range groupsAt(root) {
		quota, period := firstFields(filepath.Join(dir, "cpu.cfs_quota_us"), 1), firstFields(filepath.Join(dir, "cpu.cfs_period_us"), 1)
		if both := strings.Fields(firstFields(filepath.Join(dir, "cpu.max"), 2)); len(both) == 2 {
			quota, period = both[0], both[1]
		}
		q, err1 := strconv.ParseFloat(quota, 64) // "max", or -1, if there is none
		p, err2 := strconv.ParseFloat(period, 64)
		if err1 == nil && err2 == nil && q > 0 && p > 0 && (!limited || q/p < processors) {
			processors, limited = q/p, true
		}
	}
	return processors, limited
}

func CPUs() ([]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, err
	}
	var cpus []int
	for cpu := 0; len(cpus) < set.Count(); cpu++ {
		if set.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	return cpus, nil
}
