package rawio

import (
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Timer is a kernel timer. A goroutine that waits for it is parked in the network
// poller, whose wake-up has the resolution of the kernel, where Go's own timers
// are rounded to a millisecond once a process is idle, and are set again in the
// kernel each time that a process waits for its sockets.
type Timer struct {
	fd   int
	file *os.File
	raw  syscall.RawConn
	buf  [8]byte
	err  error // of the last read

	sets, reads Calls
	attempt     func(fd uintptr) bool // bound once: a method value taken for each read would be an allocation
}

func NewTimer() (*Timer, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	t := &Timer{fd: fd, file: os.NewFile(uintptr(fd), "timerfd")}
	if t.raw, err = t.file.SyscallConn(); err != nil {
		t.file.Close()
		return nil, err
	}
	t.attempt = t.read
	return t, nil
}

// Set makes Wait return after d, in place of what was set before. It is called by one
// goroutine at a time, and not after Close.
func (t *Timer) Set(d time.Duration) {
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(max(d, 1)))}
	// It cannot fail: the descriptor is a timer, and the time is one.
	if t.sets.Quick(0) {
		_, _, _ = unix.RawSyscall6(unix.SYS_TIMERFD_SETTIME, uintptr(t.fd), 0, uintptr(unsafe.Pointer(&spec)), 0, 0, 0)
	} else {
		_ = unix.TimerfdSettime(t.fd, 0, &spec, nil)
	}
}

// Wait blocks until the timer fires; false after Close. It is called by one goroutine at a
// time.
func (t *Timer) Wait() bool { return t.raw.Read(t.attempt) == nil && t.err == nil }

func (t *Timer) read(fd uintptr) bool {
	_, t.err = t.reads.Read(fd, t.buf[:])
	return t.err != unix.EAGAIN
}

func (t *Timer) Close() { t.file.Close() }
