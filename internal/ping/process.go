package ping

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
)

// process is a process of a measurement, as seen by who has started it.
type process struct {
	name    string
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	answers chan json.RawMessage // closed when its standard output ends
	ended   chan struct{}        // closed once it has been reaped
	err     error                // how it ended; set before ended is closed
	stderr  tail
}

// startProcess starts this program anew as a process that runs on the given
// processors only; on any where there are none. Once it has ended, it is sent
// to gone.
func startProcess(name string, cpus []int, gone chan<- *process) (*process, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("ping: cannot find this program to start processes from: %w", err)
	}
	p := &process{
		name: name, cmd: exec.Command(program, Command),
		answers: make(chan json.RawMessage, 1), ended: make(chan struct{}),
	}
	p.cmd.Args[0] = os.Args[0]
	p.cmd.Stderr = &p.stderr
	// A group of its own: Ctrl-C at the terminal reaches this process alone,
	// which then ends the others in order.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if len(cpus) > 0 {
		err = startPinned(p.cmd, cpus)
	} else {
		err = p.cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("ping: cannot start %s: %w", name, err)
	}
	go p.follow(stdout, gone)
	return p, nil
}

// follow reads what the process says until it ends, and reaps it.
func (p *process) follow(stdout io.Reader, gone chan<- *process) {
	for d := json.NewDecoder(stdout); ; {
		var m json.RawMessage
		if d.Decode(&m) != nil {
			break
		}
		p.answers <- m
	}
	close(p.answers)
	_, _ = io.Copy(io.Discard, stdout)
	p.err = p.cmd.Wait()
	close(p.ended)
	gone <- p
}

// tell writes a question. A process that is gone cannot read it; whoever waits
// for the answer learns why.
func (p *process) tell(question any) { _ = json.NewEncoder(p.stdin).Encode(question) }

// death says that the process has ended before its time.
func (p *process) death() error {
	<-p.ended
	err := p.err
	if err == nil {
		err = errors.New("it left")
	}
	if text := p.stderr.String(); text != "" {
		return fmt.Errorf("ping: %s has ended: %w: %s", p.name, err, text)
	}
	return fmt.Errorf("ping: %s has ended: %w", p.name, err)
}

// tail keeps the end of what a process has written to its standard error.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const tailBytes = 2 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	if over := len(t.text) - tailBytes; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ToValidUTF8(string(bytes.TrimSpace(t.text)), "?")
}
