package fileio

import (
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
)

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func TestWriteReplacesTheWholeFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "result.json")
	for _, text := range []string{"a longer text", "short"} {
		if err := Write(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("read %q, %v", got, err)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if got := names(t, dir); len(got) != 1 {
		t.Errorf("the folder holds %v", got)
	}
}

func TestWhatCannotBeWrittenLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "taken")
	if err := os.MkdirAll(filepath.Join(path, "below"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, []byte("x")); err == nil {
		t.Error("a folder was replaced by a file")
	}
	if got := names(t, dir); len(got) != 1 {
		t.Errorf("the folder holds %v", got)
	}
	if err := Write(filepath.Join(dir, "nowhere", "x"), nil); err == nil {
		t.Error("written into a folder that is not there")
	}
}

func TestProbe(t *testing.T) {
	dir := t.TempDir()
	var several sync.WaitGroup
	for range 8 {
		several.Go(func() {
			for range 20 {
				if err := Probe(dir); err != nil {
					t.Error(err)
				}
			}
		})
	}
	several.Wait()
	if got := names(t, dir); len(got) != 0 {
		t.Errorf("the folder holds %v", got)
	}
	if err := Probe(filepath.Join(dir, "nowhere")); err == nil {
		t.Error("a folder that is not there can be written to")
	}
}

func TestRemoveTemporaries(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{Temporary(dir, "1"), Temporary(dir, "2"), filepath.Join(dir, "kept")} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	RemoveTemporaries(dir)
	if got := names(t, dir); len(got) != 1 || got[0] != "kept" {
		t.Errorf("the folder holds %v", got)
	}
}

// A device or a pipe is written into, and not replaced by a file.
func TestWhatIsNoFileStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	got := make(chan string)
	go func() {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
		}
		got <- string(b)
	}()
	if err := Stream(path, writing([]byte("through the pipe"))); err != nil {
		t.Fatal(err)
	}
	if text := <-got; text != "through the pipe" {
		t.Errorf("%q arrives", text)
	}
	if info, err := os.Stat(path); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("the pipe is %v now, %v", info.Mode(), err)
	}
}
