// Package etcd has the lock of etcd's own library, concurrency.Mutex, on embedded servers.
package etcd

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/version"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/stats"

	"dmebench/baselines/servers"
	"dmebench/dme"
	"dmebench/lock"
	"dmebench/runs"
)

// methods are the calls of etcd's that its lock is made of, by the ends of their names; each
// has two kinds of messages.
var methods = []string{"Txn", "Range", "DeleteRange", "LeaseGrant", "LeaseRevoke", "LeaseKeepAlive", "Watch"}

const fsync = "fsync"

// pingEvery is the least that gRPC allows.
const pingEvery = 10 * time.Second

// System describes it.
func System() *servers.System {
	s := &servers.System{System: lock.System{Algorithm: dme.Algorithm{
		Name: "etcd", Title: "etcd", Citation: "go.etcd.io/etcd/client/v3/concurrency, Mutex and Session",
		Description: "Each waiter writes a key with a lease and waits for the deletion of the key before its own: a queue in etcd's order. " +
			"The servers agree by Raft and write to the disk before they answer; the lock survives while a majority of them does.",
		Options: []dme.Option{
			servers.CountOption("members of the cluster", "1", "3"),
			dme.Choice(fsync, "whether a write is on the disk before it is answered", "true", "false"),
			servers.LeaseOption("5s"),
		},
		Fencing: func(dme.Options) bool { return true },
	}, Servers: servers.Count}, Serve: serve, Connect: connect}
	for _, m := range methods {
		s.Kinds = append(s.Kinds, m, m+" answer")
	}
	return s
}

func address(hostport string) url.URL { return url.URL{Scheme: "http", Host: hostport} }

func name(server int) string { return fmt.Sprintf("server%d", server+1) }

func serve(ctx context.Context, s servers.Server) error {
	c := embed.NewConfig()
	at := s.All[s.Index]
	c.Name, c.Dir = name(s.Index), s.Dir
	c.ListenClientUrls, c.AdvertiseClientUrls = []url.URL{address(at.Client)}, []url.URL{address(at.Client)}
	c.ListenPeerUrls, c.AdvertisePeerUrls = []url.URL{address(at.Peer)}, []url.URL{address(at.Reach)}
	var cluster []string
	for i, p := range s.All {
		peer := address(p.Reach)
		cluster = append(cluster, name(i)+"="+peer.String())
	}
	c.InitialCluster = strings.Join(cluster, ",")
	c.UnsafeNoFsync = s.Options.Get(fsync) == "false"
	c.LogLevel = "error"
	e, err := embed.StartEtcd(c)
	if err != nil {
		return err
	}
	defer e.Close()
	for {
		select {
		case <-e.Server.ReadyNotify():
			s.Ready()
			select {
			case err := <-e.Err():
				return err
			case <-ctx.Done():
				return nil
			}
		case err := <-e.Err():
			return err
		case <-ctx.Done():
			return nil
		}
	}
}

type service struct {
	servers.Config
	client *clientv3.Client // counts nothing
}

func connect(ctx context.Context, c servers.Config) (servers.Service, error) {
	s := &service{Config: c}
	var err error
	s.client, err = s.dial(dme.None)
	if err == nil {
		_, err = s.client.Get(ctx, "ready")
	}
	return s, err
}

func (s *service) dial(node dme.NodeID) (*clientv3.Client, error) {
	m := s.MeterOf(node)
	return clientv3.New(clientv3.Config{
		Endpoints: s.Servers, DialTimeout: 5 * time.Second, Logger: zap.NewNop(),
		// Without these a client waits for ever for a server that is cut off.
		DialKeepAliveTime: pingEvery, DialKeepAliveTimeout: time.Second, PermitWithoutStream: true,
		DialOptions: []grpc.DialOption{
			grpc.WithStatsHandler(counter{m}),
			grpc.WithContextDialer(func(ctx context.Context, at string) (net.Conn, error) { return m.Dial(ctx, "tcp", at) }),
		},
	})
}

func (s *service) Close() error { return s.client.Close() }

