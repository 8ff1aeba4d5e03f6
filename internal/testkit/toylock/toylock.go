// Package toylock is a lock service of one server with leases and fencing tokens, for tests:
// small enough to see that it is right, with options by which it is wrong.
package toylock

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"dmebench/dme"
	"dmebench/lock"
)

// The messages, in the order of Kinds.
const (
	call dme.Kind = iota + 1
	answer
)

// System returns the service. With early=true its clients give the lock back as soon as they have it.
func System() *lock.System {
	return &lock.System{
		Name: "toy-lock", Title: "toy lock service", Citation: "nobody", Kinds: []string{"call", "answer"},
		Options: []dme.Option{
			lock.LeaseOption("1s"),
			{Name: "fencing", Default: "true", Words: []string{"true", "false"}, Help: "whether there are tokens"},
			{Name: "early", Default: "false", Words: []string{"false", "true"}, Help: "whether the lock is given back too early"},
		},
		Servers: func(dme.Options) int { return 1 },
		Lease:   lock.Lease,
		Fencing: func(o dme.Options) bool { return o.Get("fencing") == "true" },
		Serve:   serve,
		Start:   func(_ context.Context, c lock.Config) (lock.Service, error) { return service(c), nil },
	}
}

type request struct{ Op string }

type reply struct {
	Token uint64
	Lost  bool
}

// server has one lock. It is free if holder is nil.
type server struct {
	mu      sync.Mutex
	lease   time.Duration
	holder  *session
	expiry  *time.Timer
	token   uint64
	memory  string // the file that has the token when the server is started again
	waiting []*session
}

type session struct{ out *json.Encoder }

func serve(ctx context.Context, s lock.Server) error {
	l, err := net.Listen("tcp", s.All[0].Client)
	if err != nil {
		return err
	}
	context.AfterFunc(ctx, func() { l.Close() })
	at := &server{lease: lock.Lease(s.Options), memory: filepath.Join(s.Dir, "token")}
	if b, err := os.ReadFile(at.memory); err == nil {
		at.token, _ = strconv.ParseUint(string(b), 10, 64)
	}
	s.Ready()
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		go at.hear(c)
	}
}

func (s *server) hear(c net.Conn) {
	me, in := &session{json.NewEncoder(c)}, json.NewDecoder(c)
	for {
		var r request
		if in.Decode(&r) != nil {
			return // what it holds it holds until its lease is over
		}
		s.mu.Lock()
		switch {
		case r.Op == "lock":
			s.waiting = append(s.waiting, me)
			s.grant()
		case s.holder != me:
			_ = me.out.Encode(reply{Lost: true})
		case r.Op == "renew":
			s.expiry.Reset(s.lease)
			_ = me.out.Encode(reply{Token: s.token})
		default:
			s.free()
			_ = me.out.Encode(reply{Token: s.token})
		}
		s.mu.Unlock()
	}
}

func (s *server) grant() {
	if s.holder != nil || len(s.waiting) == 0 {
		return
	}
	s.holder, s.waiting = s.waiting[0], s.waiting[1:]
	s.token++
	// One that is started again goes on from there.
	if os.WriteFile(s.memory+".new", strconv.AppendUint(nil, s.token, 10), 0o600) == nil {
		_ = os.Rename(s.memory+".new", s.memory)
	}
	holder, token := s.holder, s.token
	s.expiry = time.AfterFunc(s.lease, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.holder == holder && s.token == token {
			s.free()
		}
	})
	_ = holder.out.Encode(reply{Token: token})
}

func (s *server) free() {
	s.expiry.Stop()
	s.holder = nil
	s.grant()
}

type service lock.Config

func (s service) Client(ctx context.Context, node dme.NodeID) (lock.Client, error) {
	c := &client{
		meter: s.Meter(node), server: s.Servers[0], lease: lock.Lease(s.Options),
		fencing: s.Options.Get("fencing") == "true", early: s.Options.Get("early") == "true",
	}
	return c, c.dial(ctx)
}

func (c *client) dial(ctx context.Context) (err error) {
	if c.Conn != nil {
		c.Conn.Close()
	}
	if c.Conn, err = c.meter.Dial(ctx, "tcp", c.server); err == nil {
		c.in, c.out = json.NewDecoder(c.Conn), json.NewEncoder(c.Conn)
	}
	return err
}

func (s service) Status(context.Context) (lock.Status, error) {
	settings := map[string]string{"lease": s.Options.Get("lease")}
	return lock.Status{Settings: settings, Untold: "one server has nobody to talk to"}, nil
}

func (s service) Close() error { return nil }

type client struct {
	net.Conn
	in      *json.Decoder
	out     *json.Encoder
	meter   lock.Meter
	server  string
	broken  bool
	lease   time.Duration
	fencing bool
	early   bool
	end     chan struct{} // of the renewals
	renewed sync.WaitGroup
}

func (c *client) do(op string) (reply, error) {
	var r reply
	c.meter.Sent(call)
	err := c.out.Encode(request{op})
	if err == nil {
		err = c.in.Decode(&r)
	}
	if err == nil {
		c.meter.Received(answer)
	}
	c.broken = err != nil
	return r, err
}

func (c *client) Lock(ctx context.Context) (fencing uint64, err error) {
	if c.broken {
		if err := c.dial(ctx); err != nil {
			return 0, err
		}
	}
	stop := context.AfterFunc(ctx, func() { c.Conn.Close() })
	defer stop()
	r, err := c.do("lock")
	if err != nil {
		return 0, err
	}
	if c.early {
		_, err := c.do("unlock")
		return 0, err
	}
	c.end = make(chan struct{})
	c.renewed.Go(c.renew)
	if !c.fencing {
		r.Token = 0
	}
	return r.Token, nil
}

func (c *client) renew() {
	every := time.NewTicker(c.lease / 3)
	defer every.Stop()
	for {
		select {
		case <-every.C:
			if r, err := c.do("renew"); err != nil || r.Lost {
				return
			}
		case <-c.end:
			return
		}
	}
}

func (c *client) Unlock(context.Context) error {
	if c.early {
		return nil
	}
	close(c.end)
	c.renewed.Wait()
	r, err := c.do("unlock")
	if err == nil && r.Lost {
		err = lock.ErrLost
	}
	return err
}
