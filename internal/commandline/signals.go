package commandline

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"dmebench/internal/interrupt"
)

// signals returns a context that ends when the program is told to: by Ctrl-C, by
// whoever runs it, or because its terminal is closed. Under nohup the latter is
// to be ignored, and stays so.
//
// Where it is told by Ctrl-C, or by whoever runs it, once more, the context knows that
// the user insists (package interrupt).
//
// From the first on output to a pipe that nobody reads any more is an error like any
// other. It would else end the program on the spot, before the result of a run
// is where it is to be kept.
func signals() (ctx context.Context, stop func()) {
	tell := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		tell = append(tell, syscall.SIGHUP)
	}
	insisted := make(chan struct{})
	ctx, end := signal.NotifyContext(interrupt.WithInsistence(context.Background(), insisted), tell...)
	told := make(chan os.Signal, 2)
	signal.Notify(told, os.Interrupt, syscall.SIGTERM) // a terminal that is closed may say so twice
	go notice(told, insisted)
	// Not ignored: workers, which inherit that, are to end by it.
	unread := make(chan os.Signal, 1)
	signal.Notify(unread, syscall.SIGPIPE)
	return ctx, func() {
		signal.Stop(unread)
		signal.Stop(told)
		close(told) // nobody sends to it any more
		end()
	}
}

// apart is by how much the user's two signals differ in time at least. Programs such as
// timeout send the same one to a process and to its group.
const apart = 250 * time.Millisecond

// notice closes insisted when a signal comes later than the first by so much.
func notice(told <-chan os.Signal, insisted chan<- struct{}) {
	if _, more := <-told; !more {
		return
	}
	first := time.Now()
	for range told {
		if time.Since(first) >= apart {
			close(insisted)
			return
		}
	}
}

// output is standard output, and whether anybody reads it.
type output struct {
	io.Writer
	unread bool // it is a pipe, and its other end is closed
}

func (o *output) Write(b []byte) (int, error) {
	n, err := o.Writer.Write(b)
	if errors.Is(err, syscall.EPIPE) {
		o.unread = true
	}
	return n, err
}
