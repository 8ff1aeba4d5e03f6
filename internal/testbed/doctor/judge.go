package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"dmebench/internal/platform/clock"
	"dmebench/internal/platform/environment"
	"dmebench/units"
)

// judge says what the readings mean for the run that is meant.
func (r *readings) judge(o Options) []Finding {
	host, _, _ := net.SplitHostPort(o.Listen)
	slow := slices.Contains([]string{"hpet", "acpi_pm", "pit", "jiffies", "refined-jiffies"}, r.source) // a system call asks a device
	all := []Finding{
		fine("program", "%v", r.program).raise(r.program.Commit == "", Note, "the commit is not known, or the sources were changed: "+
			"to trace results back to sources commit, and build in a clone of the repository (go build)"),
		r.judgeClock(o.Several), r.judgeRate(o.Several),
		fine("clock-source", "%s, %s a reading", r.source, units.Time(float64(r.cost))).
			raise(slow || r.cost >= time.Microsecond, Warning, "every message takes several readings: choose a source that is read without "+
				"a system call, if the kernel trusts one (clocksource=tsc at boot); of a virtual machine, ask its host"),
		r.judgeProcessors(o.Need.Processes),
		fine("frequency", "governor %s, boost %s", cmp.Or(r.governor, "not known"), cmp.Or(r.boost, "not known")).
			raise(r.governor != "" && r.governor != "performance", Note,
				"processors slow down while they wait: cpupower frequency-set -g performance").
			raise(r.boost == "on", Note,
				"the speed depends on how many processors are busy and how warm they are: switch boost off for repeatable figures"),
	}
	all = slices.Concat(all, r.judgeLoad(), judgeLimits(r.limits, o.Need))
	all = append(all, tried("loopback", r.loopback, "processes reach one another at 127.0.0.1",
		"processes cannot reach one another at 127.0.0.1: %v", Problem, "bring it up: ip link set lo up"),
		judgeSelf("tcp", host, r.tcp), judgeSelf("udp", host, r.udp),
		tried("multicast", r.multicast, "datagrams to a group come back at "+host, "%v", Note,
			"nothing, unless runs are to use --set multicast=true over udp: then listen at an IPv4 address of an interface that "+
				"multicasts (ip link set NAME multicast on) and let datagrams to 239.192.0.0/14 pass"),
		r.judgeBuffers())
	if o.Results != "" {
		all = append(all, r.judgeResults(o.Results))
	}
	return all
}

// judgeClock says whether the wall clock is kept right.
func (r *readings) judgeClock(several bool) Finding {
	serious := Note
	if several {
		serious = Warning
	}
	switch {
	case r.change.Stepped.Abs() > r.change.Error+time.Millisecond:
		return fine("clock", "the wall clock was set by %v while it was looked at", r.change.Stepped.Round(time.Millisecond)).
			raise(true, serious, "wait until the time service has settled, and look again")
	case r.untold != nil:
		return notKnown("clock", "the kernel does not say how its clock is kept: "+r.untold.Error())
	case !r.kept.Synchronized:
		return fine("clock", "not synchronized").
			raise(true, serious, "run one time service: chrony (apt install chrony) or systemd-timesyncd (timedatectl set-ntp true)").
			raise(several, serious, "runs measure the offsets between hosts themselves, but logs of several hosts cannot be put in order")
	}
	return fine("clock", "synchronized; error %v by its own estimate, %v at most",
		r.kept.Estimated.Round(time.Microsecond), r.kept.Most.Round(time.Microsecond))
}

// judgeRate says whether the monotonic clock runs as evenly as measuring across
// hosts takes for granted.
func (r *readings) judgeRate(several bool) Finding {
	c := r.change
	if c.Elapsed <= 0 {
		return notKnown("clock-rate", "not looked at")
	}
	const ppm = 1e6
	rate, bound := ppm*float64(c.Slewed)/float64(c.Elapsed), ppm*float64(c.Error)/float64(c.Elapsed)
	// Each of two hosts may contribute one half to what they drift apart.
	allowed := ppm * clock.MaxDrift.Seconds() / 2
	wrong := math.Abs(rate)-bound > allowed
	return fine("clock-rate", "the monotonic clock is sped up by %s ± %s ppm against the hardware; up to %.0f is fine",
		units.Number(math.Round(rate)), units.Number(math.Ceil(bound)), allowed).
		raise(wrong, Warning, "wait until the time service has settled, or bound it (chrony: maxslewrate 500)").
		raise(wrong && several, Problem, "until then, bounds on the offsets between hosts do not hold")
}

