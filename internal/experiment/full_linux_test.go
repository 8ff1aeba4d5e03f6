package experiment

import (
	"errors"
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
