package link

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// timer is a kernel timer. A goroutine that waits for it is parked in the
// network poller, whose wake-up has the resolution of the kernel, where Go's
// own timers are rounded to a millisecond once a process is idle.
type timer struct {
	fd   int
	file *os.File
	buf  [8]byte
}

func newTimer() (*timer, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	return &timer{fd: fd, file: os.NewFile(uintptr(fd), "timerfd")}, nil
}

// set makes wait return after the duration d, above 0, in place of what was set
// before. It must not be called after close.
func (t *timer) set(d time.Duration) {
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(d))}
	// It cannot fail: the descriptor is a timer, and the time is one.
	_ = unix.TimerfdSettime(t.fd, 0, &spec, nil)
}

// wait blocks until the timer fires; false after close.
func (t *timer) wait() bool {
	_, err := t.file.Read(t.buf[:])
	return err == nil
}

func (t *timer) close() { t.file.Close() }