// judgeProcessors compares the processors with the processes that will share them.
func (r *readings) judgeProcessors(processes int) Finding {
	have, of := float64(r.allowed), units.Counted(max(r.allowed, r.online), "processor")
	if r.online > r.allowed {
		of = fmt.Sprintf("%d of %s", r.allowed, of)
	}
	if r.quota > 0 {
		of += fmt.Sprintf(", of whose time the control group allows %.3g", r.quota)
		have = min(have, r.quota)
	}
	each := float64(processes) / have
	return fine("processors", "%s, for %s", of, units.Counted(processes, "process")).
		raise(have < float64(r.allowed), Warning, "lift the quota (docker: --cpuset-cpus in place of --cpus; Kubernetes: limits equal to "+
			"whole processors): processes that have used it up stand still for the rest of each period").
		raise(each > 100, Warning, "take fewer nodes or more hosts: times will say more about the processors than about the algorithm").
		raise(each > 1, Note, "processes take turns, which is part of every time; fewer nodes or more hosts if that is not meant")
}

// judgeLoad says whether others keep the processors busy, and whether a hypervisor gives
// them to others.
func (r *readings) judgeLoad() []Finding {
	if !r.loaded {
		return []Finding{notKnown("load", "not known on this system"), notKnown("steal", "not known on this system")}
	}
	const end, move = "see what else runs (top), and end it or wait for it",
		"choose machines with processors of their own, none that are shared or burst"
	of := max(r.online, r.allowed, 1)
	share := r.busy / float64(of)
	return []Finding{
		fine("load", "others keep %.2g of %s busy; timers come up to %s late",
			r.busy, units.Counted(of, "processor"), units.Time(float64(r.late))).raise(share > 0.05, Note, end).
			raise(share > 0.25 || r.late > 50*time.Millisecond, Warning, end),
		fine("steal", "%.2g%% of the time was stolen by the hypervisor just now, %.2g%% since the start of this host", 100*r.stolen, 100*r.ever).
			raise(r.ever > 0.01, Note, move).raise(r.stolen > 0.01, Warning, move),
	}
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

// tried is a finding of something that was tried, and either works or fails with an error.
func tried(check string, err error, works, fails string, level Level, do string) Finding {
	if err == nil {
		return fine(check, "%s", works)
	}
	return fine(check, fails, err).raise(true, level, do)
}

func judgeSelf(network, host string, err error) Finding {
	if err == nil {
		return fine(network, "a process reaches another one at %s", host)
	}
	f := fine(network, "a process does not reach another one on this host at %s: %v", host, err)
	var op *net.OpError
	listening := errors.As(err, &op) && op.Op == "listen"
	return f.raise(errors.Is(err, syscall.EADDRNOTAVAIL), Problem, "no interface of this host has the address: give one that 'ip addr' shows").
		raise(listening, Problem, "choose an address of this host, and another port, or 0 for any that is free").
		raise(!listening, Problem, whyNot(network, err)+"; let this host reach itself: iptables -I INPUT -s "+host+" -d "+host+" -j ACCEPT")
}

func (r *readings) judgeBuffers() Finding {
	if r.asked <= 0 {
		return notKnown("udp-buffers", "not known")
	}
	return fine("udp-buffers", "%s to receive and %s to send, of %s asked for",
		units.Bytes(uint64(r.receive)), units.Bytes(uint64(r.send)), units.Bytes(uint64(r.asked))).
		raise(min(r.receive, r.send) < r.asked, Warning, fmt.Sprintf("raise the bounds: sysctl -w net.core.rmem_max=%d "+
			"net.core.wmem_max=%[1]d; the kernel drops datagrams that find a buffer full", r.asked))
}

// whyNot gives the probable reason for which another address is not reached.
func whyNot(network string, err error) string {
	var timeout interface{ Timeout() bool }
	is := func(some ...error) bool {
		return slices.ContainsFunc(some, func(e error) bool { return errors.Is(err, e) })
	}
	switch {
	case is(syscall.EPERM, syscall.EACCES):
		return "a firewall on this host blocks what it sends"
	case is(syscall.ECONNREFUSED):
		return "nobody listens there, or a firewall rejects " + network
	case is(syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.EINVAL):
		return "there is no route to it, the host there is down, or a firewall rejects " + network
	case is(syscall.ECONNRESET, io.EOF, io.ErrUnexpectedEOF):
		return "something in between cuts connections"
	case is(context.DeadlineExceeded, os.ErrDeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "a firewall drops " + network + ", or no host has the address"
	}
	return "the network does not let it pass"
}

func (r *readings) judgeResults(folder string) Finding {
	if r.unwritable != nil {
		return fine("results", "%s cannot be written: %v", folder, r.unwritable).raise(true, Problem, "choose another folder with --out")
	}
	return fine("results", "%s takes files, on the disk within %s; %s free", folder, units.Time(float64(r.took)), units.Bytes(r.free)).
		raise(r.free < 1<<30, Warning, "make room").raise(r.free < 16<<20, Problem, "make room").
		raise(r.took > 100*time.Millisecond, Note, "each result waits that long for the disk: choose a faster one for sweeps of short runs")
}
