package ping

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"dmebench/internal/exit"
	"dmebench/internal/launch"
	"dmebench/transport"
)

// Command is the hidden sub-command by which the program becomes a process of a
// measurement.
const Command = "ping-process"

// The protocol: a process is told an order and answers with a greeting; it takes
// the addresses of all, connects, and answers "ready". From then on it answers
// each question.

// order is what a process is told first.
type order struct {
	Setup
	Index int // of this process, from 0
	Key   [transport.KeySize]byte
}

type greeting struct {
	Address    string
	GOMAXPROCS int
}

const ready = "ready"

// question asks the first process to carry out a task, or any process how much
// processor time it has used.
type question struct{ Task *Task }

type answer struct {
	Values     Values
	CPUSeconds float64
	Error      string
}

var errNoOrder = errors.New("ping: this command is started by «dmebench ping», which says on its standard input what to do")

func (o *order) check() error {
	_, known := bareSides[o.Network]
	if !known || o.Processes < 2 || o.Index < 0 || o.Index >= o.Processes || o.Size < MinSize || o.Size > MaxSize {
		return errNoOrder
	}
	return nil
}

// peers returns the processes that this one sends to: the next in the ring, and
// of the first two each the other.
func (o *order) peers() []int {
	to := []int{(o.Index + 1) % o.Processes}
	if o.Index == 1 && o.Processes > 2 {
		to = append(to, 0)
	}
	return to
}

// Main is a process of a measurement. It does what it is asked until its
// standard input ends.
func Main(stdin io.Reader, stdout, stderr io.Writer) int {
	parent := launch.NewParent(stdin, stdout)
	var o order
	if err := parent.Receive(&o); err != nil || o.check() != nil {
		fmt.Fprintln(stderr, errNoOrder)
		return exit.Usage
	}
	p, err := newPeer(&o)
	if err == nil {
		defer p.end.close()
		err = p.join(parent)
	}
	if err == nil {
		err = p.serve(parent)
	}
	if err != nil && err != io.EOF {
		fmt.Fprintf(stderr, "ping: process %d: %v\n", o.Index, err)
		return exit.Unknown
	}
	return exit.Held
}

// join makes the process known to the others and connects it to them.
func (p *peer) join(parent *launch.Parent) error {
	if err := parent.Send(greeting{p.end.address(), runtime.GOMAXPROCS(0)}); err != nil {
		return err
	}
	var book []string
	if err := parent.Receive(&book); err != nil {
		return err
	}
	if len(book) != p.order.Processes {
		return fmt.Errorf("%d addresses of %d processes", len(book), p.order.Processes)
	}
	if err := p.end.start(book, p.order.peers()); err != nil {
		return err
	}
	return parent.Send(ready)
}

// serve answers questions until there are no more, also while a measurement is
// under way.
func (p *peer) serve(parent *launch.Parent) error {
	go func() {
		for {
			var q question
			if parent.Receive(&q) != nil {
				p.fail(io.EOF)
				return
			}
			go func() {
				if err := parent.Send(p.answer(q)); err != nil {
					p.fail(err)
				}
			}()
		}
	}()
	return <-p.failed
}

func (p *peer) answer(q question) answer {
	if q.Task == nil {
		return answer{CPUSeconds: processorTime().Seconds()}
	}
	v, err := p.measure(q.Task)
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{Values: v}
}

// processorTime returns the processor time that this process has used.
func processorTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		panic("ping: getrusage: " + err.Error()) // it cannot fail for the calling process
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
