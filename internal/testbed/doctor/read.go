package doctor

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"dmebench/internal/platform/clock"
	"dmebench/internal/platform/environment"
	"dmebench/internal/platform/fileio"
	"dmebench/transport/udp"
)

// readings is what was read of a host. A value that could not be read is zero, and
// judges say that it is not known.
type readings struct {
	program environment.Program
	limits  environment.Limits

	kept   clock.Discipline
	untold error         // why the kernel does not say how its clock is kept
	change clock.Change  // of the clocks while the host was watched
	source string        // what the kernel's clocks are read from
	cost   time.Duration // of one reading

	allowed, online int     // processors: that this process may run on, and of the host
	quota           float64 // processors' time that its control groups allow; 0 for no limit
	governor, boost string  // boost is "on", "off", "" if it is not known

	loaded bool          // what follows is known
	busy   float64       // processors that others kept busy while the host was watched
	stolen float64       // share of the time that the hypervisor gave to others, now
	ever   float64       // the same, since the host was started
	late   time.Duration // by which the latest of this process's timers came

	loopback            error // why processes cannot reach each other by 127.0.0.1
	tcp, udp, multicast error // why a process cannot reach one at the address

	receive, send, asked int // bytes of a socket's buffers

	unwritable error         // of writing a file, where results are kept, that survives a power cut
	took       time.Duration // duration of that write
	free       uint64        // bytes
}

// Examine examines this host. It ends early, with fewer findings, when ctx does.
func Examine(ctx context.Context, o Options) []Finding {
	var r readings
	var wait sync.WaitGroup
	wait.Go(func() { r.tryNetwork(ctx, o.Listen) })
	facts := environment.Describe()
	r.watch(ctx)
	r.governor, r.boost = facts["governor"], environment.Boost()
	r.quota, _ = environment.CPUQuota()
	r.program, _ = environment.ThisProgram() // unknown facts are findings
	r.source, r.cost = cmp.Or(facts["clock_source"], "not known"), clock.Cost()
	r.limits = environment.HostLimits()
	if o.Results != "" {
		r.tryResults(o.Results)
	}
	wait.Wait()
	return r.judge(o)
}

// watch looks at the host for a second: what its clocks do, and how busy it is with
// other things than this process.
func (r *readings) watch(ctx context.Context) {
	const interval = time.Millisecond
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	begin, clocks, before, own := time.Now(), clock.Read(), environment.TimesOfProcessors(), environment.OwnTime()
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for last := begin; ctx.Err() == nil; {
		select {
		case <-ticker.C:
		case <-ctx.Done():
		}
		now := time.Now()
		r.late = max(r.late, now.Sub(last)-interval)
		last = now
	}
	r.kept, r.untold = clock.Disciplined()
	r.change = clocks.Until(clock.Read())
	after, took := environment.TimesOfProcessors(), time.Since(begin)
	r.allowed, r.online = runtime.NumCPU(), after.Processors
	load, known := after.Since(before)
	r.loaded, r.stolen, r.busy = known, load.Stolen, max(0, load.Busy-(environment.OwnTime()-own).Seconds()/took.Seconds())
	load, _ = after.Since(environment.ProcessorTimes{})
	r.ever = load.Stolen
}

// tryNetwork tries what runs will do, at the address where transports listen.
func (r *readings) tryNetwork(ctx context.Context, listen string) {
	r.loopback, _ = reachSelf(ctx, "127.0.0.1:0")
	r.tcp, r.udp = reachSelf(ctx, listen)
	r.multicast = udp.TryMulticast(listen, time.Now().Add(patience))
	r.receive, r.send, r.asked = udp.Granted(listen)
}

// reachSelf tries whether a process reaches another one on this host at an address.
func reachSelf(ctx context.Context, listen string) (tcp, udp error) {
	g, err := OpenGate(listen, "self", bytes.Repeat([]byte{1}, 32))
	if err != nil {
		return err, err
	}
	defer g.Close()
	return g.reachTCP(ctx, g.Doors(), 1, new(Path)), g.reachUDP(ctx, g.Doors(), 1, new(Path))
}

// tryResults tries to write where results will be kept: in the folder, or the nearest one
// above it that is there.
func (r *readings) tryResults(folder string) {
	for _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) && folder != filepath.Dir(folder); _, err = os.Stat(folder) {
		folder = filepath.Dir(folder)
	}
	begin := time.Now()
	if r.unwritable = fileio.Probe(folder); r.unwritable == nil {
		r.unwritable = fileio.SyncDir(folder)
	}
	r.took = time.Since(begin)
	if s := (unix.Statfs_t{}); unix.Statfs(folder, &s) == nil {
		r.free = uint64(s.Bavail) * uint64(s.Bsize)
	}
}
