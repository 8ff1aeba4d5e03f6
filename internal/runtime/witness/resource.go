package witness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"dmebench/internal/record"
	"dmebench/transport/nats"
)

const key = "resource"

const MostTold = 16

type value struct {
	Count  uint64              `json:"count"`  // what critical sections increment
	Update record.Update       `json:"update"` // the latest
	Lost   uint64              `json:"lost,omitempty"`
	First  []record.LostUpdate `json:"first,omitempty"` // of those
}

type Seen struct {
	Version uint64 // the fencing number
	value   value
}

// Resource is a worker's access to the resource. Its methods may be called from several
// goroutines, and wait at most for the patience that it was opened with.
type Resource struct {
	conn     *natsgo.Conn
	kv       jetstream.KeyValue
	name     string // of the server
	patience time.Duration
	closing  atomic.Bool
}

// OpenResource connects to the resource. lost is called, perhaps several times, when
// the connection is lost; it must not wait.
func OpenResource(b nats.Broker, bucket string, patience time.Duration, lost func(error)) (*Resource, error) {
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

func reason(place string, err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("its server at %s does not answer in time; can it be reached, and does it keep up?", place)
	}
	return fmt.Errorf("its server at %s: %w", place, err)
}

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
// seen. An update of another one that is in the way is remembered as lost.
func (r *Resource) Write(seen Seen, u record.Update) error {
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
			next.First = append(next.First, record.LostUpdate{Version: seen.Version, Update: there.Update, Other: u})
		}
		ok, err = r.update(next, version)
	}
	return err
}

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

func (r *Resource) Close() {
	r.closing.Store(true)
	r.conn.Close()
}

const maxBytes = 1 << 20

var ErrNoJetStream = errors.New("it has no JetStream")

// Bucket holds the resource of a run. The coordinator makes it before the run.
type Bucket struct {
	conn *natsgo.Conn
	js   jetstream.JetStream
	kv   jetstream.KeyValue
	name string
	at   string // the server
}

type State struct {
	Updates uint64              // that were written
	Count   uint64              // what it was incremented to: as often as it was written, where no update was lost
	Lost    uint64              // updates
	First   []record.LostUpdate // of them, at most [MostTold]
}

// CreateBucket makes the bucket of a run. Errors say what the server lacks, and wrap
// [nats.ErrBroker].
func CreateBucket(ctx context.Context, b nats.Broker, run string) (_ *Bucket, err error) {
	k := &Bucket{name: "dmebench_" + run, at: b.Name()}
	// A connection that is lost is found out by whoever asks next.
	if k.conn, err = connect(b, func(*natsgo.Conn, *natsgo.Subscription, error) {}); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	if err = k.create(ctx); err != nil {
		k.conn.Close()
		return nil, err
	}
	return k, nil
}

func (k *Bucket) create(ctx context.Context) (err error) {
	refuse := func(err error) error {
		return fmt.Errorf("resource: %w at %s: %w", nats.ErrBroker, k.at, err)
	}
	if k.js, err = jetstream.New(k.conn); err != nil {
		return refuse(err)
	}
	_, err = k.js.AccountInfo(ctx)
	switch {
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		return refuse(fmt.Errorf("%w, and the shared resource is a key-value bucket of it; "+
			"start the server with JetStream (nats-server -js), or give the account a share of its memory", ErrNoJetStream))
	case err != nil:
		return refuse(fmt.Errorf("it does not say whether it has JetStream: %w; may these credentials use $JS.API.>?", err))
	}
	k.kv, err = k.js.CreateKeyValue(ctx, jetstream.KeyValueConfig{
		Bucket: k.name, Description: "shared resource of a run of dmebench", History: 1,
		Storage: jetstream.MemoryStorage, Replicas: 1, MaxBytes: maxBytes,
	})
	if err != nil {
		return refuse(fmt.Errorf("the bucket of the shared resource cannot be made: %w; "+
			"has the account memory for a stream, and may these credentials use $JS.API.> and $KV.>?", err))
	}
	initial, err := json.Marshal(value{})
	if err == nil {
		_, err = k.kv.Create(ctx, key, initial)
	}
	if err != nil {
		err = errors.Join(err, k.js.DeleteKeyValue(ctx, k.name))
		return refuse(fmt.Errorf("the shared resource cannot be written: %w", err))
	}
	return nil
}

func (k *Bucket) Name() string { return k.name }

func (k *Bucket) State(ctx context.Context) (State, error) {
	v, version, err := get(ctx, k.kv)
	if err != nil {
		return State{}, fmt.Errorf("resource: the shared resource cannot be read: %w", reason(k.at, err))
	}
	return State{Updates: version - 1, Count: v.Count, Lost: v.Lost, First: v.First}, nil
}

func (k *Bucket) Remove(ctx context.Context) error {
	defer k.conn.Close()
	if err := k.js.DeleteKeyValue(ctx, k.name); err != nil {
		return fmt.Errorf("resource: the bucket %s is left behind: %w", k.name, reason(k.at, err))
	}
	return nil
}
