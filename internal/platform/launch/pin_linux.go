package launch

import (
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"
)

// startPinned starts a process that runs on the given processors only.
func startPinned(cmd *exec.Cmd, cpus []int) error {
	// A child process inherits the affinity of the thread that starts it. The
	// thread is not given back to the scheduler unless its own was restored.
	runtime.LockOSThread()
	var before, wanted unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return err
	}
	for _, cpu := range cpus {
		wanted.Set(cpu)
	}
	if err := unix.SchedSetaffinity(0, &wanted); err != nil {
		return err
	}
	err := cmd.Start()
	if e := unix.SchedSetaffinity(0, &before); e != nil {
		return e
	}
	runtime.UnlockOSThread()
	return err
}
