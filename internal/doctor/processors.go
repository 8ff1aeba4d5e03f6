package doctor

import (
	"fmt"
	"strings"
	"time"

	"dmebench/report/units"
)

// processorReading is what a host has to run on.
type processorReading struct {
	allowed  int     // processors that this process may run on
	online   int     // of the host; 0 where that is not known
	quota    float64 // processors' time that its control groups allow; 0 for no limit
	governor string
	boost    string // "on", "off", "" where it is not known
	virtual  bool
}

// crowd is how many processes for each processor make times say more about the
// processors than about the algorithm.
const crowd = 100

// judge compares the processors with the processes that will share them.
func (r processorReading) judge(n Need) Finding {
	f := Finding{Check: "processors"}
	parts := []string{plural(r.allowed, "processor")}
	if r.online > r.allowed {
		parts[0] = fmt.Sprintf("%d of %s", r.allowed, plural(r.online, "processor"))
	}
	have := float64(r.allowed)
	if r.quota > 0 {
		parts = append(parts, fmt.Sprintf("of whose time the control group allows %.3g", r.quota))
		have = min(have, r.quota)
	}
	each := float64(n.Processes) / have
	if n.Processes > 0 {
		parts = append(parts, fmt.Sprintf("for %s", plural(n.Processes, "process")))
	}
	f.Found = strings.Join(parts, ", ")
	raise := func(level Level, do string) {
		if f.Do != "" {
			f.Do += "; "
		}
		f.Level, f.Do = max(f.Level, level), f.Do+do
	}
	if r.quota > 0 && r.quota < float64(r.allowed) {
		raise(Warning, "lift the quota (docker: --cpuset-cpus in place of --cpus; Kubernetes: limits equal to whole processors): "+
			"processes that have used it up stand still for the rest of each period")
	}
	switch {
	case each > crowd:
		raise(Warning, "take fewer nodes or more hosts: times will say more about the processors than about the algorithm")
	case each > 1:
		raise(Note, "processes take turns, which is part of every time; fewer nodes or more hosts if that is not meant")
	}
	return f
}

// judgeFrequency says whether a processor's speed depends on what it does.
func (r processorReading) judgeFrequency() Finding {
	f := Finding{Check: "frequency"}
	switch r.governor {
	case "":
		f.Found = "governed by the host of this virtual machine"
		if !r.virtual {
			f.Found = "not governed by this system"
		}
	default:
		f.Found = "governor " + r.governor
	}
	if r.boost != "" {
		f.Found += ", boost " + r.boost
	}
	if r.governor != "" && r.governor != "performance" {
		f.Level = Note
		f.Do = "processors slow down while they wait: cpupower frequency-set -g performance"
	}
	if r.boost == "on" {
		if f.Do != "" {
			f.Do += "; "
		}
		f.Level = Note
		f.Do += "the speed depends on how many processors are busy and how warm they are: switch boost off where figures are to be repeatable"
	}
	return f
}

// loadReading is what else went on while the host was watched.
type loadReading struct {
	known   bool
	elapsed time.Duration
	busy    float64       // processors that others kept busy
	stolen  float64       // share of the time that the hypervisor gave to others, now
	ever    float64       // the same, since the host was started
	swapped uint64        // pages
	late    time.Duration // by which the latest of this process's timers came
}

const (
	someLoad = 0.05 // share of the processors that others keep busy
	muchLoad = 0.25

	someSteal = 0.01 // share of time

	veryLate = 50 * time.Millisecond
)

// judge says whether others keep the processors busy.
func (r loadReading) judge(p processorReading) Finding {
	f := Finding{Check: "load"}
	if !r.known {
		f.Level, f.Found = Note, "not known on this system"
		return f
	}
	of := max(p.online, p.allowed, 1)
	f.Found = fmt.Sprintf("others keep %.2g of %s busy; timers come up to %s late",
		r.busy, plural(of, "processor"), units.Time(float64(r.late)))
	switch share := r.busy / float64(of); {
	case share > muchLoad || r.late > veryLate:
		f.Level = Warning
	case share > someLoad:
		f.Level = Note
	}
	if f.Level > OK {
		f.Do = "see what else runs (top), and end it or wait for it"
	}
	return f
}

// judgeStolen says whether a hypervisor gives the processors to others.
func (r loadReading) judgeStolen() Finding {
	f := Finding{Check: "steal"}
	if !r.known {
		f.Level, f.Found = Note, "not known on this system"
		return f
	}
	f.Found = fmt.Sprintf("%s of the time was stolen by the hypervisor just now, %s since the start of this host",
		percent(r.stolen), percent(r.ever))
	switch {
	case r.stolen > someSteal:
		f.Level = Warning
	case r.ever > someSteal:
		f.Level = Note
	}
	if f.Level > OK {
		f.Do = "choose machines with processors of their own, none that are shared or burst"
	}
	return f
}

func percent(share float64) string { return fmt.Sprintf("%.2g%%", 100*share) }

// plural counts things: "1 host", "2 hosts", "3 processes".
func plural(n int, thing string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(thing, "s"):
		thing += "es"
	default:
		thing += "s"
	}
	return fmt.Sprint(n, " ", thing)
}
