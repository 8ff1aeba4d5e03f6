package experiment

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"dmebench/internal/runtime/run"
	"dmebench/runs"
)

// TestNoRoomLeft runs a sweep in a process whose files may not grow beyond a
// few kilobytes: like a full disk, and without root, a result's write stops in
// the middle.
func TestNoRoomLeft(t *testing.T) {
	const place = "DMEBENCH_TEST_NO_ROOM"
	if out := os.Getenv(place); out != "" {
		sweepWithoutRoom(t, out)
		return
	}
	out := t.TempDir()
	child := exec.Command(os.Args[0], "-test.run=^TestNoRoomLeft$", "-test.v")
	child.Env = append(os.Environ(), place+"="+out)
	text, err := child.CombinedOutput()
	if err != nil || !strings.Contains(string(text), "--- PASS: TestNoRoomLeft") {
		t.Fatalf("%v\n%s", err, text)
	}
	wantNoTemporaries(t, out)
}

func sweepWithoutRoom(t *testing.T, out string) {
	const room = 8 << 10
	signal.Ignore(unix.SIGXFSZ) // the write is to fail, not the process
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: room, Max: room}); err != nil {
		t.Skip(err)
	}
	b := bench{answer: func(i int, job *run.Job) (*runs.Result, error) {
		r := resultOf(job, runs.OK)
		if i == 3 {
			r.Warnings = []string{strings.Repeat("x", 2*room)}
		}
		return r, nil
	}}
	opt := options(t, &b)
	opt.Out = out
	s, err := Sweep(t.Context(), parse(t, small), opt)
	wantRefused(t, err, CannotWrite, "cannot write "+storeOf(s)+": file too large; make room")
	if !errors.Is(err, unix.EFBIG) {
		t.Errorf("error %v", err)
	}
	if text := lines(t, s); len(text) != 4 || !strings.HasSuffix(text[3], "}\n") {
		t.Errorf("something remains of the result that had no room: %q", text)
	}
	if s.Ran != 3 {
		t.Errorf("%d runs kept; want 3", s.Ran)
	}
	if r := read(t, s.Dir); len(r.Runs) != 3 {
		t.Errorf("%d finished runs read; want 3", len(r.Runs))
	}
}

// smallDisk mounts a file system with room for so many bytes.
func smallDisk(t *testing.T, bytes int) (dir string, resize func(bytes int)) {
	dir = t.TempDir()
	option := func(bytes int) string { return fmt.Sprintf("size=%d", bytes) }
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, option(bytes)); err != nil {
		t.Skipf("a file system of one's own can be mounted by root alone, and not in every container: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir, func(bytes int) {
		t.Helper()
		if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_REMOUNT, option(bytes)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFullDisk runs a sweep until the disk is full. What was stored stays, byte
// for byte; the same command says again that there is no room; and once there is
// it runs what is missing, and nothing else.
func TestFullDisk(t *testing.T) {
	const bulk = 20 << 10 // bytes of a result; three fit
	dir, resize := smallDisk(t, 24*4096)
	b := bench{answer: func(_ int, job *run.Job) (*runs.Result, error) {
		r := resultOf(job, runs.OK)
		r.Warnings = []string{strings.Repeat("x", bulk)}
		return r, nil
	}}
	opt := options(t, &b)
	opt.Out = dir
	s, err := Sweep(t.Context(), parse(t, small), opt)
	wantRefused(t, err, CannotWrite, "cannot write "+storeOf(s)+": no space left on device; make room")
	if !errors.Is(err, unix.ENOSPC) || s.Ran == 0 || s.Ran == s.Planned {
		t.Errorf("error %v after %d of %d runs", err, s.Ran, s.Planned)
	}
	stored, err := os.ReadFile(storeOf(s))
	if err != nil {
		t.Fatal(err)
	}
	kept := s.Ran
	if r := read(t, s.Dir); len(r.Runs) != kept || !strings.HasSuffix(string(stored), "}\n") {
		t.Errorf("%d runs are read of %d that were kept", len(r.Runs), kept)
	}

	begun := len(b.jobs)
	s, err = Sweep(t.Context(), parse(t, small), opt)
	wantRefused(t, err, CannotWrite, "no space left on device")
	if again, err := os.ReadFile(storeOf(s)); err != nil || string(again) != string(stored) {
		t.Errorf("what was stored has changed: %d bytes, then %d, %v", len(stored), len(again), err)
	}
	if s.Found != kept || s.Ran != 0 || len(b.jobs) != begun+1 {
		t.Errorf("%d found and %d run of %d that were kept", s.Found, s.Ran, kept)
	}

	resize(4 << 20)
	s, err = Sweep(t.Context(), parse(t, small), opt)
	if err != nil || s.Found != kept || s.Ran != s.Planned-kept || s.Missing() != 0 {
		t.Errorf("error %v; %+v", err, s)
	}
	if all, err := os.ReadFile(storeOf(s)); err != nil || !strings.HasPrefix(string(all), string(stored)) {
		t.Errorf("what was stored has changed: %v", err)
	}
	wantNoTemporaries(t, dir)
}
