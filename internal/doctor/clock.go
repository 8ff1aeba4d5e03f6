package doctor

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"dmebench/internal/clock"
	"dmebench/internal/environment"
	"dmebench/report/units"
)

// clockReading is how the host's clock is kept.
type clockReading struct {
	known        bool // what the kernel says of it
	refused      error
	synchronized bool
	estimated    time.Duration // error, as the kernel has been told
	most         time.Duration // error, as the kernel has been told
	services     []string      // time services that run
	container    bool          // where those of the host are not to be seen

	change clock.Change // in the time for which the host was watched
}

// ClockState says how this host's clock is kept, in a few words, as the check "clock"
// does.
func ClockState() string {
	var r clockReading
	r.keptBy("/")
	return r.judge(Options{}).Found
}

const timeService = "let one time service keep the clock: chrony (apt install chrony) or systemd-timesyncd (timedatectl set-ntp true)"

// judge says whether anybody keeps the wall clock right.
func (r clockReading) judge(o Options) Finding {
	f := Finding{Check: "clock"}
	by := "no time service is seen"
	if len(r.services) > 0 {
		by = "by " + strings.Join(r.services, " and ")
	} else if r.container {
		by = "a time service outside this container is not seen"
	}
	serious := Note
	if o.Several {
		serious = Warning
	}
	stepped := r.change.Stepped.Abs() > r.change.Error+time.Millisecond
	switch {
	case stepped:
		f.Level = serious
		f.Found = fmt.Sprintf("the wall clock was set by %v while it was looked at", r.change.Stepped.Round(time.Millisecond))
		f.Do = "wait until the time service has settled, and look again"
	case !r.known:
		f.Level, f.Found = Note, "the kernel does not tell how its clock is kept"
		if r.refused != nil {
			f.Found += ": " + r.refused.Error()
		}
	case !r.synchronized:
		f.Level = serious
		f.Found = "not synchronized; " + by
		f.Do = timeService
		if o.Several {
			f.Do += "; runs measure the offsets between hosts themselves, but logs of several hosts cannot be put in order"
		}
	case len(r.services) > 1:
		f.Level, f.Found = Warning, "synchronized "+by+", which set the clock against each other"
		f.Do = "stop all of them but one"
	default:
		if len(r.services) == 0 {
			by = "(" + by + ")"
		}
		f.Found = fmt.Sprintf("synchronized %s; error %v by its own estimate, %v at most",
			by, r.estimated.Round(time.Microsecond), r.most.Round(time.Microsecond))
	}
	return f
}

// judgeRate says whether the monotonic clock runs as evenly as measuring across
// hosts takes for granted.
func (r clockReading) judgeRate(o Options) Finding {
	f := Finding{Check: "clock-rate"}
	c := r.change
	if c.Elapsed <= 0 {
		f.Level, f.Found = Note, "not looked at"
		return f
	}
	const ppm = 1e6
	rate := ppm * float64(c.Slewed) / float64(c.Elapsed)
	bound := ppm * float64(c.Error) / float64(c.Elapsed)
	// Each of two hosts may contribute one half to what they drift apart.
	allowed := ppm * clock.MaxDrift.Seconds() / 2
	f.Found = fmt.Sprintf("the monotonic clock is sped up by %s ± %s ppm against the hardware",
		units.Number(math.Round(rate)), units.Number(math.Ceil(bound)))
	if math.Abs(rate)-bound <= allowed {
		return f
	}
	f.Level = Warning
	f.Found += fmt.Sprintf(", where a time service should stay within %.0f", allowed)
	f.Do = "wait until the time service has settled, or bound it (chrony: maxslewrate 500)"
	if o.Several {
		f.Level = Problem
		f.Do += "; until then, bounds on the offsets between hosts do not hold"
	}
	return f
}

// sourceReading is what the kernel's clocks are read from.
type sourceReading struct {
	name      string
	available []string
	cost      time.Duration // of one reading
}

// slow are clock sources for which every reading is a system call that asks a
// device.
var slow = []string{"hpet", "acpi_pm", "pit", "jiffies", "refined-jiffies"}

// dear is a cost of reading the clock that shows in what is measured: each message
// and each critical section takes several readings.
const dear = time.Microsecond

func (r sourceReading) judge() Finding {
	f := Finding{Check: "clock-source", Found: fmt.Sprintf("%s, %s a reading", orUnknown(r.name), units.Time(float64(r.cost)))}
	if !slices.Contains(slow, r.name) && r.cost < dear {
		return f
	}
	f.Level = Warning
	f.Found += ": slow, and every message takes several"
	f.Do = "choose a source that is read without a system call, if the kernel trusts one (clocksource=tsc at boot); " +
		"of a virtual machine, ask its host"
	if len(r.available) > 0 {
		f.Found += "; available: " + strings.Join(r.available, ", ")
	}
	return f
}

func orUnknown(s string) string {
	if s == "" {
		return "not known"
	}
	return s
}

// judgeProgram says whether results can be traced back to sources.
func judgeProgram(p environment.Program) Finding {
	f := Finding{Check: "program", Found: p.String()}
	if p.Commit == "" {
		f.Level = Note
		f.Found += "; of which commit it was built is not known, or there are changes on top of one"
		f.Do = "results cannot be traced back to sources: commit, and build in a clone of the repository (go build)"
	}
	return f
}

// readingCost is what reading the clock takes, at best: what comes in between is
// none of its doing.
func readingCost() time.Duration {
	const batches, readings = 32, 64
	best := time.Hour
	for range batches {
		begin := time.Now()
		for range readings {
			_ = time.Now()
		}
		best = min(best, time.Since(begin)/readings)
	}
	return best
}
