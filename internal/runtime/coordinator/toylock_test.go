package coordinator

import (
	"context"
	"encoding/json"
	"net"
	"sync"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/lock"
)

// This file is a lock service with leases and fencing tokens: small enough to see that it is
// right, with options by which it is wrong. Its one server is there before a run.

// The messages, in the order of Kinds.
const (
	call dme.Kind = iota + 1
	answer
)

// toyLock describes the service. With early=true its clients give the lock back as soon as they have it.
func toyLock() *lock.System {
	return &lock.System{Algorithm: dme.Algorithm{
		Name: "toy-lock", Title: "toy lock service", Citation: "nobody", Kinds: []string{"call", "answer"},
		Options: []dme.Option{
			{Name: "at", Default: "nowhere", Forms: []string{"HOST:PORT"}, Help: "where the server is",
				Valid: func(at string) error { _, _, err := net.SplitHostPort(at); return err }},
			{Name: "lease", Default: "2s", Forms: []string{"DURATION"}, Help: "after how long the lock is taken away",
				Valid: dme.Valid(dme.ParseDuration)},
			{Name: "fencing", Default: "true", Words: []string{"true", "false"}, Help: "whether there are tokens"},
			{Name: "early", Default: "false", Words: []string{"false", "true"}, Help: "whether the lock is given back too early"},
		},
		Fencing: func(o dme.Options) bool { return o.Get("fencing") == "true" },
	},
		Start: func(_ context.Context, c lock.Config) (lock.Service, error) { return service(c), nil },
	}
}

func toyLease(o dme.Options) time.Duration {
	d, _ := dme.ParseDuration(o.Get("lease"))
	return d
}

// server has one lock. It is free if holder is nil.
type server struct {
	mu      sync.Mutex
	lease   time.Duration
	holder  *session
	expiry  *time.Timer
	token   uint64
	drops   uint64 // it hangs up on the first who asks after so many grants; 0: on nobody
	waiting []*session
}

type session struct{ out *json.Encoder }

// startToyLock starts a server, and returns where it is.
func startToyLock(t *testing.T, lease time.Duration, drops uint64) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := &server{lease: lease, drops: drops}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { at.hear(c) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		serving.Wait() // for clients, which have ended
		at.mu.Lock()
		defer at.mu.Unlock()
		if at.expiry != nil {
			at.expiry.Stop()
		}
	})
	return l.Addr().String()
}

type request struct{ Op string }

type reply struct {
	Token uint64
	Lost  bool
}

func (s *server) hear(c net.Conn) {
	defer c.Close()
	me, in := &session{json.NewEncoder(c)}, json.NewDecoder(c)
	for {
		var r request
		if in.Decode(&r) != nil {
			return // what it holds it holds until its lease is over
		}
		s.mu.Lock()
		switch {
		case r.Op == "lock" && s.drops > 0 && s.token >= s.drops:
			s.drops = 0
			s.mu.Unlock()
			return
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
		meter: s.Meter(node), server: s.Options.Get("at"), lease: toyLease(s.Options),
		fencing: s.Options.Get("fencing") == "true", early: s.Options.Get("early") == "true",
	}
	return c, c.dial(ctx)
}

func (c *client) dial(ctx context.Context) (err error) {
	if c.Conn != nil {
		c.Conn.Close()
	}
	if c.Conn, err = new(net.Dialer).DialContext(ctx, "tcp", c.server); err == nil {
		c.in, c.out = json.NewDecoder(c.Conn), json.NewEncoder(c)
	}
	return err
}

// Write counts what the server is sent.
func (c *client) Write(b []byte) (int, error) {
	c.meter.Bytes(len(b))
	return c.Conn.Write(b)
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
	c.meter.Message(call)
	err := c.out.Encode(request{op})
	if err == nil {
		err = c.in.Decode(&r)
	}
	if err == nil {
		c.meter.Message(answer)
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
