package launch

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

type Local struct {
	Program string     // what to execute; "" for this very program
	Files   []*os.File // inherited, as descriptors 3, 4, …
	CPUs    []int      // the only processors to run on; nil for any
	Answers bool       // what the process writes to its standard output is for [Child.Receive]
}

// Loopback is a free port of this host's loopback.
const Loopback = "127.0.0.1:0"

// Start starts a process and gives it its configuration.
func (l Local) Start(c Command) (*Child, error) {
	program, name := l.Program, filepath.Base(l.Program)
	if program == "" {
		name = os.Args[0]
		var err error
		if program, err = os.Executable(); err != nil {
			return nil, fmt.Errorf("cannot find this program to start %s from: %w", c.Name, err)
		}
	}
	p := &Child{name: c.Name, cmd: exec.Command(program, c.Word), ended: make(chan struct{}), dismissed: make(chan struct{})}
	p.cmd.Args[0] = name
	p.cmd.Stderr = &p.stderr
	p.cmd.ExtraFiles = l.Files
	// A group of its own: Ctrl-C at the terminal reaches this process alone,
	// which then ends the others in order.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if c.GOMAXPROCS > 0 {
		p.cmd.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", c.GOMAXPROCS))
	}
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	var stdout io.Reader
	if l.Answers {
		p.answers = make(chan json.RawMessage, 1)
		if stdout, err = p.cmd.StdoutPipe(); err != nil {
			return nil, err
		}
	}
	if l.CPUs != nil {
		err = startPinned(p.cmd, l.CPUs)
	} else {
		err = p.cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("cannot start %s: %w", c.Name, err)
	}
	go p.follow(stdout)
	p.Send(c.Config)
	return p, nil
}

type Child struct {
	name    string
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	answers chan json.RawMessage // closed when its standard output ends
	ended   chan struct{}
	stderr  tail

	dismiss   sync.Once
	dismissed chan struct{} // answers are not awaited any more
}

func (c *Child) follow(stdout io.Reader) {
	if stdout != nil {
		c.readAnswers(json.NewDecoder(stdout))
		_, _ = io.Copy(io.Discard, stdout)
	}
	_ = c.cmd.Wait() // what it says is in ProcessState
	close(c.ended)
}

func (c *Child) readAnswers(d *json.Decoder) {
	defer close(c.answers)
	for {
		var m json.RawMessage
		if d.Decode(&m) != nil {
			return
		}
		select {
		case c.answers <- m:
		case <-c.dismissed:
			return
		}
	}
}

// Send writes a value to the process. If it is gone, waiting for the answer fails.
func (c *Child) Send(value any) { _ = json.NewEncoder(c.stdin).Encode(value) }

// Receive decodes the process's next answer. It fails when the process ends
// before that, and with ctx's cause when ctx does.
func (c *Child) Receive(ctx context.Context, value any) error {
	select {
	case m, ok := <-c.answers:
		if !ok {
			return c.Death()
		}
		return json.Unmarshal(m, value)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Death waits for the process's end and describes it.
func (c *Child) Death() error {
	<-c.ended
	text := strings.Join(c.Stderr(), "\n")
	if text != "" {
		text = ": " + text
	}
	return fmt.Errorf("%s has ended: %s%s", c.name, c.Outcome(), text)
}

func (c *Child) Name() string { return c.name }

func (c *Child) PID() int { return c.cmd.Process.Pid }

func (c *Child) Ended() <-chan struct{} { return c.ended }

func (c *Child) Outcome() string { return c.cmd.ProcessState.String() }

func (c *Child) Stderr() []string { return c.stderr.lines() }

func (c *Child) Dismiss() {
	c.dismiss.Do(func() {
		close(c.dismissed)
		c.stdin.Close()
	})
}

func (c *Child) Kill() {
	_ = c.cmd.Process.Kill()
	c.Dismiss()
}

func (c *Child) Pause() error {
	if err := c.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return fmt.Errorf("%s cannot be paused: %w", c.name, err)
	}
	return awaitStop(c.PID(), c.ended)
}

func (c *Child) Resume() error {
	if err := c.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		return fmt.Errorf("%s cannot be resumed: %w", c.name, err)
	}
	return nil
}

func (c *Child) Stopped() bool { return stopped(c.PID()) }

// End dismisses processes, kills those that have not gone by the end of patience,
// and returns when all are gone.
func End(patience time.Duration, children ...*Child) {
	for _, c := range children {
		c.Dismiss()
	}
	timeout := time.After(patience)
	for _, c := range children {
		select {
		case <-c.ended:
			continue
		case <-timeout:
		}
		for _, c := range children {
			c.Kill()
		}
		<-c.ended
	}
}
