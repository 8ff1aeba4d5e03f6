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

// order is what a process is told first; it answers with its address. From then
// on it answers each question.
type order struct {
	Setup
	Index int // of this process, from 0
	Key   [transport.KeySize]byte
}

// question asks a process to connect to the others, or the first process to
// carry out a task, or any process how much processor time it has used.
type question struct {
	Book []string // the addresses of all
	Task *Task
}

// answer has what was asked for.
type answer struct {
	Address    string
	GOMAXPROCS int
	Values     Values
	CPUSeconds float64
	Error      string
}

var errNoOrder = errors.New("ping: this command is started by 'dmebench ping', which says on its standard input what to do")

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
		err = p.serve(parent)
	}
	if err != nil {
		fmt.Fprintf(stderr, "ping: process %d: %v\n", o.Index, err)
		return exit.Unknown
	}
	return exit.Held
}

// serve answers questions until there are no more, also while a measurement is
// under way.
func (p *peer) serve(parent *launch.Parent) error {
	tell := func(a answer) {
		if err := parent.Send(a); err != nil {
			p.stop(err)
		}
	}
	tell(answer{Address: p.end.address(), GOMAXPROCS: runtime.GOMAXPROCS(0)})
	go func() {
		for {
			var q question
			if parent.Receive(&q) != nil {
				p.stop(nil)
				return
			}
			go func() { tell(p.answer(q)) }()
		}
	}()
	return <-p.stopped
}

func (p *peer) answer(q question) (a answer) {
	var err error
	switch {
	case q.Book != nil:
		err = p.end.start(q.Book, p.order.peers())
	case q.Task != nil:
		a.Values, err = p.measure(q.Task)
	default:
		a.CPUSeconds = processorTime().Seconds()
	}
	if err != nil {
		a.Error = err.Error()
	}
	return a
}

// processorTime returns the processor time that this process has used.
func processorTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		panic("ping: getrusage: " + err.Error()) // it cannot fail for the calling process
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
