package testbed

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// A testbed is named after the process whose test made it: by its number, and by
// when it was started, because numbers come again.
const prefix = "dmebench-test"

var named = regexp.MustCompile(`^(` + prefix + `-([0-9]+)-([0-9]+)-[0-9]+)-switch$`)

// own is what the names of this process's testbeds begin with.
func own() string {
	pid := fmt.Sprint(os.Getpid())
	return fmt.Sprintf("%s-%s-%s", prefix, pid, started(pid))
}

// started returns when a process was started, in the kernel's ticks; "" if there is
// none of that number.
func started(pid string) string {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return ""
	}
	// The second field is the program's name, which may hold anything.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	return fields[19]
}

// removeLeftovers removes testbeds whose process is gone: it was killed before it
// could.
func (s script) removeLeftovers(t testing.TB) {
	t.Helper()
	there, err := os.ReadDir(netns)
	if err != nil {
		return // nobody has made a namespace yet
	}
	for _, e := range there {
		if m := named.FindStringSubmatch(e.Name()); m != nil && started(m[2]) != m[3] {
			// Another package's test may be removing it just now: who fails has lost
			// the race, or the testbed stays, and disturbs nobody.
			t.Logf("removing %s, which a killed test left behind: %v", m[1], s.try(m[1], "down", "--kill"))
		}
	}
}
