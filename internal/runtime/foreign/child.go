package foreign

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"dmebench/dme"
)

// Host is what a node lives in: it has the node's lock, counters and network.
type Host interface {
	// Do runs something as one event of the node: nothing else of the node runs
	// meanwhile. Enter, Unasked and Send are called from inside such an event.
	Do(event func())
	// Enter lets the local process into the critical section.
	Enter(stamp dme.Stamp)
	// Unasked counts an entry without a request.
	Unasked()
	// Send sends a message of the kind to another node. body is valid during the call.
	Send(to dme.NodeID, kind string, body []byte)

	// Handled counts a message that the node has been given. Busy says whether the
	// node may still do something. Neither may wait for an event of the node.
	Handled(kind []byte)
	Busy(busy bool)
	// Fail ends the run. It does not wait.
	Fail(err error)
}

// Config says what to start.
type Config struct {
	Command string
	Run     string // names the run, as no other is named
	ID      dme.NodeID
	Nodes   int
	Settle  time.Duration // for how long a node that has nothing to do is silent
	Answer  time.Duration // how long a node may take to answer release
	Stderr  io.Writer     // gets the lines of the process's standard error, each with the node's name before it
}

// maxWaiting bounds what waits for the process to read it, in bytes.
const maxWaiting = 64 << 20

// Child is the process of a node, and the client that asks it.
type Child struct {
	Config
	host Host
	name string // for errors: "node 3 (./node.py)"
	cmd  *exec.Cmd
	in   pipe // its standard input, written here
	out  pipe // its standard output, read here

	calls                 // guarded by the host's events
	ready   chan struct{} // closed once it has answered init
	begun   chan struct{} // closed once it may be heard
	beginIt sync.Once

	mu      sync.Mutex
	queue   []item // waits to be written, the first of it perhaps in part
	waiting int    // bytes in it
	wake    *sync.Cond
	quiet   // whether it is idle
	closed  bool
	failed  bool

	reaping sync.Mutex
	reaped  bool
	over    chan struct{} // closed once it has been reaped
	drained chan struct{} // what it wrote has been read
	ended   chan struct{} // all that is known about its end has been reported
}

type pipe struct {
	file *os.File
	raw  syscall.RawConn
}

func newPipe(f *os.File) pipe {
	raw, _ := f.SyscallConn() // fails only without a file
	return pipe{f, raw}
}

// item is a line that waits to be written.
type item struct {
	rest []byte
	kind []byte // of a message; nil for a call of the client
}

// Start starts the process of a node and sends it its number. The launcher must live longer than
// the process. Its messages to other nodes before [Child.Begin] are ignored.
func Start(l *Launcher, c Config, h Host) (*Child, error) {
	args, err := Split(c.Command)
	if err != nil {
		return nil, err
	}
	x := &Child{
		Config: c, host: h, name: fmt.Sprintf("node %d (%s)", c.ID, c.Command), cmd: exec.Command(args[0], args[1:]...),
		ready: make(chan struct{}), begun: make(chan struct{}), over: make(chan struct{}),
		drained: make(chan struct{}), ended: make(chan struct{}),
	}
	x.wake = sync.NewCond(&x.mu)
	// Output can be read after the process has ended, so the pipes are not those that Wait closes.
	stdin, err1 := x.cmd.StdinPipe()
	stdout, theirStdout, err2 := os.Pipe()
	stderr, theirStderr, err3 := os.Pipe()
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, fmt.Errorf("%s cannot be started: %w", x.name, err)
	}
	defer theirStdout.Close()
	defer theirStderr.Close()
	x.in, x.out = newPipe(stdin.(*os.File)), newPipe(stdout)
	x.cmd.Stdout, x.cmd.Stderr = theirStdout, theirStderr
	x.cmd.SysProcAttr = attributes()
	x.cmd.Env = append(os.Environ(), x.mark())
	if err := l.start(x.cmd); err != nil {
		stdout.Close()
		stderr.Close()
		return nil, fmt.Errorf("%s cannot be started: %w%s", x.name, err, startAdvice(err))
	}
	x.mu.Lock() // a look that comes at once waits for the timer that it sets
	x.timer = time.AfterFunc(x.Settle, x.look)
	x.overdue = time.AfterFunc(x.Answer, x.remind)
	x.overdue.Stop()
	x.mu.Unlock()
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		copyLines(x.Stderr, nodeName(x.ID)+": ", stderr)
	}()
	x.greet()
	go x.write()
	go x.read()
	go x.await(copied)
	return x, nil
}

