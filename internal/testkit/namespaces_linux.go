package testkit

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// impossible says why there can be no hosts here; "" if there can.
var impossible = sync.OnceValue(func() string {
	if os.Geteuid() != 0 {
		return "making namespaces needs root"
	}
	for _, tool := range []string{"bash", "ip", "nsenter", "unshare"} {
		if _, err := exec.LookPath(tool); err != nil {
			return fmt.Sprintf("%v (on Debian it is in iproute2 or util-linux)", err)
		}
	}
	// In a container, root may not be permitted to.
	if err := onThread(func() error { return unix.Unshare(unix.CLONE_NEWNET | unix.CLONE_NEWUTS) }); err != nil {
		return fmt.Sprintf("namespaces are not permitted: %v", err)
	}
	return ""
})

// clockAhead makes a time namespace, which lives as long as it is open or has a process.
func clockAhead(d time.Duration) (*os.File, error) {
	// The kernel wants nanoseconds of 0 to 999,999,999, also after negative seconds.
	seconds, rest := d/time.Second, d%time.Second
	if rest < 0 {
		seconds, rest = seconds-1, rest+time.Second
	}
	offsets := fmt.Sprintf("monotonic %d %d\nboottime %d %d\n", seconds, rest, seconds, rest)
	var file *os.File
	err := onThread(func() error {
		if err := unix.Unshare(unix.CLONE_NEWTIME); err != nil {
			return fmt.Errorf("unshare: %w", err)
		}
		thread := fmt.Sprintf("/proc/%d", unix.Gettid())
		// Possible only while no process has entered it.
		if err := os.WriteFile(thread+"/timens_offsets", []byte(offsets), 0o644); err != nil {
			return err
		}
		var err error
		file, err = os.Open(thread + "/ns/time_for_children")
		return err
	})
	return file, err
}

// onThread calls f on a thread of its own, which ends with all that f changes of it.
func onThread(f func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		done <- f()
	}()
	return <-done
}
