package resource

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"dmebench/internal/entrylog"
	"dmebench/transport/nats"
)

// NATS names the kind of resource that there is.
const NATS = "nats"

// key is the name of the resource in its bucket.
const key = "resource"

// MostTold is how many lost updates are told with both critical sections; all
// are counted.
const MostTold = 16

// value is what the bucket holds.
type value struct {
	Count  uint64                `json:"count"`  // what critical sections increment
	Update entrylog.Update       `json:"update"` // the latest
	Lost   uint64                `json:"lost,omitempty"`
	First  []entrylog.LostUpdate `json:"first,omitempty"` // of those
}

// Seen is what an entry has read.
type Seen struct {
	Version uint64 // the fencing number
	value   value
}

// Resource is a worker's access to the resource. Its methods may be called from
// several goroutines; they wait for the server, at most for the patience that it
// was opened with.
type Resource struct {
	conn     *natsgo.Conn
	kv       jetstream.KeyValue
	name     string // of the server
	patience time.Duration
	closing  atomic.Bool
}

// Open connects to the resource. lost is called, perhaps several times, when
// the connection is lost; it must not wait.
func Open(b nats.Broker, bucket string, patience time.Duration, lost func(error)) (*Resource, error) {
	r := &Resource{name: b.Name(), patience: patience}
	report := func(_ *natsgo.Conn, _ *natsgo.Subscription, err error) {
		if !r.closing.Load() {
			lost(fmt.Errorf("resource: the connection to the server of the shared resource at %s is lost: %w", r.name, err))
		}
	}
	var err error
	r.conn, err = connect(b, report)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	js, err := jetstream.New(r.conn)
	if err == nil {
		r.kv, err = js.KeyValue(ctx, bucket)
	}
	if err != nil {
		r.Close()
		return nil, r.failed("found", err)
	}
	return r, nil
}

// requestTimeout bounds how long the server may take to answer what no critical section
// waits for.
const requestTimeout = 10 * time.Second

// connect makes a connection that does not come back once it is lost: the server may
// have forgotten the resource meanwhile.
func connect(b nats.Broker, report natsgo.ErrHandler) (*natsgo.Conn, error) {
	c, err := b.Dial(natsgo.Name("dmebench resource"), natsgo.NoReconnect(),
		natsgo.ErrorHandler(report),
		natsgo.ClosedHandler(func(c *natsgo.Conn) {
			err := c.LastError()
			if err == nil {
				err = natsgo.ErrConnectionClosed
			}
			report(c, nil, err)
		}))
	if err != nil {
		return nil, fmt.Errorf("resource: %w", err)
	}
	return c, nil
}

func (r *Resource) failed(what string, err error) error {
	return fmt.Errorf("resource: the shared resource cannot be %s: %w", what, reason(r.name, err))
}

// reason says why the server at a place did not do what it was asked for.
func reason(place string, err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("its server at %s does not answer in time; can it be reached, and does it keep up?", place)
	}
	return fmt.Errorf("its server at %s: %w", place, err)
}

// Read is what an entry begins with.
func (r *Resource) Read() (Seen, error) {
	v, version, err := r.read()
	return Seen{Version: version, value: v}, err
}

func (r *Resource) read() (v value, version uint64, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), r.patience)
	defer cancel()
	v, version, err = get(ctx, r.kv)
	if err != nil {
		err = r.failed("read", err)
	}
	return v, version, err
}

func get(ctx context.Context, kv jetstream.KeyValue) (v value, version uint64, err error) {
	e, err := kv.Get(ctx, key)
	if err != nil {
		return v, 0, err
	}
	if err := json.Unmarshal(e.Value(), &v); err != nil {
		return v, 0, fmt.Errorf("somebody else wrote what is there: %w", err)
	}
	return v, e.Revision(), nil
}

// Write is what the critical section of a writer ends with, which has read what was
// seen. An update of another one that is in the way is lost, and remembered as such.
func (r *Resource) Write(seen Seen, u entrylog.Update) error {
	next := seen.value
	next.Count++
	next.Update = u
	ok, err := r.update(next, seen.Version)
	for err == nil && !ok {
		var there value
		var version uint64
		if there, version, err = r.read(); err != nil {
			break
		}
		next.Lost, next.First = there.Lost+1, there.First
		if len(next.First) < MostTold {
			next.First = append(next.First, entrylog.LostUpdate{Version: seen.Version, Update: there.Update, Other: u})
		}
		ok, err = r.update(next, version)
	}
	return err
}

// update writes the value if the version is still that one.
func (r *Resource) update(v value, version uint64) (ok bool, err error) {
	b, err := json.Marshal(v)
	if err != nil {
		return false, r.failed("written", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), r.patience)
	defer cancel()
	_, err = r.kv.Update(ctx, key, b, version)
	switch {
	case errors.Is(err, jetstream.ErrKeyRevisionMismatch):
		return false, nil
	case err != nil:
		return false, r.failed("written", err)
	}
	return true, nil
}

// Close disconnects.
func (r *Resource) Close() {
	r.closing.Store(true)
	r.conn.Close()
}
