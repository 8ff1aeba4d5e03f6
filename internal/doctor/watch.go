package doctor

import (
	"context"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"dmebench/internal/clock"
	"dmebench/internal/environment"
)

// watch looks at the host for a while: what its clocks do, and how busy it is with
// other things than this process.
func watch(ctx context.Context, d time.Duration) (loadReading, clockReading) {
	const interval = time.Millisecond
	begin, clocks := time.Now(), clock.Read()
	before, known := readTicks("/")
	own, pages := ownTime(), swapped("/")

	l := loadReading{known: known}
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	last := begin
	for time.Since(begin) < d && ctx.Err() == nil {
		select {
		case <-ticker.C:
		case <-ctx.Done():
		}
		now := time.Now()
		l.late = max(l.late, now.Sub(last)-interval)
		last = now
	}

	c := clockReading{change: clocks.Until(clock.Read())}
	c.keptBy("/")
	l.elapsed = time.Since(begin)
	l.swapped = swapped("/") - pages
	if after, ok := readTicks("/"); ok {
		l.since(before, after, ownTime()-own)
	}
	return l, c
}

// since works out what others did between two readings of the processors' times, in
// which this process took some time of its own.
func (r *loadReading) since(before, after ticks, own time.Duration) {
	if after.all > 0 {
		r.ever = float64(after.stolen) / float64(after.all)
	}
	all := float64(after.all - before.all)
	if all <= 0 || r.elapsed <= 0 {
		return
	}
	r.stolen = float64(after.stolen-before.stolen) / all
	processors := max(online("/"), runtime.NumCPU())
	r.busy = max(0, float64(after.busy-before.busy)/all*float64(processors)-own.Seconds()/r.elapsed.Seconds())
}

// ownTime is the processors' time that this process has taken.
func ownTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func readProcessors() processorReading {
	r := processorReading{allowed: runtime.NumCPU(), online: online("/"), virtual: virtual("/")}
	if quota, limited := environment.CPUQuota(); limited {
		r.quota = quota
	}
	r.governor, r.boost = frequency("/")
	return r
}
