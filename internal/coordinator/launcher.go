package coordinator

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"dmebench/internal/control"
	"dmebench/internal/sharedpage"
	"dmebench/internal/worker"
)

// Launcher starts worker processes. Where they run is its business alone: the
// rest of a run's life is the same for all.
type Launcher interface {
	// Launch starts one worker, which reads boot. procs is its GOMAXPROCS, 0
	// for the runtime's own choice.
	Launch(boot control.Boot, page *sharedpage.Page, procs int) (Process, error)
	// Listen is where the workers' transports listen.
	Listen() string
}

// Process is a worker process.
type Process interface {
	PID() int
	// Wait returns once the process has ended, with how it ended.
	Wait() error
	// Kill ends the process at once.
	Kill()
	// Stderr returns the first and last lines that the process has written to
	// its standard error.
	Stderr() []string
}

// Local starts workers on this host, as children of this process.
type Local struct {
	Program string // what to execute; "" for this very program
}

// Listen returns this host's loopback address and a free port.
func (Local) Listen() string { return "127.0.0.1:0" }

// Launch starts a worker as a child process.
func (l Local) Launch(boot control.Boot, page *sharedpage.Page, procs int) (Process, error) {
	program, name := l.Program, filepath.Base(l.Program)
	if program == "" {
		name = os.Args[0]
		var err error
		if program, err = os.Executable(); err != nil {
			return nil, fmt.Errorf("coordinator: cannot find this program to start workers from: %w", err)
		}
	}
	line, err := json.Marshal(boot)
	if err != nil {
		return nil, err
	}
	p := &localProcess{cmd: exec.Command(program, worker.Command)}
	p.cmd.Args[0] = name
	p.cmd.Stderr = &p.tail
	p.cmd.ExtraFiles = []*os.File{page.File()} // becomes descriptor 3
	// A group of its own: Ctrl-C at the terminal reaches the coordinator alone,
	// which then ends its workers in order.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if procs > 0 {
		p.cmd.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", procs))
	}
	// Standard input stays open for as long as this process lives: its end tells
	// the worker that the coordinator is gone, however it went.
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("coordinator: cannot start worker %d: %w", boot.Worker, err)
	}
	// A worker that is gone already cannot read; whoever waits for it learns why.
	_, _ = stdin.Write(append(line, '\n'))
	return p, nil
}

type localProcess struct {
	cmd  *exec.Cmd
	tail tail
}

func (p *localProcess) PID() int         { return p.cmd.Process.Pid }
func (p *localProcess) Wait() error      { return p.cmd.Wait() }
func (p *localProcess) Kill()            { _ = p.cmd.Process.Kill() }
func (p *localProcess) Stderr() []string { return p.tail.lines() }
