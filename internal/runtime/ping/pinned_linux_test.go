package ping

import (
	"testing"

	"golang.org/x/sys/unix"

	"dmebench/internal/platform/environment"
)

func TestPinnedProcesses(t *testing.T) {
	allowed, err := environment.CPUs()
	if err != nil {
		t.Skip("processes cannot be pinned on this system")
	}
	t.Setenv("GOMAXPROCS", "") // a value that the user has set would win
	c := start(t, Setup{Network: "tcp", Side: Bare, Pin: true})
	if c.gomaxprocs != 1 {
		t.Errorf("GOMAXPROCS is %d on one processor", c.gomaxprocs)
	}
	for i, pid := range c.pids() {
		var set unix.CPUSet
		if err := unix.SchedGetaffinity(pid, &set); err != nil {
			t.Fatal(err)
		}
		if want := allowed[i%len(allowed)]; c.cpus[i] != want || set.Count() != 1 || !set.IsSet(want) {
			t.Errorf("process %d is to be on processor %d, is on %v", i, want, set)
		}
	}
	after, err := environment.CPUs()
	if err != nil || len(after) != len(allowed) {
		t.Errorf("this process may use %v afterwards, %v before (%v)", after, allowed, err)
	}
}
