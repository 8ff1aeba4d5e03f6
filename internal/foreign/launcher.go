package foreign

import (
	"os/exec"
	"runtime"
)

// Launcher starts processes that end with the process that this is, in whatever way
// that ends. On Linux the kernel sees to it, but what it calls the parent is the
// thread that has started a process: the launcher has one for itself.
type Launcher struct {
	jobs chan func()
}

// NewLauncher returns a launcher.
func NewLauncher() *Launcher {
	l := &Launcher{jobs: make(chan func())}
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the launcher
		for job := range l.jobs {
			job()
		}
	}()
	return l
}

func (l *Launcher) start(cmd *exec.Cmd) (err error) {
	done := make(chan struct{})
	l.jobs <- func() {
		err = cmd.Start()
		close(done)
	}
	<-done
	return err
}

// Close ends the launcher, once the processes that it has started have ended.
func (l *Launcher) Close() { close(l.jobs) }
