package witness

import (
	"cmp"
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

const (
	key = "resource" // in its bucket

	MostTold = 16 // lost updates that are reported with both critical sections; all are counted

	requestTimeout = 10 * time.Second // for what no critical section waits for
	maxBytes       = 1 << 20          // of a bucket: one value, and what the server adds to it
)

// value is what the bucket holds.
type value struct {
	record.Resource
	Update  record.Update // the latest
	Fencing uint64        // the largest token that was shown
}

// Seen is what an entry has read.
type Seen struct {
	Version uint64 // the fencing number
	value   value
}

// Resource is a worker's access to the resource. Its methods may be called from several
// goroutines, and wait at most for the patience that it was opened with.
type Resource struct {
	conn     *natsgo.Conn
	js       jetstream.JetStream
	kv       jetstream.KeyValue
	server   string
	patience time.Duration
	closing  atomic.Bool
}

// OpenResource connects to the resource. lost is called, perhaps several times, when
// the connection is lost; it must not wait.
func OpenResource(b nats.Broker, bucket string, patience time.Duration, lost func(error)) (*Resource, error) {
	r := &Resource{patience: patience}
	if err := r.connect(b, lost); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	var err error
	if r.kv, err = r.js.KeyValue(ctx, bucket); err != nil {
		r.Close()
		return nil, r.failed("found", err)
	}
	return r, nil
}

// connect makes a connection that does not come back once it is lost: the server may
// have forgotten the resource meanwhile.
func (r *Resource) connect(b nats.Broker, lost func(error)) (err error) {
	r.server = b.Name()
	report := func(_ *natsgo.Conn, _ *natsgo.Subscription, err error) {
		if !r.closing.Load() {
			lost(fmt.Errorf("resource: the connection to the server of the shared resource at %s is lost: %w", r.server, err))
		}
	}
	r.conn, err = b.Dial(natsgo.Name("dmebench resource"), natsgo.NoReconnect(),
		natsgo.ErrorHandler(report),
		natsgo.ClosedHandler(func(c *natsgo.Conn) { report(c, nil, cmp.Or(c.LastError(), natsgo.ErrConnectionClosed)) }))
	if err != nil {
		return fmt.Errorf("resource: %w", err)
	}
	r.js, err = jetstream.New(r.conn)
	return err
}

func (r *Resource) failed(what string, err error) error {
	return fmt.Errorf("resource: the shared resource cannot be %s: %w", what, r.reason(err))
}

func (r *Resource) reason(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("its server at %s does not answer in time; can it be reached, and does it keep up?", r.server)
	}
	return fmt.Errorf("its server at %s: %w", r.server, err)
}

// Read is what an entry begins with. It shows its fencing token, if it has one: from then
// on updates with smaller ones are refused.
func (r *Resource) Read(fencing uint64) (Seen, error) {
	seen, err := r.Look()
	if err != nil {
		return seen, err
	}
	return r.change(seen, func(v *value) bool {
		larger := fencing > v.Fencing
		v.Fencing = max(v.Fencing, fencing)
		return larger
	})
}

// Look reads what is there.
func (r *Resource) Look() (Seen, error) {
	ctx, cancel := context.WithTimeout(context.Background(), r.patience)
	defer cancel()
	return r.read(ctx)
}

func (r *Resource) read(ctx context.Context) (seen Seen, err error) {
	e, err := r.kv.Get(ctx, key)
	if err != nil {
		return seen, r.failed("read", err)
	}
	seen.Version = e.Revision()
	if err := json.Unmarshal(e.Value(), &seen.value); err != nil {
		return seen, r.failed("read", fmt.Errorf("another program wrote to it: %w", err))
	}
	return seen, nil
}

// Write is what the critical section of a writer ends with, which has read what was
// seen. An update of another one that is in the way is remembered as lost, unless that has
// shown a larger fencing token: then this one is refused.
func (r *Resource) Write(seen Seen, u record.Update) error {
	_, err := r.change(seen, func(v *value) bool {
		if u.Fencing > 0 && u.Fencing < v.Fencing {
			v.Refused++
			return true
		}
		if v.Updates != seen.value.Updates {
			v.Lost++
			if len(v.First) < MostTold {
				v.First = append(v.First, record.LostUpdate{Version: seen.Version, Update: v.Update, Other: u})
			}
		}
		v.Updates++
		v.Count, v.Update = seen.value.Count+1, u
		return true
	})
	return err
}

