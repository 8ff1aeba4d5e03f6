package udp

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// timer is a kernel timer. It is set a hundred times a second at most, where a
// timer of Go's would be set anew in the kernel each time that the process waits
// for a datagram: that costs a single token a tenth of its speed.
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
