package servers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"dmebench/internal/platform/launch"
)

// word is the hidden sub-command by which the program becomes a server.
const word = "lock-server"

// Main makes this process a server of one of the systems and exits, if it was started as one; it
// returns if not.
func Main(systems []*System) {
	if launch.Is(os.Args, word) {
		os.Exit(process(systems, os.Stdin, os.Stdout, os.Stderr))
	}
}

// process is the process of a server. It returns when it is dismissed or its parent is gone; then
// nothing is left of the server.
func process(systems []*System, stdin io.Reader, stdout, stderr io.Writer) int {
	// The reader of its output may be gone first: writing to it must not end this process.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	parent := launch.NewParent(stdin, stdout)
	var b boot
	if err := parent.Receive(&b); err != nil {
		fmt.Fprintln(stderr, "lock-server: this command is started by a coordinator:", err)
		return launch.Misused
	}
	var answer sync.Once
	reply := func(why string) { answer.Do(func() { _ = parent.Send(ready{why}) }) }
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
	err := serve(ctx, systems, b, at, func() { reply("") })
	if ctx.Err() != nil {
		b.clean()
		return 0
	}
	if err == nil {
		err = fmt.Errorf("the server has ended")
	}
	reply(err.Error())
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
				conn.Close() // still running, and may still write
			} else {
				_ = os.RemoveAll(filepath.Join(b.Home, strconv.Itoa(i)))
			}
		}
		if err := os.Remove(b.Home); err == nil || errors.Is(err, os.ErrNotExist) {
			return
		}
	}
}

func serve(ctx context.Context, systems []*System, b boot, at *gate, ready func()) error {
	k := slices.IndexFunc(systems, func(s *System) bool { return s.Name == b.System })
	if k < 0 {
		return fmt.Errorf("%s: there is no service %s; are coordinator and server of one build?", word, b.System)
	}
	if err := os.MkdirAll(b.Dir, 0o700); err != nil {
		return err
	}
	for _, r := range b.Relays {
		if err := r.start(ctx, at); err != nil {
			return err
		}
	}
	return systems[k].Serve(ctx, Server{Options: b.Options, Index: b.Index, All: b.All, Dir: b.Dir, Ready: ready})
}
