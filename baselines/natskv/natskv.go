// Package natskv has a lock that is a key of a JetStream bucket, on embedded servers.
package natskv

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"dmebench/baselines/renew"
	"dmebench/baselines/servers"
	"dmebench/dme"
	"dmebench/lock"
	"dmebench/runs"
)

// The messages, in the order of Kinds.
const (
	create dme.Kind = iota + 1
	createAnswer
	remove
	removeAnswer
	update
	updateAnswer
	watch
	watchEvent
)

const (
	bucket = "dmebench"
	key    = "lock"

	pingEvery  = time.Second // to notice a server that is cut off; the library's default is two minutes
	leastLease = time.Second // of the server, for what it removes by itself
)

// System describes it.
func System() *servers.System {
	return &servers.System{System: lock.System{Algorithm: dme.Algorithm{
		Name: "nats-kv", Title: "NATS KV", Citation: "nats.go, jetstream.KeyValue: Create, Watch, Delete",
		Description: "The client that creates the key has the lock, and renews it; a waiter watches until it is deleted, or has expired, and tries again: " +
			"all waiters try at once, in no order. With three servers the stream is replicated by Raft.",
		Kinds: []string{
			"create", "create answer", "delete", "delete answer", "renew", "renew answer", "watch", "watch event",
		},
		Options: []dme.Option{
			servers.CountOption("servers of the cluster, and replicas of the bucket", "1", "3"),
			dme.Choice("fsync", "whether a write is on the disk before it is answered; as NATS comes, every two minutes", "false", "true"),
			servers.LeaseOption("5s"),
		},
		Fencing: func(dme.Options) bool { return true },
	}, Servers: servers.Count}, Serve: serve, Connect: connect}
}

func port(hostport string) int {
	_, p, _ := net.SplitHostPort(hostport)
	n, _ := strconv.Atoi(p)
	return n
}

func serve(ctx context.Context, s servers.Server) error {
	at := s.All[s.Index]
	o := &server.Options{
		ServerName: fmt.Sprintf("server%d", s.Index+1), Host: "127.0.0.1", Port: port(at.Client), HTTPHost: "127.0.0.1", HTTPPort: port(at.Admin),
		JetStream: true, StoreDir: s.Dir, SyncAlways: s.Options.Get("fsync") == "true", NoSigs: true, NoLog: true,
	}
	if len(s.All) > 1 {
		o.Cluster = server.ClusterOpts{Name: "dmebench", Host: "127.0.0.1", Port: port(at.Peer), NoAdvertise: true, PoolSize: -1}
		for i, p := range s.All {
			if i != s.Index {
				o.Routes = append(o.Routes, &url.URL{Scheme: "nats", Host: p.Reach})
			}
		}
	}
	n, err := server.NewServer(o)
	if err != nil {
		return err
	}
	n.Start()
	defer func() {
		n.Shutdown()
		n.WaitForShutdown()
	}()
	if !n.ReadyForConnections(servers.Patience) {
		return errors.New("nats-server does not take connections")
	}
	s.Ready()
	<-ctx.Done()
	return nil
}

type service struct {
	servers.Config
	conn *nats.Conn
}

func connect(ctx context.Context, c servers.Config) (servers.Service, error) {
	s := &service{Config: c}
	_, _, err := s.open(ctx, dme.None)
	return s, err
}

// open connects to the servers, and makes the bucket if it is not there yet.
func (s *service) open(ctx context.Context, node dme.NodeID) (*nats.Conn, jetstream.KeyValue, error) {
	urls := ""
	for _, at := range s.Servers {
		urls += ",nats://" + at
	}
	conn, err := nats.Connect(urls[1:], nats.SetCustomDialer(dialer{s.MeterOf(node)}), nats.MaxReconnects(-1),
		nats.ReconnectWait(50*time.Millisecond), nats.IgnoreDiscoveredServers(),
		nats.PingInterval(pingEvery), nats.MaxPingsOutstanding(2))
	if err != nil {
		return nil, nil, err
	}
	js, err := jetstream.New(conn)
	if err != nil {
		return nil, nil, err
	}
	if node == dme.None {
		s.conn = conn
	}
	lease := max(servers.Lease(s.Options), leastLease)
	for {
		trying, cancel := context.WithTimeout(ctx, time.Second) // a server without a leader answers nothing
		kv, err := js.CreateOrUpdateKeyValue(trying, jetstream.KeyValueConfig{
			Bucket: bucket, History: 1, Replicas: len(s.Servers), TTL: lease, LimitMarkerTTL: leastLease, Storage: jetstream.FileStorage,
		})
		cancel()
		if err == nil || ctx.Err() != nil {
			return conn, kv, err
		}
		time.Sleep(20 * time.Millisecond) // the servers have yet to elect a leader
	}
}

func (s *service) Close() error {
	s.conn.Close()
	return nil
}

// dialer is nats.go's idea of one.
type dialer struct{ servers.Meter }

func (d dialer) Dial(network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	return d.Meter.Dial(ctx, network, address)
}

