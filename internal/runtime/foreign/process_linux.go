package foreign

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// attributes has a process lead a group of its own, with which it is killed, and
// end with the one that started it.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// reap waits for the end of the process, ends everything that it has started, and
// takes its number out of use, in this order: the number cannot be another's before.
func (c *Child) reap() {
	for unix.Waitid(unix.P_PID, c.PID(), nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
	c.reaping.Lock()
	defer c.reaping.Unlock()
	c.killGroup()
	_ = c.cmd.Wait() // what it says is in ProcessState
	c.reaped = true
}

// endMarked kills all processes in whose environment the mark stands, and returns once
// there are none. One that was started without the environment of its parent is not found.
func endMarked(mark string) {
	for deadline := time.Now().Add(endTimeout); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		found := false
		all, _ := filepath.Glob("/proc/[0-9]*/environ")
		for _, file := range all {
			b, _ := os.ReadFile(file)
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil && bytes.Contains(b, []byte(mark)) {
				found = true
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		if !found {
			return
		}
	}
}

// rests reports whether both pipes are empty and every thread of the process waits
// for something.
func (c *Child) rests() bool {
	return empty(c.in) && empty(c.out) && asleep(c.PID())
}

func empty(p pipe) bool {
	n := 0
	err := p.raw.Control(func(fd uintptr) { n, _ = unix.IoctlGetInt(int(fd), unix.TIOCINQ) })
	return err != nil || n == 0
}

// asleep reports whether no thread of a process runs, is about to, or waits for a
// disk. A process that cannot be looked at is taken to be.
func asleep(pid int) bool {
	stats, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	for _, stat := range stats {
		b, err := os.ReadFile(stat)
		if err != nil {
			continue // the thread has ended
		}
		// The name of the program, in brackets, may itself hold brackets and spaces.
		state := b[bytes.LastIndexByte(b, ')')+1:]
		if bytes.HasPrefix(state, []byte(" R")) || bytes.HasPrefix(state, []byte(" D")) {
			return false
		}
	}
	return true
}
