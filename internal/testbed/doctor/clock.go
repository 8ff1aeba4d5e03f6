package doctor

import (
	"cmp"
	"math"
	"slices"
	"time"

	"dmebench/internal/platform/clock"
	"dmebench/units"
)

// clockReading is how the host's clock is kept.
type clockReading struct {
	refused         error // why the kernel does not say
	synchronized    bool
	estimated, most time.Duration // error, as the kernel has been told
	change          clock.Change  // while the host was watched
}

// judge says whether the wall clock is kept right.
func (r *clockReading) judge(several bool) Finding {
	serious := Note
	if several {
		serious = Warning
	}
	switch {
	case r.change.Stepped.Abs() > r.change.Error+time.Millisecond:
		return fine("clock", "the wall clock was set by %v while it was looked at", r.change.Stepped.Round(time.Millisecond)).
			raise(true, serious, "wait until the time service has settled, and look again")
	case r.refused != nil:
		return notKnown("clock", "the kernel does not say how its clock is kept: "+r.refused.Error())
	case !r.synchronized:
		return fine("clock", "not synchronized").
			raise(true, serious, "run one time service: chrony (apt install chrony) or systemd-timesyncd (timedatectl set-ntp true)").
			raise(several, serious, "runs measure the offsets between hosts themselves, but logs of several hosts cannot be put in order")
	}
	return fine("clock", "synchronized; error %v by its own estimate, %v at most",
		r.estimated.Round(time.Microsecond), r.most.Round(time.Microsecond))
}

// judgeRate says whether the monotonic clock runs as evenly as measuring across
// hosts takes for granted.
func (r *clockReading) judgeRate(several bool) Finding {
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

// sourceReading is what the kernel's clocks are read from.
type sourceReading struct {
	name string
	cost time.Duration // of one reading
}

func (r *sourceReading) judge() Finding {
	// Such sources are read by system calls that ask a device.
	slow := slices.Contains([]string{"hpet", "acpi_pm", "pit", "jiffies", "refined-jiffies"}, r.name)
	return fine("clock-source", "%s, %s a reading", r.name, units.Time(float64(r.cost))).
		raise(slow || r.cost >= time.Microsecond, Warning, "every message takes several readings: choose a source that is read without "+
			"a system call, if the kernel trusts one (clocksource=tsc at boot); of a virtual machine, ask its host")
}

// readSource takes the best of several readings: interruptions are not the clock's.
func readSource(name string) sourceReading {
	const batches, batch = 32, 64
	cost := time.Hour
	for range batches {
		begin := time.Now()
		for range batch {
			_ = time.Now()
		}
		cost = min(cost, time.Since(begin)/batch)
	}
	return sourceReading{cmp.Or(name, "not known"), cost}
}
