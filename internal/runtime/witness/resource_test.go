package witness

import (
	"errors"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/internal/record"
	"dmebench/transport/nats"
)

// long is a patience that ends no test.
const long = time.Minute

// store starts a server with JetStream.
func store(t *testing.T) nats.Broker {
	t.Helper()
	s, err := nats.StartServer(20)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if err := s.EnableJetStream(1 << 24); err != nil {
		t.Fatal(err)
	}
	return s.Broker()
}

func create(t *testing.T, b nats.Broker) *Bucket {
	t.Helper()
	k, err := CreateBucket(t.Context(), b, "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.conn.Close() })
	return k
}

// open is what a worker does. The connection must last as long as the test.
func open(t *testing.T, b nats.Broker, k *Bucket) *Resource {
	t.Helper()
	r, err := OpenResource(b, k.Name(), long, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

func (k *Bucket) mustState(t *testing.T) *record.Resource {
	t.Helper()
	s, err := k.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func read(t *testing.T, r *Resource) Seen {
	t.Helper()
	seen, err := r.Read(0)
	if err != nil {
		t.Fatal(err)
	}
	return seen
}

func write(t *testing.T, r *Resource, seen Seen, u record.Update) {
	t.Helper()
	if err := r.Write(seen, u); err != nil {
		t.Fatal(err)
	}
}

func update(node, entry int) record.Update {
	at := int64(100*node + entry)
	return record.Update{Node: dme.NodeID(node), Entry: uint64(entry), Entered: at, Left: at + 10}
}

// Entries one after the other see versions without a gap, from 1, and lose nothing.
// Readers see what the writer after them sees.
func TestEntriesThatAreApart(t *testing.T) {
	b := store(t)
	k := create(t, b)
	workers := []*Resource{open(t, b, k), open(t, b, k)}
	for i := 1; i <= 6; i++ {
		r := workers[i%2]
		if reader := read(t, workers[(i+1)%2]); reader.Version != uint64(i) {
			t.Errorf("a reader has seen version %d, want %d", reader.Version, i)
		}
		seen := read(t, r)
		if seen.Version != uint64(i) {
			t.Errorf("entry %d has seen version %d", i, seen.Version)
		}
		write(t, r, seen, update(i%2+1, i))
	}
	if s := k.mustState(t); s.Updates != 6 || s.Count != 6 || s.Lost != 0 || s.First != nil {
		t.Errorf("%+v", s)
	}
}

// Who writes although another one has written since it read has lost that one's
// update; both are told, and what comes later does not forget it.
func TestALostUpdate(t *testing.T) {
	b := store(t)
	k := create(t, b)
	first, second := open(t, b, k), open(t, b, k)
	write(t, first, read(t, first), update(3, 1))
	one, other := read(t, first), read(t, second)
	write(t, first, one, update(1, 1))
	write(t, second, other, update(2, 1))
	write(t, first, read(t, first), update(3, 2))
	want := []record.LostUpdate{{Version: 2, Update: update(1, 1), Other: update(2, 1)}}
	if s := k.mustState(t); s.Updates != 4 || s.Count != 3 || s.Lost != 1 || !slices.Equal(s.First, want) {
		t.Errorf("%+v", s)
	}
}

// The resource at a server and the one in memory tell the same of the same reads and writes,
// in whatever order: only updates that were written are lost, and only late ones refused.
func TestTheResourceInMemoryIsATwin(t *testing.T) {
	b := store(t)
	for seed := range uint64(10) {
		k, err := CreateBucket(t.Context(), b, "twin"+strconv.FormatUint(seed, 10))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { k.conn.Close() })
		r, memory, choose := open(t, b, k), new(record.SharedMemory), rand.New(rand.NewPCG(seed, 0))
		type entry struct {
			seen             Seen
			version, fencing uint64
			reader           bool
		}
		var inside []entry
		for token := uint64(1); token <= 60; token++ {
			for len(inside) > choose.IntN(3) {
				i := choose.IntN(len(inside))
				if e := inside[i]; !e.reader {
					write(t, r, e.seen, record.Update{Fencing: e.fencing})
					memory.Write(e.version, e.fencing)
				}
				inside = slices.Delete(inside, i, i+1)
			}
			e := entry{fencing: token * (seed % 2), reader: choose.IntN(4) == 0}
			if e.seen, err = r.Read(e.fencing); err != nil {
				t.Fatal(err)
			}
			if e.version, err = memory.Read(e.fencing); err != nil {
				t.Fatal(err)
			}
			inside = append(inside, e)
		}
		at, want := k.mustState(t), memory.State()
		if at.Updates != want.Updates || at.Lost != want.Lost || at.Refused != want.Refused || want.Lost+want.Refused == 0 {
			t.Errorf("seed %d: at the server %+v, in memory %+v", seed, *at, want)
		}
	}
}

func TestAServerWithoutJetStreamIsRefused(t *testing.T) {
	s, err := nats.StartServer(2)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_, err = CreateBucket(t.Context(), s.Broker(), "test")
	if !errors.Is(err, ErrNoJetStream) || !errors.Is(err, nats.ErrBroker) || !strings.Contains(err.Error(), s.Broker().Name()) {
		t.Error(err)
	}
	b := s.Broker()
	b.Token = "wrong"
	if _, err = CreateBucket(t.Context(), b, "test"); !errors.Is(err, nats.ErrBroker) || errors.Is(err, ErrNoJetStream) {
		t.Error(err)
	}
}

// A run leaves nothing on a server of somebody else's.
func TestTheBucketIsRemoved(t *testing.T) {
	b := store(t)
	k := create(t, b)
	open(t, b, k)
	if err := k.Remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenResource(b, k.Name(), long, func(error) {}); err == nil {
		t.Error("it is still there")
	}
	if s, err := k.State(t.Context()); err == nil || s != nil {
		t.Errorf("nobody knows what became of it, and yet: %+v", s)
	}
	if err := k.Remove(t.Context()); err == nil {
		t.Error("nobody says that a bucket could not be removed")
	}
	again := create(t, b) // of the same name
	if s := again.mustState(t); s.Updates != 0 {
		t.Errorf("%+v", s)
	}
}

// A server that does not answer any more is waited for as long as told, and no longer.
func TestTheServerFallsSilent(t *testing.T) {
	b := store(t)
	k := create(t, b)
	p := newPassage(t, strings.TrimPrefix(b.URL, "nats://"))
	b.URL = "nats://" + p.Addr().String()
	const patience = 200 * time.Millisecond
	r, err := OpenResource(b, k.Name(), patience, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	seen := read(t, r)
	p.shut.Store(true)
	begin := time.Now()
	if _, err := r.Read(0); err == nil || !strings.Contains(err.Error(), "does not answer in time") {
		t.Errorf("read: %v", err)
	}
	if err := r.Write(seen, update(1, 1)); err == nil || !strings.Contains(err.Error(), "does not answer in time") {
		t.Errorf("write: %v", err)
	}
	if d := time.Since(begin); d < 2*patience {
		t.Errorf("it had %v to answer twice", d)
	}
}

// passage passes connections on, until it is shut: then what comes is swallowed.
type passage struct {
	net.Listener
	shut atomic.Bool
}

func newPassage(t *testing.T, to string) *passage {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &passage{Listener: l}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				in.Close()
				continue
			}
			go p.pass(in, out)
			go p.pass(out, in)
		}
	}()
	return p
}

func (p *passage) pass(from, to net.Conn) {
	defer to.Close()
	buf := make([]byte, 4096)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		if p.shut.Load() {
			continue
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}
