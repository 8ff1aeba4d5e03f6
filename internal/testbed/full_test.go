package testbed

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// limited names the variable that has this program open a folder, in which no file may
// become longer than so many bytes, and end.
const limited = "DMEBENCH_TEST_LIMIT"

// openLimited is what the other program does. A file system that is full stops a write in
// the same way.
func openLimited(limit string) {
	bytes, err := strconv.ParseUint(limit, 10, 64)
	if err == nil {
		err = unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: bytes, Max: bytes})
	}
	if err == nil {
		_, err = OpenFolder("broker", []string{"127.0.0.1"}, time.Now())
	}
	if err != nil {
		println(err.Error())
		os.Exit(1)
	}
	os.Exit(0)
}

// Wherever the space ends, also between a key and its certificate, the folder can be
// opened once there is some.
func TestFolderWithoutSpace(t *testing.T) {
	if limit := os.Getenv(limited); limit != "" {
		openLimited(limit)
	}
	refused := 0
	for bytes := 10; bytes < 1000; bytes += 50 {
		dir := t.TempDir()
		other := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		other.Dir, other.Env = dir, append(os.Environ(), limited+"="+strconv.Itoa(bytes))
		if out, err := other.CombinedOutput(); err != nil {
			refused++
			if !strings.Contains(string(out), "file too large") || !strings.Contains(string(out), "is there space") {
				t.Errorf("%d bytes: %v\n%s", bytes, err, out)
			}
		}
		f, err := OpenFolder(filepath.Join(dir, "broker"), []string{"127.0.0.1"}, time.Now())
		if err != nil {
			t.Errorf("%d bytes, and then enough: %v", bytes, err)
			continue
		}
		f.Close()
	}
	if refused < 8 {
		t.Errorf("only %d limits were too narrow: this shows little", refused)
	}
}
