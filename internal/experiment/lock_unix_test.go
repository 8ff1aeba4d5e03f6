//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package experiment

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// What was put where the lock belongs is neither followed nor altered.
func TestTheLockTouchesNothingElse(t *testing.T) {
	const precious = "what somebody needs"
	for name, put := range map[string]func(victim, path string) error{
		"a symbolic link":       os.Symlink,
		"a hard link":           os.Link,
		"a file of another use": func(victim, path string) error { return os.WriteFile(path, []byte(precious), 0o600) },
		"a pipe":                func(_, path string) error { return unix.Mkfifo(path, 0o600) },
		"a link to nothing":     func(_, path string) error { return os.Symlink(filepath.Join(filepath.Dir(path), "nothing"), path) },
	} {
		root := t.TempDir()
		victim, path := filepath.Join(root, "victim"), filepath.Join(root, lockName)
		if err := os.WriteFile(victim, []byte(precious), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := put(victim, path); err != nil {
			t.Fatal(err)
		}
		release, err := lock(root)
		if err == nil {
			release()
		}
		if !errors.Is(err, errNoLock) || !strings.Contains(err.Error(), "remove it") {
			t.Errorf("%s: %v", name, err)
		}
		if b, err := os.ReadFile(victim); err != nil || string(b) != precious {
			t.Errorf("%s: the victim now holds %q (%v)", name, b, err)
		}
		if name == "a file of another use" {
			if b, err := os.ReadFile(path); err != nil || string(b) != precious {
				t.Errorf("%s: it now holds %q (%v)", name, b, err)
			}
		}
		if _, err := os.Stat(filepath.Join(root, "nothing")); err == nil {
			t.Errorf("%s: a file was made where it leads", name)
		}
	}
}

// A lock is taken again, whatever its last holder was called.
func TestALockIsTakenAgain(t *testing.T) {
	root := t.TempDir()
	for _, last := range []string{"", "7\n", "1234567\n", "99999999999\n"} {
		path := filepath.Join(root, lockName)
		if err := os.WriteFile(path, []byte(last), 0o600); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			release, err := lock(root)
			if err != nil {
				t.Fatalf("after %q: %v", last, err)
			}
			release()
			if b, _ := os.ReadFile(path); strings.TrimSpace(string(b)) != strconv.Itoa(os.Getpid()) {
				t.Errorf("after %q: it says %q; this is process %d", last, b, os.Getpid())
			}
		}
	}
}
