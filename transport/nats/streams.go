package nats

import (
	"fmt"
	"os"

	"github.com/nats-io/nats-server/v2/server"
)

// leastStore is what the server may keep in files, in bytes: nothing that a run makes,
// but it takes 0 for whatever the disk has.
const leastStore = 1

// EnableJetStream lets the server keep streams and key-value buckets, in memory and of
// at most so many bytes together. It is called once, before anybody needs them.
func (s *Server) EnableJetStream(memory int64) error {
	// The server wants a folder for what it writes down of its streams; nothing of
	// one that is in memory.
	dir, err := os.MkdirTemp("", "dmebench-jetstream-*")
	if err != nil {
		return fmt.Errorf("nats: server: JetStream needs a folder for temporary files: %w", err)
	}
	s.store = dir
	err = s.server.EnableJetStream(&server.JetStreamConfig{MaxMemory: memory, MaxStore: leastStore, StoreDir: dir})
	if err != nil {
		return fmt.Errorf("nats: server: JetStream: %w", err)
	}
	return nil
}
