package environment

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Limit is how much more of something there may be, and what says so.
type Limit struct {
	Left uint64 // [Unlimited] where nothing is known to bound it
	By   string // "available memory", "RLIMIT_NPROC", …; "" where it is unlimited
}

// Unlimited is what is left where nothing bounds it.
const Unlimited = math.MaxUint64

func (l Limit) String() string {
	if l.Left == Unlimited {
		return "no limit"
	}
	return fmt.Sprintf("%d (%s)", l.Left, l.By)
}

// lower keeps the lower one of two limits.
func (l *Limit) lower(left uint64, by string) {
	if left < l.Left {
		*l = Limit{left, by}
	}
}

// used lowers a limit to what is left of most, of which there are that many.
func (l *Limit) used(most, there uint64, by string) {
	if most == Unlimited {
		return
	}
	l.lower(most-min(most, there), by)
}

// Limits is what this process and its children may still take of this host, as
// far as it can be told: by resource limits, by control groups, and by what the
// host has.
type Limits struct {
	Memory      Limit // bytes
	Threads     Limit // and processes, of which each has one at least
	Descriptors Limit // of one process
}

// HostLimits returns what is left on this host now.
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

// AvailableMemory returns how many bytes of memory this program may still take
// before the machine has none left, or the program meets a limit: of its
// control groups, of its address space (ulimit -v), or of the Go runtime
// (GOMEMLIMIT). It returns 0 where none of these is known.
func AvailableMemory() uint64 {
	l := memoryLimit()
	if l.Left == Unlimited {
		return 0
	}
	return l.Left
}

// memoryLimit is AvailableMemory with what bounds it.
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
	bytes, known = leftOfGroups("/proc/self/cgroup", "/sys/fs/cgroup")
	note("memory limit of the control group", bytes, known)
	if limit := debug.SetMemoryLimit(-1); limit < math.MaxInt64 {
		note("GOMEMLIMIT", uint64(limit), true)
	}
	return l
}

// kibibytes returns the value of a 'name : value kB' line of a file, in bytes.
func kibibytes(file, name string) (bytes uint64, known bool) {
	n, err := strconv.ParseUint(strings.TrimSuffix(field(file, name), " kB"), 10, 64)
	return n << 10, err == nil
}

// AddressSpace returns how many bytes of addresses a process may have (ulimit -v).
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

// groupFiles says where a version of control groups keeps what.
type groupFiles struct{ folder, limit, taken, files string }

var (
	groupsV1 = groupFiles{"memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"}
	groupsV2 = groupFiles{"", "memory.max", "memory.current", "inactive_file"}
)

// leftOfGroups returns what the control groups leave that a file like
// /proc/self/cgroup names, the innermost and those around it. What the system
// keeps of files does not count as taken.
func leftOfGroups(membership, root string) (bytes uint64, limited bool) {
	text, err := os.ReadFile(membership)
	if err != nil {
		return 0, false
	}
	bytes = math.MaxUint64
	for line := range strings.Lines(string(text)) {
		part := strings.SplitN(strings.TrimSpace(line), ":", 3) // number, controllers, group
		if len(part) < 3 {
			continue
		}
		files := groupsV2
		if part[1] != "" {
			files = groupsV1
			if !slices.Contains(strings.Split(part[1], ","), "memory") {
				continue
			}
		}
		for group := filepath.Join("/", part[2]); ; group = filepath.Dir(group) {
			if left, ok := leftOfGroup(filepath.Join(root, files.folder, group), files); ok {
				bytes, limited = min(bytes, left), true
			}
			if group == "/" {
				break
			}
		}
	}
	return bytes, limited
}

func leftOfGroup(dir string, files groupFiles) (bytes uint64, limited bool) {
	const unlimited = 1 << 62 // version 1 writes a number near 2⁶³
	limit, err := strconv.ParseUint(firstFields(filepath.Join(dir, files.limit), 1), 10, 64)
	if err != nil || limit >= unlimited {
		return 0, false
	}
	taken, _ := strconv.ParseUint(firstFields(filepath.Join(dir, files.taken), 1), 10, 64)
	taken -= min(taken, statistic(filepath.Join(dir, "memory.stat"), files.files))
	return limit - min(limit, taken), true
}

// statistic returns the value of a 'name value' line of a file, 0 if it has none.
func statistic(file, name string) uint64 {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), " "); ok && key == name {
			n, _ := strconv.ParseUint(value, 10, 64)
			return n
		}
	}
	return 0
}
