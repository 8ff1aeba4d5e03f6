package udp

import (
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"
)

const canPin = true

// startPinned starts a process that runs on the first allowed processor only.
func startPinned(cmd *exec.Cmd) error {
	// A child process inherits the affinity of the thread that starts it. The
	// thread is not given back to the scheduler unless its own was restored.
	runtime.LockOSThread()
	var before, first unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return err
	}
	for cpu := 0; first.Count() == 0; cpu++ {
		if before.IsSet(cpu) {
			first.Set(cpu)
		}
	}
	if err := unix.SchedSetaffinity(0, &first); err != nil {
		return err
	}
	err := cmd.Start()
	if e := unix.SchedSetaffinity(0, &before); e != nil {
		return e
	}
	runtime.UnlockOSThread()
	return err
}
