package environment

import (
	"fmt"
	"math"
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
