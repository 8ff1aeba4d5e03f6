package environment

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

type Limit struct {
	Left uint64 // [Unlimited] if nothing is known to bound it
	By   string // "available memory", "RLIMIT_NPROC", …; "" if it is unlimited
}

const Unlimited = math.MaxUint64

func (l Limit) String() string {
	if l.Left == Unlimited {
		return "no limit"
	}
	return fmt.Sprintf("%d (%s)", l.Left, l.By)
}

func (l *Limit) lower(left uint64, by string) {
	if left < l.Left {
		*l = Limit{left, by}
	}
}

// used lowers a limit to what is left of most.
func (l *Limit) used(most, there uint64, by string) {
	if most == Unlimited {
		return
	}
	l.lower(most-min(most, there), by)
}

// Limits is what this process and its children may still take of this host.
type Limits struct {
	Memory      Limit // bytes
	Threads     Limit // processes count, with one each at least
	Descriptors Limit // of one process
}

func HostLimits() Limits {
	l := limitsAt("/")
	memory := memoryLimit()
	l.Memory.lower(memory.Left, memory.By)
	return l
}

func unlimited() Limits {
	none := Limit{Left: Unlimited}
	return Limits{Memory: none, Threads: none, Descriptors: none}
}

// AvailableMemory returns how many bytes of memory this program may still take before the machine
// has none left, or it meets a limit: of its control groups, of its address space (ulimit -v), or
// of the Go runtime (GOMEMLIMIT). It is 0 if none is known.
func AvailableMemory() uint64 {
	l := memoryLimit()
	if l.Left == Unlimited {
		return 0
	}
	return l.Left
}

func memoryLimit() Limit {
	l := Limit{Left: Unlimited}
	note := func(by string, bytes uint64, known bool) {
		if known {
			l.lower(bytes, by)
		}
	}
	bytes, known := kibibytes("/proc/meminfo", "MemAvailable")
	note("available memory", bytes, known)
	bytes, known = leftOfAddressSpace()
	note("RLIMIT_AS", bytes, known)
	bytes, known = leftOfGroups("/")
	note("memory limit of the control group", bytes, known)
	if limit := debug.SetMemoryLimit(-1); limit < math.MaxInt64 {
		note("GOMEMLIMIT", uint64(limit), true)
	}
	return l
}

func kibibytes(file, name string) (bytes uint64, known bool) {
	n, err := strconv.ParseUint(strings.TrimSuffix(field(file, name, ":"), " kB"), 10, 64)
	return n << 10, err == nil
}

// AddressSpace is how many bytes of addresses a process may have (ulimit -v).
func AddressSpace() (bytes uint64, limited bool) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &limit); err != nil || uint64(limit.Cur) >= math.MaxInt64 {
		return 0, false
	}
	return uint64(limit.Cur), true
}

func leftOfAddressSpace() (bytes uint64, limited bool) {
	limit, limited := AddressSpace()
	taken, _ := kibibytes("/proc/self/status", "VmSize")
	return limit - min(limit, taken), limited
}

// ProcessorTimes is what the processors of this host have done since its start, in hundredths of a
// second; zero if that is not known.
type ProcessorTimes struct {
	Busy, Stolen, All uint64
	Processors        int // online
}

func TimesOfProcessors() ProcessorTimes { return timesAt("/") }

// OwnTime is the processor time of this process until now; 0 if that is not known.
func OwnTime() time.Duration {
	var u unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

type Load struct {
	Busy   float64 // processors
	Stolen float64 // share of the time that the hypervisor gave to others
}

// Since returns the load since an earlier reading.
func (t ProcessorTimes) Since(before ProcessorTimes) (l Load, known bool) {
	all := float64(t.All - before.All)
	if all == 0 {
		return l, false
	}
	return Load{float64(t.Busy-before.Busy) / all * float64(t.Processors), float64(t.Stolen-before.Stolen) / all}, true
}

func timesAt(root string) (t ProcessorTimes) {
	text, _ := os.ReadFile(filepath.Join(root, "proc/stat"))
	first, _, _ := strings.Cut(string(text), "\n")
	t.Processors = strings.Count(string(text), "\ncpu")
	fields := strings.Fields(first)
	if len(fields) < 9 || fields[0] != "cpu" {
		return ProcessorTimes{}
	}
	// user nice system idle iowait irq softirq steal; the time of guests is in user.
	for i, field := range fields[1:9] {
		n, err := strconv.ParseUint(field, 10, 64)
		if err != nil {
			return ProcessorTimes{}
		}
		t.All += n
		switch i {
		case 3, 4:
		case 7:
			t.Stolen = n
		default:
			t.Busy += n
		}
	}
	return t
}
