package commandline

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// signals returns a context that ends when the program is told to: by Ctrl-C, by
// whoever runs it, or because its terminal is closed. Under nohup the latter is
// to be ignored, and stays so.
//
// From then on output to a pipe that nobody reads any more is an error like any
// other. It would else end the program on the spot, before the result of a run
// is where it is to be kept.
func signals() (ctx context.Context, stop func()) {
	tell := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		tell = append(tell, syscall.SIGHUP)
	}
	ctx, end := signal.NotifyContext(context.Background(), tell...)
	// Not ignored: workers, which inherit that, are to end by it.
	unread := make(chan os.Signal, 1)
	signal.Notify(unread, syscall.SIGPIPE)
	return ctx, func() {
		signal.Stop(unread)
		end()
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
