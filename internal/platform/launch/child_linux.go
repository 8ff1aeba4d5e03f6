package launch

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

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

func stopped(pid int) bool { return isStopped(fmt.Sprintf("/proc/%d/stat", pid)) == nil }

var errRuns = errors.New("it runs")

func isStopped(stat string) error {
	b, err := os.ReadFile(stat)
	if err != nil {
		return err
	}
	// The name of the program, in brackets, may itself hold brackets and spaces.
	end := bytes.LastIndexByte(b, ')')
	if end < 0 || !bytes.HasPrefix(b[end+1:], []byte(" T")) {
		return errRuns
	}
	return nil
}

const stopBound = 5 * time.Second

// awaitStop returns once every thread of a process stands still that was sent the
// signal to stop.
func awaitStop(pid int, ended <-chan struct{}) error {
	for deadline := time.Now().Add(stopBound); ; {
		if allStopped(pid) {
			return nil
		}
		select {
		case <-ended:
			return errors.New("the process has ended")
		default:
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("process %d has not stopped for %v after the signal to", pid, stopBound)
		}
		runtime.Gosched()
	}
}

func allStopped(pid int) bool {
	dir := fmt.Sprintf("/proc/%d/task", pid)
	threads, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	for _, t := range threads {
		if isStopped(dir+"/"+t.Name()+"/stat") == errRuns {
			return false
		}
	}
	return len(threads) > 0
}
