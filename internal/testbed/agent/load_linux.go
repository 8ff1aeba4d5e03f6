package agent

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"dmebench/internal/platform/environment"
	"dmebench/internal/platform/launch"
)

// tick is the unit of the processor times that the kernel tells in /proc: it is the
// same on all systems that Go supports, whatever the kernel's own is.
const tick = time.Second / 100

// use says how much time processors have spent until now. The workers' is that of the
// processes that are alive, and of all that have ended as children of this one.
func use(alive []launch.Process) (u usage) {
	u.at = time.Now()
	times := environment.TimesOfProcessors()
	if times == (environment.ProcessorTimes{}) {
		return u
	}
	u.busy = time.Duration(times.Busy) * tick
	for _, p := range alive {
		u.workers += timeOf(p.PID())
	}
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_CHILDREN, &r) != nil {
		return u
	}
	u.workers += time.Duration(r.Utime.Nano() + r.Stime.Nano())
	u.known = true
	return u
}

// timeOf returns the processor time of a process; 0 of one that has ended.
func timeOf(pid int) time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	// The name of the program, in brackets, may itself hold brackets and spaces.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	const user, system = 11, 12 // behind the name; the 14th and 15th of all
	if len(fields) <= system {
		return 0
	}
	u, _ := strconv.ParseInt(fields[user], 10, 64)
	s, _ := strconv.ParseInt(fields[system], 10, 64)
	return time.Duration(u+s) * tick
}
