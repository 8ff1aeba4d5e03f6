//go:build !linux

package foreign

import "syscall"

// attributes has a process lead a group of its own, with which it is killed. That it
// ends with the one that started it is left to the end of its standard input.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func (c *Child) reap() {
	_ = c.cmd.Wait() // what it says is in ProcessState
	c.reaping.Lock()
	defer c.reaping.Unlock()
	c.killGroup()
	c.reaped = true
}

// endMarked does nothing: the system does not tell the environments of processes. What
// has left the group of its parent goes on.
func endMarked(string) {}

func (c *Child) rests() bool { return true }