// Status asks the servers' monitoring. The leader is that of the bucket's stream.
func (s *service) Status(ctx context.Context) (lock.Status, error) {
	st := lock.Status{Leader: -1, Settings: map[string]string{
		"nats-server": server.VERSION, "servers": strconv.Itoa(len(s.Servers)), "fsync": s.Options.Get("fsync"), "lease": s.Options.Get("lease"),
		"ping": pingEvery.String(),
	}}
	var messages, bytes uint64
	for i, at := range s.All {
		var streams struct {
			Accounts []struct {
				Streams []struct {
					Cluster *struct{ Leader string } `json:"cluster"`
				} `json:"stream_detail"`
			} `json:"account_details"`
		}
		if get(ctx, at.Admin, "/jsz?streams=true", &streams) != nil {
			continue // down, and the others answer
		}
		for _, a := range streams.Accounts {
			for _, x := range a.Streams {
				if x.Cluster == nil || x.Cluster.Leader == fmt.Sprintf("server%d", i+1) {
					st.Leader = i
				}
			}
		}
		var routes struct {
			Routes []struct {
				Messages uint64 `json:"out_msgs"`
				Bytes    uint64 `json:"out_bytes"`
			}
		}
		if err := get(ctx, at.Admin, "/routez", &routes); err != nil {
			return st, err
		}
		for _, r := range routes.Routes {
			messages, bytes = messages+r.Messages, bytes+r.Bytes
		}
	}
	if st.Leader < 0 {
		return st, errors.New("nats-kv: no server leads the bucket")
	}
	if st.Between = (&runs.Between{Messages: &messages, Bytes: &bytes}); len(s.All) == 1 {
		st.Between, st.Untold = nil, "there is one server"
	}
	return st, nil
}

func get(ctx context.Context, server, path string, value any) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+server+path, nil)
	if err != nil {
		return err
	}
	r, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer r.Body.Close()
	return json.NewDecoder(r.Body).Decode(value)
}

// Client implements [lock.Service].
func (s *service) Client(ctx context.Context, node dme.NodeID) (lock.Client, error) {
	conn, kv, err := s.open(ctx, node)
	return &client{conn: conn, kv: kv, meter: s.Meter(node), name: node.String(), lease: servers.Lease(s.Options)}, err
}

type client struct {
	conn     *nats.Conn
	kv       jetstream.KeyValue
	meter    lock.Meter
	name     string
	lease    time.Duration
	revision atomic.Uint64 // of the key, as this client wrote it last
	renewal  *renew.Renewal
}

// answerTime bounds how long a server may take.
const answerTime = 3 * time.Second

// call makes a call, which is two messages.
func (c *client) call(ctx context.Context, kind dme.Kind, f func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	c.meter.Message(kind)
	err := f(ctx)
	if !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, nats.ErrNoResponders) {
		c.meter.Message(kind + 1)
	}
	return err
}

func (c *client) Lock(ctx context.Context) (fencing uint64, err error) {
	if fencing, err = c.create(ctx); !errors.Is(err, jetstream.ErrKeyExists) {
		return fencing, err
	}
	c.meter.Message(watch)
	watcher, err := c.kv.Watch(ctx, key)
	if err != nil {
		return 0, err
	}
	defer func() { _ = watcher.Stop() }()
	for {
		select {
		case e, open := <-watcher.Updates():
			if !open {
				return 0, errors.New("the watch has ended")
			}
			if e == nil { // everything that was there has been delivered
				continue
			}
			c.meter.Message(watchEvent)
			if e.Operation() == jetstream.KeyValuePut {
				continue
			}
		case <-time.After(c.lease): // in case the end is not announced
		case <-ctx.Done():
			return 0, ctx.Err()
		}
		if fencing, err = c.create(ctx); !errors.Is(err, jetstream.ErrKeyExists) {
			return fencing, err
		}
	}
}

func (c *client) create(ctx context.Context) (uint64, error) {
	var revision uint64
	err := c.call(ctx, create, func(ctx context.Context) (err error) {
		revision, err = c.kv.Create(ctx, key, []byte(c.name))
		return err
	})
	if err != nil {
		return 0, err
	}
	c.revision.Store(revision)
	c.renewal = renew.Start(c.lease, func(ctx context.Context) error {
		return c.call(ctx, update, func(ctx context.Context) error {
			r, err := c.kv.Update(ctx, key, []byte(c.name), c.revision.Load())
			if err == nil {
				c.revision.Store(r)
			}
			return err
		})
	})
	return revision, nil
}

// Unlock deletes the key, if it is still this client's.
func (c *client) Unlock(ctx context.Context) error {
	c.renewal.End()
	err := c.call(ctx, remove, func(ctx context.Context) error {
		return c.kv.Delete(ctx, key, jetstream.LastRevision(c.revision.Load()))
	})
	var api *jetstream.APIError
	if errors.As(err, &api) && api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence {
		err = lock.ErrLost
	}
	return err
}

func (c *client) Close() error {
	c.conn.Close()
	return nil
}