func startAdvice(err error) string {
	switch {
	case errors.Is(err, syscall.ENOEXEC):
		return "; does the script begin with #! and its interpreter?"
	case errors.Is(err, os.ErrNotExist):
		return "; does the interpreter in its first line exist?"
	}
	return ""
}

func (c *Child) Ready() <-chan struct{} { return c.ready }

func (c *Child) Ended() <-chan struct{} { return c.ended }

func (c *Child) PID() int { return c.cmd.Process.Pid }

func (c *Child) Begin() { c.beginIt.Do(func() { close(c.begun) }) }

func (c *Child) fail(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failHeld(fmt.Sprintf(format, args...))
}

// failHeld is fail with the lock held.
func (c *Child) failHeld(what string) {
	if !c.failed && !c.closed {
		c.failed = true
		c.host.Fail(errors.New(c.name + " " + what))
	}
}

// graceAfterEnd is how long the last words of a process that has ended are awaited: another process
// may have its pipes.
const graceAfterEnd = time.Second

// await reaps the process, ends all that it has started, and fails the run if it was not dismissed.
func (c *Child) await(copied <-chan struct{}) {
	c.reap()
	close(c.over)
	endMarked(c.mark() + "\x00")
	for _, done := range []<-chan struct{}{copied, c.drained} {
		select {
		case <-done:
		case <-time.After(graceAfterEnd):
		}
	}
	c.fail("ended: %s%s", c.cmd.ProcessState, c.lastWords())
	close(c.ended)
	c.out.file.Close()
}

// outlives fails the run for what the process has done, unless it ends, which says more.
func (c *Child) outlives(what string) {
	select {
	case <-c.over:
	case <-time.After(graceAfterEnd):
		c.fail("%s, and goes on%s", what, c.lastWords())
	}
}

// markName is the variable in the environment by which everything is found that a node
// has started, also what has left its group and its session.
const markName = "DMEBENCH_NODE"

func (c *Child) mark() string { return markName + "=" + c.Run + "/" + nodeName(c.ID) }

// EndStrays kills processes that a run's nodes have started and left behind, on systems that list
// them.
func EndStrays(run string) { endMarked(markName + "=" + run + "/") }

func (c *Child) killGroup() { _ = syscall.Kill(-c.PID(), syscall.SIGKILL) }

const endTimeout = 5 * time.Second

// Close kills the process and everything that it has started, and returns when it
// is gone.
func (c *Child) Close() {
	c.mu.Lock()
	c.closed = true
	c.timer.Stop()
	c.overdue.Stop()
	c.wake.Broadcast()
	c.mu.Unlock()
	c.Begin()
	c.reaping.Lock()
	if !c.reaped {
		c.killGroup()
	}
	c.reaping.Unlock()
	c.in.file.Close()
	timeout := time.After(endTimeout)
	for _, done := range []<-chan struct{}{c.ended, c.drained} {
		select {
		case <-done:
		case <-timeout:
			return
		}
	}
}

// copyLines copies lines, each with a prefix, and those that are long in pieces.
func copyLines(w io.Writer, prefix string, r io.ReadCloser) {
	defer r.Close()
	lines := bufio.NewReader(r)
	for {
		line, _, err := lines.ReadLine()
		if err != nil {
			return
		}
		fmt.Fprintf(w, "%s%s\n", prefix, line)
	}
}
