package lockserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"dmebench/dme"
	"dmebench/internal/platform/launch"
	"dmebench/internal/runtime/run"
	"dmebench/lock"
)

// Command is the hidden sub-command by which the program becomes a server.
const Command = "lock-server"

// Main is the process of a server. It returns when it is dismissed or its parent is gone; then
// nothing is left of the server.
func Main(catalog run.Catalog, stdin io.Reader, stdout, stderr io.Writer) int {
	// The reader of its output may be gone first: writing to it must not end this process.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	parent := launch.NewParent(stdin, stdout)
	var b boot
	if err := parent.Receive(&b); err != nil {
		fmt.Fprintln(stderr, "lock-server: this command is started by a coordinator:", err)
		return launch.Misused
	}
	var answer sync.Once
	tell := func(why string) { answer.Do(func() { _ = parent.Send(ready{why}) }) }
	ctx, end := context.WithCancel(context.Background())
	defer end()
	at := newGate(os.Getpid())
	go func() {
		defer end()
		for {
			var c cut
			if parent.Receive(&c) != nil {
				return
			}
			at.set(c)
		}
	}()
	err := serve(ctx, catalog, b, at, func() { tell("") })
	if ctx.Err() != nil {
		b.clean()
		return 0
	}
	if err == nil {
		err = fmt.Errorf("the server has ended")
	}
	tell(err.Error())
	fmt.Fprintln(stderr, err)
	return 1
}

// clean removes what is left of servers that have ended, and returns when the folder of the
// run is gone, or this one has waited long enough for the others.
func (b *boot) clean() {
	for deadline := time.Now().Add(endTimeout); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		for i, at := range b.All {
			conn, err := net.Dial("tcp", at.Client)
			if err == nil {
				conn.Close() // it has not ended yet, and may still write
			} else {
				_ = os.RemoveAll(filepath.Join(b.Home, strconv.Itoa(i)))
			}
		}
		if err := os.Remove(b.Home); err == nil || errors.Is(err, os.ErrNotExist) {
			return
		}
	}
}

func serve(ctx context.Context, catalog run.Catalog, b boot, at *gate, ready func()) error {
	p, err := system(catalog, b)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(b.Dir, 0o700); err != nil {
		return err
	}
	for _, r := range b.Relays {
		if err := r.start(ctx, at); err != nil {
			return err
		}
	}
	return p.Serve(ctx, lock.Server{Options: b.Options, Index: b.Index, All: b.All, Dir: b.Dir, Ready: ready})
}

func system(catalog run.Catalog, b boot) (*lock.Prepared, error) {
	a, err := catalog.Runnable(b.System)
	if err != nil {
		return nil, err
	}
	s, err := a.Prepare(dme.Config{Options: b.Options})
	if err != nil {
		return nil, err
	}
	p, ok := s.(*lock.Prepared)
	if !ok {
		return nil, fmt.Errorf("lock-server: %s is no lock service; are coordinator and server of one build?", b.System)
	}
	return p, nil
}
