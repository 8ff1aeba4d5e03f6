// Package postgres has the advisory lock of a PostgreSQL server.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"dmebench/baselines/program"
	"dmebench/baselines/servers"
	"dmebench/dme"
	"dmebench/lock"
)

// The messages, in the order of Kinds.
const (
	take dme.Kind = iota + 1
	taken
	give
	given
)

// key is what the lock is a number for.
const key = 1

// System describes it.
func System() *servers.System {
	return &servers.System{System: lock.System{Algorithm: dme.Algorithm{
		Name: "postgres", Title: "PostgreSQL", Citation: "PostgreSQL, explicit locking, advisory locks: pg_advisory_lock and pg_advisory_unlock",
		Description: "A session has the lock until it gives it back or its connection ends; waiters stand in a queue of the server. " +
			"There is no lease: a client that stands still keeps the lock, and one that dies loses it at once. The lock is in the memory of one server.",
		Kinds: []string{"lock", "lock answer", "unlock", "unlock answer"},
	},
		Servers:   func(dme.Options) int { return 1 },
		Available: func(dme.Options) error { _, err := binaries(); return err },
	}, Serve: serve, Connect: connect}
}

// binaries returns the folder of the newest server that is installed.
func binaries() (string, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres") // where Debian has them, and no PATH
	if path, err := exec.LookPath("postgres"); found == nil && err == nil {
		found = append(found, path)
	}
	if found == nil {
		return "", errors.New("there is no PostgreSQL server; install one: apt-get install postgresql")
	}
	return filepath.Dir(slices.Max(found)), nil
}

func serve(ctx context.Context, s servers.Server) error {
	bin, err := binaries()
	if err != nil {
		return err
	}
	data := filepath.Join(s.Dir, "data")
	if _, err := os.Stat(data); err != nil {
		cmd := exec.CommandContext(ctx, filepath.Join(bin, "initdb"), "-D", data, "-U", "dmebench", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C")
		if err := program.As("postgres", s.Dir, cmd); err != nil {
			return err
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("initdb: %w: %s", err, out)
		}
	}
	host, port, err := net.SplitHostPort(s.All[0].Client)
	if err != nil {
		return err
	}
	cmd := exec.Command(filepath.Join(bin, "postgres"), "-D", data, "-h", host, "-p", port, "-k", s.Dir)
	if err := program.As("postgres", s.Dir, cmd); err != nil {
		return err
	}
	return program.Run(ctx, cmd, syscall.SIGINT, func(ctx context.Context) error {
		c, err := pgx.Connect(ctx, address(s.All[0].Client))
		if err == nil {
			err = c.Close(ctx)
		}
		return err
	}, s.Ready)
}

func address(server string) string {
	return "postgres://dmebench@" + server + "/postgres?sslmode=disable"
}

type service struct{ servers.Config }

func connect(ctx context.Context, c servers.Config) (servers.Service, error) {
	s := service{c}
	_, err := s.Status(ctx)
	return s, err
}

func (s service) dial(ctx context.Context, node dme.NodeID) (*pgx.Conn, error) {
	c, err := pgx.ParseConfig(address(s.Servers[0]))
	if err != nil {
		return nil, err
	}
	c.DialFunc = s.MeterOf(node).Dial
	c.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol // one message asks, one lot of them answers
	return pgx.ConnectConfig(ctx, c)
}

// Client implements [lock.Service].
func (s service) Client(ctx context.Context, node dme.NodeID) (lock.Client, error) {
	c := &client{service: s, node: node, meter: s.Meter(node)}
	var err error
	c.conn, err = s.dial(ctx, node)
	return c, err
}

func (s service) Status(ctx context.Context) (lock.Status, error) {
	st := lock.Status{Leader: 0, Settings: map[string]string{"servers": "1"}, Untold: "there is one server"}
	c, err := s.dial(ctx, dme.None)
	if err != nil {
		return st, err
	}
	defer c.Close(ctx)
	for _, name := range []string{"server_version", "tcp_keepalives_idle"} {
		var value string
		if err := c.QueryRow(ctx, "SELECT current_setting($1)", name).Scan(&value); err != nil {
			return st, err
		}
		st.Settings[name] = value
	}
	return st, nil
}

func (s service) Close() error { return nil }

type client struct {
	service service
	node    dme.NodeID
	meter   lock.Meter
	conn    *pgx.Conn
}

func (c *client) Lock(ctx context.Context) (uint64, error) {
	if c.conn == nil || c.conn.IsClosed() {
		opening, cancel := context.WithTimeout(ctx, 2*time.Second)
		defer cancel()
		var err error
		if c.conn, err = c.service.dial(opening, c.node); err != nil {
			return 0, err
		}
	}
	c.meter.Message(take)
	if _, err := c.conn.Exec(ctx, "SELECT pg_advisory_lock($1)", key); err != nil {
		return 0, err
	}
	c.meter.Message(taken)
	return 0, nil
}

// Unlock gives the lock back, which is lost if the connection is.
func (c *client) Unlock(ctx context.Context) error {
	var held bool
	c.meter.Message(give)
	err := c.conn.QueryRow(ctx, "SELECT pg_advisory_unlock($1)", key).Scan(&held)
	if err != nil || !held {
		return errors.Join(lock.ErrLost, err)
	}
	c.meter.Message(given)
	return nil
}

func (c *client) Close() error {
	if c.conn == nil {
		return nil
	}
	return c.conn.Close(context.Background())
}
