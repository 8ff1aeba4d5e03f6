package environment

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ProcessorTimes is what the processors of this host have done since its start, all of
// them together, in hundredths of a second. The zero value says that it is not known.
type ProcessorTimes struct {
	Busy, Stolen, All uint64
	Processors        int // that are online
}

// TimesOfProcessors returns what the processors have done so far.
func TimesOfProcessors() ProcessorTimes { return timesAt("/") }

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
