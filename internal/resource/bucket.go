package resource

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"dmebench/internal/entrylog"
	"dmebench/transport/nats"
)

// maxBytes bounds what a bucket may hold, in bytes: one value, which tells of
// [MostTold] lost updates at most, and what the server adds to it.
const maxBytes = 1 << 20

// ErrNoJetStream is wrapped by the error of a server that has no JetStream for
// this run.
var ErrNoJetStream = errors.New("it has no JetStream")

// Bucket holds the resource of a run. The coordinator makes it before the run and
// removes it afterwards.
type Bucket struct {
	conn *natsgo.Conn
	js   jetstream.JetStream
	kv   jetstream.KeyValue
	name string
	at   string // the server
}

// State is what has become of the resource.
type State struct {
	Updates uint64                // that were written
	Count   uint64                // what it was incremented to: as often as it was written, where no update was lost
	Lost    uint64                // updates
	First   []entrylog.LostUpdate // of them, at most [MostTold]
}

// Create makes the bucket of a run, in the memory of the server. Errors say what
// the server lacks, and wrap [nats.ErrBroker].
func Create(ctx context.Context, b nats.Broker, run string) (_ *Bucket, err error) {
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

// Name returns what workers open.
func (k *Bucket) Name() string { return k.name }

// State reads what has become of the resource.
func (k *Bucket) State(ctx context.Context) (State, error) {
	v, version, err := get(ctx, k.kv)
	if err != nil {
		return State{}, fmt.Errorf("resource: the shared resource cannot be read: %w", reason(k.at, err))
	}
	return State{Updates: version - 1, Count: v.Count, Lost: v.Lost, First: v.First}, nil
}

// Remove removes the bucket and disconnects.
func (k *Bucket) Remove(ctx context.Context) error {
	defer k.conn.Close()
	if err := k.js.DeleteKeyValue(ctx, k.name); err != nil {
		return fmt.Errorf("resource: the bucket %s is left behind: %w", k.name, reason(k.at, err))
	}
	return nil
}
