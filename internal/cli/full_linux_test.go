package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/sys/unix"

	"dmebench/algorithms"
	"dmebench/runs"
)

// TestResultWithoutRoom runs with a folder in which there was room for a trial,
// and is none for the result: it is printed all the same, and nothing of it is
// left behind.
func TestResultWithoutRoom(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=4096"); err != nil {
		t.Skipf("a file system of one's own can be mounted by root alone, and not in every container: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	args := append(words("dmebench run -a lamport -n 300 --transport sim --workload serial --requests 300 --json --out"), dir)
	var out, errOut bytes.Buffer
	code := Run(args, nil, &out, &errOut, algorithms.All(), nil, fstest.MapFS{})
	if code != CantCreate || !strings.Contains(errOut.String(), "no space left on device") {
		t.Errorf("exit code %d: %s", code, errOut.String())
	}
	var r runs.Result
	if err := json.Unmarshal(out.Bytes(), &r); err != nil || r.Entries != 300 {
		t.Errorf("printed: %v\n%s", err, out.String())
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
