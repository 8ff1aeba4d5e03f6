package alarm

import (
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"dmebench/transport/quick"
)

// timer is a kernel timer on CLOCK_MONOTONIC. A goroutine that waits for it is
// parked in the network poller, whose wake-up has the resolution of the kernel,
// where Go's own timers are rounded to a millisecond once a process is idle.
type timer struct {
	fd   int
	file *os.File
	raw  syscall.RawConn
	buf  [8]byte
	err  error // of the last read

	// Neither call blocks: neither is to wake Go's scheduler.
	sets, reads quick.Calls
	attempt     func(fd uintptr) bool // bound once: a method value taken for each read would be an allocation
}

func newTimer() (*timer, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	t := &timer{fd: fd, file: os.NewFile(uintptr(fd), "timerfd")}
	if t.raw, err = t.file.SyscallConn(); err != nil {
		t.file.Close()
		return nil, err
	}
	t.attempt = t.read
	return t, nil
}

// set makes wait return at the time at, in place of the time set before. It is
// called by one goroutine at a time.
func (t *timer) set(at int64) {
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(max(at, 1))}
	// It cannot fail: the descriptor is a timer, and the time is one.
	if t.sets.Quick(0) {
		_, _, _ = unix.RawSyscall6(unix.SYS_TIMERFD_SETTIME, uintptr(t.fd), unix.TFD_TIMER_ABSTIME, uintptr(unsafe.Pointer(&spec)), 0, 0, 0)
	} else {
		_ = unix.TimerfdSettime(t.fd, unix.TFD_TIMER_ABSTIME, &spec, nil)
	}
}

// wait blocks until the timer fires; false after close.
func (t *timer) wait() bool { return t.raw.Read(t.attempt) == nil && t.err == nil }

// read is called by RawConn, which waits for the timer when read returns false.
func (t *timer) read(fd uintptr) bool {
	_, t.err = t.reads.Read(fd, t.buf[:])
	return t.err != unix.EAGAIN
}

func (t *timer) close() { t.file.Close() }
