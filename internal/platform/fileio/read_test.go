package fileio

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestRead(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	if b, err := Read(name, 5); err != nil || string(b) != "12345" {
		t.Errorf("%q, error %v", b, err)
	}
	var large *TooLarge
	if b, err := Read(name, 4); !errors.As(err, &large) || large.Most != 4 || b != nil {
		t.Errorf("%q, error %v", b, err)
	}
	if _, err := Read(name+"x", 4); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

// TestEndless reads what has no end, and takes memory for no more than the bound.
func TestEndless(t *testing.T) {
	const zero = "/dev/zero"
	if _, err := os.Stat(zero); err != nil {
		t.Skip(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var large *TooLarge
	if _, err := Read(zero, MostText); !errors.As(err, &large) {
		t.Errorf("error %v", err)
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 16*MostText {
		t.Errorf("%d bytes were allocated to read %d", grown, MostText)
	}
}
