package doctor

import (
	"fmt"
	"strings"

	"dmebench/internal/environment"
	"dmebench/report/units"
)

// need compares what the run takes with what is left.
func need(check string, takes uint64, l environment.Limit, text func(uint64) string, do string) Finding {
	f := Finding{Check: check}
	switch {
	case l.Left == environment.Unlimited:
		f.Found = "no limit is known"
	default:
		f.Found = fmt.Sprintf("%s left (%s)", text(l.Left), l.By)
	}
	if takes > 0 {
		f.Found += fmt.Sprintf("; the run takes about %s", text(takes))
	}
	if takes > l.Left {
		f.Level, f.Do = Problem, do
	}
	return f
}

func judgeThreads(l environment.Limits, n Need) Finding {
	do := "raise RLIMIT_NPROC (ulimit -u; systemd: LimitNPROC=)"
	switch {
	case strings.HasPrefix(l.Threads.By, "pids.max"):
		do = "raise the control group's limit (docker: --pids-limit; systemd: TasksMax=; Kubernetes: podPidsLimit of the kubelet)"
	case strings.HasPrefix(l.Threads.By, "kernel."):
		do = fmt.Sprintf("raise it: sysctl -w %s=NUMBER", l.Threads.By)
	}
	return need("threads", n.Threads, l.Threads, units.Count, do+", or take fewer nodes or more --nodes-per-worker")
}

func judgeDescriptors(l environment.Limits, n Need) Finding {
	return need("descriptors", n.Descriptors, l.Descriptors, units.Count,
		fmt.Sprintf("raise it: ulimit -n %d (docker: --ulimit nofile=%[1]d; systemd: LimitNOFILE=%[1]d)", n.Descriptors))
}

// judgeMemory says whether there is enough memory, also for what runs already.
func judgeMemory(l environment.Limits, now loadReading, n Need) Finding {
	do := "take fewer nodes, more hosts or more memory"
	switch by := l.Memory.By; {
	case strings.HasPrefix(by, "memory limit"):
		do = "raise the control group's limit (docker: --memory; systemd: MemoryMax=; Kubernetes: resources.limits.memory), or take fewer nodes"
	case by == "RLIMIT_AS":
		do = "raise it (ulimit -v), or take fewer nodes"
	case by == "GOMEMLIMIT":
		do = "raise it or leave it out, or take fewer nodes"
	}
	f := need("memory", n.Memory, l.Memory, units.Bytes, do)
	if now.swapped > 0 {
		f.Level = max(f.Level, Warning)
		f.Found += fmt.Sprintf("; the host is swapping (%d pages just now)", now.swapped)
		if f.Do == "" {
			f.Do = "end what takes the memory: a process whose pages are on a disk stands still"
		}
	}
	return f
}

// portReading is what there is of ports for connections and sockets.
type portReading struct {
	first, last int    // that the system gives out by itself; 0 where it is not known
	waiting     uint64 // connections in TIME_WAIT
	used        uint64 // sockets of TCP
}

// judge compares the ports that the system gives out with those that the run takes:
// one for each process to listen at, and one for each connection. The system can use
// a port for connections to several processes; that it has to is no good sign.
func (r portReading) judge(n Need) Finding {
	f := Finding{Check: "ports"}
	if r.last == 0 {
		f.Found = "not known on this system"
		return f
	}
	all := uint64(r.last - r.first + 1)
	left := all - min(all, r.waiting+r.used)
	f.Found = fmt.Sprintf("%s of %s ephemeral ports are free (%d–%d; %s in use, %s in TIME_WAIT)",
		units.Count(left), units.Count(all), r.first, r.last, units.Count(r.used), units.Count(r.waiting))
	takes := uint64(n.Processes) + n.Connections
	if takes > 0 {
		f.Found += "; the run takes up to " + units.Count(takes)
	}
	do := "widen the range: sysctl -w net.ipv4.ip_local_port_range=\"10240 65535\""
	if r.waiting > all/2 {
		do += "; or wait a minute: connections in TIME_WAIT end by themselves"
	}
	switch {
	case left < uint64(n.Processes):
		f.Level, f.Do = Problem, do
	case left < takes:
		f.Level, f.Do = Warning, do
	}
	return f
}
