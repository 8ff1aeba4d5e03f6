package environment

import (
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// limitsAt returns what is left of all but memory, on a host whose file system is
// at root.
func limitsAt(root string) Limits {
	l := unlimited()
	// The fourth field is 'running/all' of the host's threads.
	_, threads, _ := strings.Cut(lastOf(firstFields(filepath.Join(root, "proc/loadavg"), 4)), "/")
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

// controlGroups lowers the limit on threads to those of the groups that this process is
// in.
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
// version 2 or 1, from its own up to the highest that can be seen. In a container that
// is the one at the root of its file system.
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

// threadsOf counts the threads of a user.
func threadsOf(root string, uid int) (n uint64) {
	files, _ := filepath.Glob(filepath.Join(root, "proc/[0-9]*/status"))
	for _, file := range files {
		if of := strings.Fields(field(file, "Uid")); len(of) > 0 && of[0] == strconv.Itoa(uid) {
			threads, _ := number(field(file, "Threads"))
			n += threads
		}
	}
	return n
}

func lastOf(fields string) string { return fields[strings.LastIndexByte(fields, ' ')+1:] }

// number reads a number; ok is false for what is none, such as 'max'.
func number(text string) (n uint64, ok bool) {
	n, err := strconv.ParseUint(strings.TrimSpace(text), 10, 64)
	return n, err == nil
}

func numberIn(file string) (uint64, bool) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	return number(string(text))
}
