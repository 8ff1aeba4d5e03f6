// Package redis has a lock of one redis-server, and Redlock on three, by the library redsync.
package redis

import (
	"context"
	"errors"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/go-redsync/redsync/v4"
	pools "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"

	"dmebench/baselines/program"
	"dmebench/baselines/renew"
	"dmebench/baselines/servers"
	"dmebench/dme"
	"dmebench/lock"
)

// commands are those that the lock is made of; each has two kinds of messages.
var commands = []string{"set", "evalsha", "eval"}

const retryOption = "retry"

// System describes it.
func System() *servers.System {
	s := &servers.System{System: lock.System{Algorithm: dme.Algorithm{
		Name: "redis", Title: "Redis", Citation: "redsync v4: SET NX PX on one server, Redlock on three; https://redis.io/docs/latest/develop/clients/patterns/distributed-locks",
		Description: "The client that sets the key, on a majority of the servers, has the lock for a lease, and extends it. Others try again after a while: " +
			"there is no notification, and no order. The servers know nothing of each other, and a lock may be forgotten by one that is restarted.",
		Options: []dme.Option{
			servers.CountOption("servers: one, or three for Redlock", "1", "3"),
			dme.Choice("fsync", "whether a write is on the disk before it is answered; as Redis comes, there are snapshots", "false", "true"),
			{
				Name: retryOption, Default: "library", Words: []string{"library"}, Forms: []string{"DURATION"},
				Help: "between tries; library: redsync's own, 50 to 250 ms at random",
				Valid: func(s string) error {
					if d, err := dme.ParseDuration(s); err != nil || d <= 0 {
						return errors.New("neither library nor a duration above 0")
					}
					return nil
				},
			},
			servers.LeaseOption("5s"),
		},
	}, Servers: servers.Count, Available: available}, Serve: serve, Connect: connect}
	for _, c := range commands {
		s.Kinds = append(s.Kinds, c, c+" answer")
	}
	return s
}

func available(dme.Options) error {
	if _, err := exec.LookPath("redis-server"); err != nil {
		return errors.New("there is no redis-server; install one: apt-get install redis-server")
	}
	return nil
}

func serve(ctx context.Context, s servers.Server) error {
	host, port, err := net.SplitHostPort(s.All[s.Index].Client)
	if err != nil {
		return err
	}
	args := []string{"--bind", host, "--port", port, "--dir", s.Dir, "--daemonize", "no"}
	if s.Options.Get("fsync") == "true" {
		args = append(args, "--appendonly", "yes", "--appendfsync", "always")
	}
	c := redis.NewClient(&redis.Options{Addr: s.All[s.Index].Client})
	defer c.Close()
	return program.Run(ctx, exec.Command("redis-server", args...), syscall.SIGTERM,
		func(ctx context.Context) error { return c.Ping(ctx).Err() }, s.Ready)
}

type service struct {
	servers.Config
	clients []*redis.Client
}

func connect(ctx context.Context, c servers.Config) (servers.Service, error) {
	s := &service{Config: c}
	s.clients = s.dial(dme.None)
	return s, s.clients[0].Ping(ctx).Err()
}

func (s *service) dial(node dme.NodeID) []*redis.Client {
	m := s.MeterOf(node)
	var all []*redis.Client
	for _, at := range s.Servers {
		c := redis.NewClient(&redis.Options{Addr: at, Dialer: m.Dial, MaxRetries: -1, DialTimeout: time.Second, DisableIdentity: true})
		c.AddHook(hook{m})
		all = append(all, c)
	}
	return all
}

func (s *service) Close() error { return closeAll(s.clients) }

func closeAll(clients []*redis.Client) (err error) {
	for _, c := range clients {
		err = errors.Join(err, c.Close())
	}
	return err
}

// Status says by what a server runs. Of several none leads.
func (s *service) Status(ctx context.Context) (lock.Status, error) {
	st := lock.Status{Leader: -1, Untold: "the servers know nothing of each other", Settings: map[string]string{
		"servers": strconv.Itoa(len(s.Servers)), "fsync": s.Options.Get("fsync"), "lease": s.Options.Get("lease"), retryOption: s.Options.Get(retryOption),
	}}
	for _, c := range s.clients {
		info, err := c.Info(ctx, "server").Result()
		if err != nil {
			continue
		}
		_, version, _ := strings.Cut(info, "redis_version:")
		version, _, _ = strings.Cut(version, "\r")
		st.Settings["redis"] = version
		if len(s.Servers) == 1 {
			st.Leader = 0
		}
		return st, nil
	}
	return st, errors.New("redis: no server answers")
}

// Client implements [lock.Service].
func (s *service) Client(_ context.Context, node dme.NodeID) (lock.Client, error) {
	c := &client{clients: s.dial(node), lease: servers.Lease(s.Options)}
	var all []pools.Pool
	for _, r := range c.clients {
		all = append(all, goredis.NewPool(r))
	}
	options := []redsync.Option{redsync.WithExpiry(c.lease), redsync.WithTries(1 << 30)}
	if d, err := dme.ParseDuration(s.Options.Get(retryOption)); err == nil {
		options = append(options, redsync.WithRetryDelay(d))
	}
	c.mutex = redsync.New(all...).NewMutex("dmebench-lock", options...)
	return c, nil
}

type client struct {
	clients []*redis.Client
	lease   time.Duration
	mutex   *redsync.Mutex
	renewal *renew.Renewal
}

func (c *client) Lock(ctx context.Context) (uint64, error) {
	if err := c.mutex.LockContext(ctx); err != nil {
		return 0, err
	}
	c.renewal = renew.Start(c.lease, func(ctx context.Context) error {
		ok, err := c.mutex.ExtendContext(ctx)
		if err == nil && !ok {
			err = lock.ErrLost
		}
		return err
	})
	return 0, nil
}

func (c *client) Unlock(ctx context.Context) error {
	c.renewal.End()
	ok, err := c.mutex.UnlockContext(ctx)
	var taken *redsync.ErrTaken
	if errors.Is(err, redsync.ErrLockAlreadyExpired) || errors.As(err, &taken) || err == nil && !ok {
		return errors.Join(lock.ErrLost, err)
	}
	return err
}

func (c *client) Close() error { return closeAll(c.clients) }

// hook counts commands and their answers.
type hook struct{ lock.Meter }

func (h hook) DialHook(next redis.DialHook) redis.DialHook { return next }

func (h hook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (h hook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		for k, name := range commands {
			if strings.EqualFold(cmd.Name(), name) {
				h.Message(dme.Kind(2*k + 1))
				err := next(ctx, cmd)
				var answer redis.Error
				if err == nil || errors.As(err, &answer) {
					h.Message(dme.Kind(2*k + 2))
				}
				return err
			}
		}
		return next(ctx, cmd)
	}
}
