package nats

import (
	"encoding/binary"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	natsgo "github.com/nats-io/nats.go"

	"dmebench/dme"
	"dmebench/transport"
	"dmebench/transport/peers"
)

// Sequencer passes on all frames of a run over one connection, and numbers the
// broadcasts among them. There is one for a run whose Broker is Sequenced, before its
// processes call Listen.
type Sequencer struct {
	conn   *natsgo.Conn
	prefix string
	wire   wire
	seal   *seal
	buf    []byte
	order  uint64
	ended  func(error)
	once   sync.Once

	closing atomic.Bool
	refused atomic.Uint64
}

// sequencerPending bounds what waits for the sequencer, in bytes and messages.
const (
	sequencerPending  = 4 * transport.MaxBacklog
	sequencerMessages = sequencerPending / frameCost
)

// StartSequencer starts the sequencer of the run with that key. ended is called
// once, in a goroutine of its own, if it stops before Close.
func StartSequencer(key transport.Key, b Broker, ended func(error)) (*Sequencer, error) {
	s := &Sequencer{prefix: prefix(&key, b.Own), seal: newSeal(&key, b.Own), ended: ended}
	var err error
	if s.conn, err = b.connect("dmebench sequencer", &s.wire, s.end); err != nil {
		return nil, err
	}
	sub, err := s.conn.Subscribe(s.prefix+relay+".>", s.pass)
	if err == nil {
		err = sub.SetPendingLimits(sequencerMessages, sequencerPending)
	}
	if err == nil {
		err = confirmed(s.conn)
	}
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("%w at %s: sequencer: %w", ErrBroker, b.Name(), err)
	}
	return s, nil
}

// pass publishes a frame again, under the subject that it is meant for.
func (s *Sequencer) pass(m *natsgo.Msg) {
	to := strings.TrimPrefix(m.Subject, s.prefix+relay)
	content, ok := s.seal.open(m.Data, aFrame)
	var h header
	// The sequence is this run's alone, and its broadcasts'.
	if !ok || !h.decode(&peers.Reader{Rest: content}) || (to == toAll) != (h.to == dme.None) {
		s.refused.Add(1)
		return
	}
	what := aFrame
	if to == toAll {
		what = anOrder
	}
	s.buf = s.seal.start(s.buf, what)
	if what == anOrder {
		s.order++
		s.buf = binary.AppendUvarint(s.buf, s.order)
	}
	s.buf = s.seal.close(append(s.buf, content...), what)
	if err := s.conn.Publish(s.prefix+to, s.buf); err != nil {
		s.end(err)
	}
	if cap(s.buf) > keptBuffer {
		s.buf = nil
	}
}

func (s *Sequencer) end(err error) {
	if !s.closing.Load() {
		s.once.Do(func() { go s.ended(fmt.Errorf("nats: sequencer: %w", err)) })
	}
}

// Refused counts messages without the run's key.
func (s *Sequencer) Refused() uint64 { return s.refused.Load() }

// Close stops the sequencer. The processes of the run must have been closed.
func (s *Sequencer) Close() {
	s.closing.Store(true)
	s.conn.Close()
}