// change writes what f makes of the value that is there, as far as is known, and returns what there
// is then. If another one was faster, f is asked again, of what that has written. f returns false if
// nothing is to be written.
func (r *Resource) change(there Seen, f func(*value) bool) (Seen, error) {
	for {
		v := there.value
		if !f(&v) {
			return there, nil
		}
		ctx, cancel := context.WithTimeout(context.Background(), r.patience)
		b, err := json.Marshal(v)
		if err == nil {
			there.Version, err = r.kv.Update(ctx, key, b, there.Version)
		}
		cancel()
		if err == nil {
			return Seen{there.Version, v}, nil
		}
		if !errors.Is(err, jetstream.ErrKeyRevisionMismatch) {
			return there, r.failed("written", err)
		}
		if there, err = r.Look(); err != nil {
			return there, err
		}
	}
}

func (r *Resource) Close() {
	r.closing.Store(true)
	r.conn.Close()
}

// ErrNoJetStream is wrapped by the error of a server that has no JetStream for this run.
var ErrNoJetStream = errors.New("it has no JetStream")

// Bucket holds the resource of a run. The coordinator makes it before the run.
type Bucket struct {
	Resource
	name string
}

// CreateBucket makes the bucket of a run. Errors say what the server lacks, and wrap
// [nats.ErrBroker].
func CreateBucket(ctx context.Context, b nats.Broker, run string) (*Bucket, error) {
	k := &Bucket{name: "dmebench_" + run}
	// The next call finds that the connection is lost.
	if err := k.connect(b, func(error) {}); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	if err := k.create(ctx); err != nil {
		k.Close()
		return nil, fmt.Errorf("resource: %w at %s: %w", nats.ErrBroker, k.server, err)
	}
	return k, nil
}

func (k *Bucket) create(ctx context.Context) (err error) {
	_, err = k.js.AccountInfo(ctx)
	switch {
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		return fmt.Errorf("%w, and the shared resource is a key-value bucket of it; "+
			"start the server with JetStream (nats-server -js), or give the account a share of its memory", ErrNoJetStream)
	case err != nil:
		return fmt.Errorf("it does not say whether it has JetStream: %w; may these credentials use $JS.API.>?", err)
	}
	k.kv, err = k.js.CreateKeyValue(ctx, jetstream.KeyValueConfig{
		Bucket: k.name, Description: "shared resource of a run of dmebench", History: 1,
		Storage: jetstream.MemoryStorage, Replicas: 1, MaxBytes: maxBytes,
	})
	if err != nil {
		return fmt.Errorf("the bucket of the shared resource cannot be made: %w; "+
			"has the account memory for a stream, and may these credentials use $JS.API.> and $KV.>?", err)
	}
	initial, err := json.Marshal(value{Resource: record.Resource{Kind: record.InNATS}})
	if err == nil {
		_, err = k.kv.Create(ctx, key, initial)
	}
	if err != nil {
		return fmt.Errorf("the shared resource cannot be written: %w", errors.Join(err, k.js.DeleteKeyValue(ctx, k.name)))
	}
	return nil
}

func (k *Bucket) Name() string { return k.name }

// State reads what has become of the resource.
func (k *Bucket) State(ctx context.Context) (*record.Resource, error) {
	seen, err := k.read(ctx)
	if err != nil {
		return nil, err
	}
	return &seen.value.Resource, nil
}

// Remove removes the bucket and disconnects.
func (k *Bucket) Remove(ctx context.Context) error {
	defer k.Close()
	if err := k.js.DeleteKeyValue(ctx, k.name); err != nil {
		return fmt.Errorf("resource: the bucket %s is left behind: %w", k.name, k.reason(err))
	}
	return nil
}
