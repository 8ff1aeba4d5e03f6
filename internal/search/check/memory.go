package check

import (
	"fmt"
	"math"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"dmebench/internal/platform/hugepages"
)

type Bytes int64

var byteUnits = []struct {
	name  string
	bytes Bytes
}{
	{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10},
	{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"B", 1},
}

// ParseBytes reads a number of bytes of at least 1, with its unit: 512MiB, 1.5 GB.
func ParseBytes(text string) (Bytes, error) {
	for _, u := range byteUnits {
		digits, ok := strings.CutSuffix(text, u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
		n *= float64(u.bytes)
		if err != nil || !(n >= 1 && n < math.MaxInt64) {
			break
		}
		return Bytes(n), nil
	}
	return 0, fmt.Errorf("%q is not a size of memory; write it like 512MiB or 8GiB", text)
}

func (b Bytes) String() string {
	for _, u := range byteUnits[:4] {
		if b >= u.bytes {
			return strconv.FormatFloat(float64(b)/float64(u.bytes), 'g', 4, 64) + " " + u.name
		}
	}
	return strconv.FormatInt(int64(b), 10) + " B"
}

// CollectBelow makes the garbage collector run early enough that a search which may hold that much
// takes hardly more, and else seldom, as a search makes little garbage: tables that it has outgrown,
// and schedules that are over. It is about the whole process. The function that it returns ends that;
// held is 0 if there is no bound.
func CollectBelow(held Bytes) (restore func()) {
	before, percent := debug.SetMemoryLimit(-1), debug.SetGCPercent(400)
	if limit := int64(held + held/8); held > 0 && limit < before {
		debug.SetMemoryLimit(limit)
	}
	return func() {
		debug.SetMemoryLimit(before)
		debug.SetGCPercent(percent)
	}
}

// account is how much memory a search holds, and may hold, garbage not counted.
type account struct {
	held  atomic.Int64
	limit Bytes // 0: any number
	spent atomic.Bool
}

// hold adds bytes to what is held, or takes them off, and reports whether they may be.
func (a *account) hold(bytes int) bool {
	if held := a.held.Add(int64(bytes)); bytes <= 0 || a.limit == 0 || held <= int64(a.limit) {
		return true
	}
	a.spent.Store(true)
	return false
}

// manyStates is from how many states on a search reserves memory.
const manyStates = 1 << 16

var reserved sync.Once

// reserve has what a search of many states still adds lie in huge pages: it is looked up at random.
func (s *Search) reserve(states uint64) {
	if states >= manyStates {
		reserved.Do(func() { hugepages.Reserve(int(min(s.Memory/4, 1<<30))) })
	}
}
