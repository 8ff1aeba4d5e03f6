package worker

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"dmebench/internal/platform/clock"
	"dmebench/internal/platform/launch"
	"dmebench/internal/runtime/control"
	"dmebench/internal/runtime/run"
)

// Command is the hidden sub-command by which the program becomes a worker.
const Command = "worker"

// pageDescriptor is the file descriptor under which a worker inherits the
// shared page: the first after the standard ones.
const pageDescriptor = 3

// Main is a worker process. It reads its Boot from stdin and returns when the
// coordinator says so (0), or when the coordinator is gone (1): workers never
// outlive the run that they belong to. One whose lease is over does not return: the
// process ends at once (1).
func Main(catalog run.Catalog, stdin io.Reader, stderr io.Writer) int {
	coordinator := launch.NewParent(stdin, io.Discard)
	var boot control.Boot
	if err := coordinator.Receive(&boot); err != nil {
		fmt.Fprintln(stderr, "worker: this command is started by a coordinator, which says on standard input where to report:", err)
		return launch.Misused
	}

	w := &worker{
		catalog: catalog, clock: clock.New(), memory: os.NewFile(pageDescriptor, "shared page"), control: boot.Broker,
		exec: boot.Exec, run: boot.Run,
	}
	joined := make(chan struct{})
	var member *control.Member
	var err error
	w.notify = func(e control.Event) {
		<-joined
		_ = member.Notify(e) // if that fails, the loss of the control plane ends the run
	}
	w.renew = func(ctx context.Context) (bool, error) {
		<-joined
		return member.Renew(ctx)
	}
	w.exit = func(why string) {
		time.AfterFunc(100*time.Millisecond, func() { os.Exit(1) }) // the reader of stderr may be stopped
		fmt.Fprintf(stderr, "worker %d: %s\n", boot.Worker, why)
		os.Exit(1)
	}
	member, err = control.Join(boot, w.answer)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	close(joined)
	defer member.Close()
	defer w.endGuests()
	defer w.closeClients()

	gone := make(chan struct{})
	go func() {
		coordinator.Wait()
		close(gone)
	}()
	select {
	case err := <-member.Ended():
		if err == nil {
			return 0
		}
		fmt.Fprintf(stderr, "worker %d: the control plane is gone: %v\n", boot.Worker, err)
	case <-gone:
	}
	return 1
}
