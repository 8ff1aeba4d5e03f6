package nats

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
)

// JetStream takes no more memory than it was given, keeps nothing in files, and leaves
// no folder behind.
func TestJetStreamIsBounded(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	s, err := StartServer(2)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.EnableJetStream(1 << 20); err != nil {
		t.Fatal(err)
	}
	c, err := s.Broker().Dial()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	js, err := jetstream.New(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		name string
		in   jetstream.StorageType
		size int64
		fits bool
	}{
		{"small", jetstream.MemoryStorage, 1 << 19, true},
		{"large", jetstream.MemoryStorage, 1 << 20, false},
		{"file", jetstream.FileStorage, 1 << 10, false},
	} {
		_, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: x.name, Subjects: []string{x.name}, Storage: x.in, MaxBytes: x.size})
		if (err == nil) != x.fits {
			t.Errorf("%s: %v", x.name, err)
		}
	}
	if left, err := os.ReadDir(dir); len(left) != 1 || err != nil {
		t.Errorf("%v, %v: a folder is expected while it runs", left, err)
	}
	s.Close()
	if left, err := os.ReadDir(dir); len(left) != 0 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestJetStreamNeedsAFolder(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "nowhere"))
	s, err := StartServer(1)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.EnableJetStream(1 << 20); err == nil {
		t.Error("it has none")
	}
}