// Client implements [lock.Service].
func (s *service) Client(_ context.Context, node dme.NodeID) (lock.Client, error) {
	etcd, err := s.dial(node)
	if err != nil {
		return nil, err
	}
	c := &client{etcd: etcd, lease: servers.Lease(s.Options)}
	return c, c.open()
}

// Status asks each server, past any relay.
func (s *service) Status(ctx context.Context) (lock.Status, error) {
	st := lock.Status{Leader: -1, Settings: map[string]string{
		"etcd": version.Version, "servers": strconv.Itoa(len(s.Servers)), fsync: s.Options.Get(fsync), "lease": s.Options.Get("lease"),
		"heartbeat": "100ms", "election": "1s", "ping": pingEvery.String(),
	}}
	bytes := uint64(0)
	for i, at := range s.All {
		asking, cancel := context.WithTimeout(ctx, time.Second)
		r, err := s.client.Status(asking, at.Client)
		cancel()
		if err != nil {
			continue // down, and the others answer
		}
		if r.Leader == r.Header.MemberId {
			st.Leader = i
		}
		sent, err := peerBytes(ctx, at.Client)
		if err != nil {
			return st, err
		}
		bytes += sent
	}
	if st.Leader < 0 {
		return st, fmt.Errorf("etcd: no server leads")
	}
	if st.Between = &(runs.Between{Bytes: &bytes}); len(s.All) == 1 {
		st.Between, st.Untold = nil, "there is one server"
	}
	return st, nil
}

// peerBytes reads from a server's Prometheus metrics how many bytes it has sent to the others.
func peerBytes(ctx context.Context, server string) (sum uint64, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+server+"/metrics", nil)
	if err != nil {
		return 0, err
	}
	r, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer r.Body.Close()
	lines := bufio.NewScanner(r.Body)
	for lines.Scan() {
		if line := lines.Text(); strings.HasPrefix(line, "etcd_network_peer_sent_bytes_total{") {
			x, err := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:], 64)
			if err != nil {
				return 0, err
			}
			sum += uint64(x)
		}
	}
	return sum, lines.Err()
}

type client struct {
	etcd    *clientv3.Client
	lease   time.Duration
	session *concurrency.Session
	mutex   *concurrency.Mutex
}

// open opens a session: a lease, in whole seconds, that the library keeps alive.
func (c *client) open() (err error) {
	c.session, err = concurrency.NewSession(c.etcd, concurrency.WithTTL(int(max(1, c.lease.Seconds()))))
	return err
}

func (c *client) Lock(ctx context.Context) (fencing uint64, err error) {
	if c.session == nil {
		err = c.open()
	} else {
		select {
		case <-c.session.Done():
			err = c.open()
		default:
		}
	}
	if err != nil {
		return 0, err
	}
	c.mutex = concurrency.NewMutex(c.session, "/dmebench/lock")
	if err := c.mutex.Lock(ctx); err != nil {
		return 0, err
	}
	return uint64(c.mutex.Header().Revision), nil
}

// Unlock deletes the client's key, which is gone if the lease was over.
func (c *client) Unlock(ctx context.Context) error {
	r, err := c.etcd.Txn(ctx).If(c.mutex.IsOwner()).Then(clientv3.OpDelete(c.mutex.Key())).Commit()
	if err == nil && !r.Succeeded {
		err = lock.ErrLost
	}
	return err
}

func (c *client) Close() error { return c.etcd.Close() }

// counter counts the messages of calls.
type counter struct{ lock.Meter }

type methodKey struct{}

func (c counter) TagRPC(ctx context.Context, i *stats.RPCTagInfo) context.Context {
	method := i.FullMethodName[strings.LastIndexByte(i.FullMethodName, '/')+1:]
	for k, m := range methods {
		if m == method {
			return context.WithValue(ctx, methodKey{}, dme.Kind(2*k+1))
		}
	}
	return ctx
}

func (c counter) HandleRPC(ctx context.Context, s stats.RPCStats) {
	kind, known := ctx.Value(methodKey{}).(dme.Kind)
	if !known {
		return
	}
	switch s.(type) {
	case *stats.OutPayload:
		c.Message(kind)
	case *stats.InPayload:
		c.Message(kind + 1)
	}
}

func (counter) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

func (counter) HandleConn(context.Context, stats.ConnStats) {}
