// Package program runs a server that is a program of its own.
package program

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

// grace is how long a program may take to end in order.
const grace = 2 * time.Second

// Run runs a program until ctx ends or it does. On Linux it never outlives this process.
// ready is called once answers says that the program answers.
func Run(ctx context.Context, cmd *exec.Cmd, end os.Signal, answers func(context.Context) error, ready func()) error {
	// The kernel takes the thread that has started the program for the parent.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = new(syscall.SysProcAttr)
	}
	endWithParent(cmd.SysProcAttr)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	go func() {
		for ctx.Err() == nil {
			if answers(ctx) == nil {
				ready()
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	select {
	case err := <-ended:
		return fmt.Errorf("%s has ended: %v: %s", cmd.Path, err, bytes.TrimSpace(output.Bytes()))
	case <-ctx.Done():
	}
	_ = cmd.Process.Signal(end)
	select {
	case <-ended:
	case <-time.After(grace):
		_ = cmd.Process.Kill()
		<-ended
	}
	return nil
}

// As has a command run as a user, if this process may do so and is root, for a program that refuses
// to. The folder becomes the user's.
func As(name, dir string, cmd *exec.Cmd) error {
	if os.Getuid() != 0 {
		return nil
	}
	u, err := user.Lookup(name)
	if err != nil {
		return err
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	cmd.Dir = dir
	return os.Chown(dir, uid, gid)
}
