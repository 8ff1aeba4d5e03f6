// Package launch starts processes of this very program, under a hidden sub-command, and ends them.
//
// A process reads JSON values from its standard input; the first is its configuration, which may
// hold secrets and so is never on a command line. It may answer with JSON values on its standard
// output. Once its standard input ends it has to leave: so it is dismissed, and so it notices that
// its parent is gone.
//
// [Local] starts processes on this host, as children. [Parent] is the other end. A process under
// test is the test binary itself: its TestMain asks [Is].
package launch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
)

type Command struct {
	Word       string // the hidden sub-command, the process's only argument
	Name       string // names it in errors: "worker 3"
	Config     any    // what it reads first, written as JSON
	GOMAXPROCS int    // 0 for the Go runtime's own choice
}

// Process is a process that was started. It is reaped as soon as it ends.
type Process interface {
	PID() int

	// Ended is closed once the process has been reaped. Outcome then says how it
	// ended: "exit status 2", "signal: killed".
	Ended() <-chan struct{}
	Outcome() string

	Kill()

	// Pause makes the process stand still, and returns once it does. An error says that the
	// process has ended.
	Pause() error
	Resume() error

	// Stopped reports whether a signal has stopped the process, as far as the system shows.
	Stopped() bool

	// Stderr returns the first and last lines of the process's standard error.
	Stderr() []string
}

const Misused = 64 // the exit status of such a process that was not started by this package

// Is reports whether a program with these arguments was started under that hidden sub-command.
func Is(args []string, word string) bool { return len(args) == 2 && args[1] == word }

// tail is an io.Writer that keeps the beginning and the end of what is written,
// and no more: a panic says what it is in its first line, a log in its last.
type tail struct {
	mu      sync.Mutex
	head    []byte
	end     []byte
	skipped int
}

const (
	headBytes = 2 << 10
	endBytes  = 4 << 10
)

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(b)
	if room := headBytes - len(t.head); room > 0 {
		k := min(room, len(b))
		t.head = append(t.head, b[:k]...)
		b = b[k:]
	}
	t.end = append(t.end, b...)
	if over := len(t.end) - endBytes; over > 0 {
		t.skipped += over
		t.end = append(t.end[:0], t.end[over:]...)
	}
	return n, nil
}

func (t *tail) lines() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := bytes.Clone(t.head)
	if t.skipped > 0 {
		text = fmt.Appendf(text, "\n… %d bytes left out …\n", t.skipped)
	}
	text = append(text, t.end...)
	if len(bytes.TrimSpace(text)) == 0 {
		return nil
	}
	return strings.Split(strings.TrimRight(string(text), "\n"), "\n")
}

// Parent is the process that has started this one, as seen from inside it.
type Parent struct {
	in  *json.Decoder
	out *json.Encoder
}

func NewParent(stdin io.Reader, stdout io.Writer) *Parent {
	return &Parent{json.NewDecoder(stdin), json.NewEncoder(stdout)}
}

// Receive decodes the next value that the parent has sent; io.EOF if it wants this process to
// leave, or is gone.
func (p *Parent) Receive(value any) error { return p.in.Decode(value) }

// Send is called by one goroutine at a time.
func (p *Parent) Send(value any) error { return p.out.Encode(value) }

// Wait returns when this process is to leave.
func (p *Parent) Wait() {
	for p.in.Decode(new(json.RawMessage)) == nil {
	}
}
