package control

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"dmebench/transport/nats"

	"go.uber.org/goleak"
)

// plane is a broker with a leader, which members may join.
func plane(t *testing.T) (nats.Broker, *Leader) {
	t.Helper()
	s, err := StartBroker("", 3)
	if err != nil {
		t.Fatal(err)
	}
	b := s.Broker()
	l, err := Lead(b, "r1")
	if err != nil {
		s.Close()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		l.Close()
		s.Close()
		goleak.VerifyNone(t)
	})
	return b, l
}

func join(t *testing.T, b nats.Broker, worker int, answer func(Command) Reply) *Member {
	t.Helper()
	m, err := Join(Boot{Broker: b, Run: "r1", Worker: worker}, answer)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

// ask gives one worker a command.
func ask(ctx context.Context, l *Leader, worker int, op Op) (Reply, error) {
	replies, err := l.Call(ctx, []int{worker}, Same(Command{Op: op}))
	return replies[0], err
}

func echo(c Command) Reply { return Reply{Addr: string(c.Op)} }

func TestMembersJoinAnswerAndReport(t *testing.T) {
	b, l := plane(t)
	m := join(t, b, 0, echo)
	join(t, b, 1, func(c Command) Reply {
		if c.Op == OpEntries {
			return Reply{Entries: []byte{0, 1, 255}}
		}
		return Reply{Error: "I will not"}
	})
	joined := map[int]bool{}
	for range 2 {
		e := <-l.Events()
		joined[e.Worker] = e.Joined && e.PID > 0
	}
	if !joined[0] || !joined[1] {
		t.Errorf("joined: %v", joined)
	}
	r, err := ask(t.Context(), l, 0, OpPing)
	if err != nil || r.Addr != "ping" || r.Worker != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	r, err = ask(t.Context(), l, 1, OpEntries)
	if err != nil || !slices.Equal(r.Entries, []byte{0, 1, 255}) {
		t.Errorf("records are binary: %+v, %v", r, err)
	}
	if _, err = ask(t.Context(), l, 1, OpBegin); err == nil || !strings.Contains(err.Error(), "worker 1: I will not") {
		t.Errorf("the worker's error: %v", err)
	}
	if err := m.Notify(Event{Fatal: "it hurts", Peer: 7}); err != nil {
		t.Fatal(err)
	}
	if e := <-l.Events(); e.Worker != 0 || e.Fatal != "it hurts" || e.Peer != 7 {
		t.Errorf("event %+v", e)
	}
}

func TestWhoDoesNotAnswerIsNamed(t *testing.T) {
	b, l := plane(t)
	release := make(chan struct{})
	join(t, b, 0, echo)
	join(t, b, 1, func(Command) Reply { <-release; return Reply{} })
	defer close(release)
	// Worker 2 is not there at all.
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	replies, err := l.Call(ctx, []int{2, 0, 1}, Same(Command{Op: OpReport}))
	var s *Silence
	if !errors.As(err, &s) || !slices.Equal(s.Workers, []int{1, 2}) || s.Op != OpReport {
		t.Errorf("error %v", err)
	}
	if replies[1].Addr != "report" {
		t.Errorf("the answer of worker 0 is lost: %+v", replies[1])
	}
}

// A call to a worker ends when the worker is killed, and so does one that comes later.
func TestNobodyWaitsForTheDead(t *testing.T) {
	b, l := plane(t)
	alive, kill := context.WithCancel(t.Context())
	l.Alive = func(worker int) context.Context { return map[int]context.Context{0: t.Context(), 1: alive}[worker] }
	release := make(chan struct{})
	defer close(release)
	join(t, b, 0, echo)
	join(t, b, 1, func(Command) Reply { kill(); <-release; return Reply{} })
	for range 2 { // while it dies, and after that
		replies, err := l.Call(t.Context(), []int{0, 1}, Same(Command{Op: OpStep}))
		var s *Silence
		if !errors.As(err, &s) || !slices.Equal(s.Workers, []int{1}) {
			t.Errorf("error %v", err)
		}
		if replies[0].Addr != "step" {
			t.Errorf("the answer of worker 0 is lost: %+v", replies[0])
		}
	}
}

func TestQuitIsAnsweredBeforeItTakesEffect(t *testing.T) {
	b, l := plane(t)
	m := join(t, b, 0, echo)
	r, err := ask(t.Context(), l, 0, OpQuit)
	if err != nil || r.Addr != "quit" {
		t.Errorf("%+v, %v", r, err)
	}
	if err := <-m.Ended(); err != nil {
		t.Error(err)
	}
}

func TestStrangersCannotConnect(t *testing.T) {
	b, _ := plane(t)
	for _, token := range []string{"", "guess"} {
		b.Token = token
		if m, err := Join(Boot{Broker: b, Run: "r1"}, echo); err == nil {
			m.Close()
			t.Errorf("token %q was accepted", token)
		}
	}
}

func TestMembersLearnThatThePlaneIsGone(t *testing.T) {
	s, err := StartBroker("", 3)
	if err != nil {
		t.Fatal(err)
	}
	m := join(t, s.Broker(), 0, echo)
	s.Close()
	if <-m.Ended() == nil {
		t.Error("taken for a command to quit")
	}
}

// Nobody but this host can connect: nothing encrypts what passes.
func TestNoBrokerListensToOtherHosts(t *testing.T) {
	for _, listen := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:0"} {
		b, err := StartBroker(listen, 1)
		if err == nil {
			t.Errorf("%s: it listens at %s", listen, b.Broker().URL)
			b.Close()
		} else if !strings.Contains(err.Error(), "such as "+DefaultListen) {
			t.Errorf("%s: %v; that does not say what to do", listen, err)
		}
	}
	for _, listen := range []string{"127.0.0.1:0", "127.0.0.2:0", "localhost:0", "[::1]:0"} {
		if l, err := net.Listen("tcp", listen); err != nil {
			continue // this host has no such address
		} else {
			l.Close()
		}
		s, err := StartBroker(listen, 1)
		if err != nil {
			t.Errorf("%s: %v", listen, err)
			continue
		}
		if err := s.Broker().Check(); err != nil {
			t.Errorf("%s: nobody reaches it: %v", listen, err)
		}
		s.Close()
	}
}

func TestWhereABrokerCannotListen(t *testing.T) {
	for _, listen := range []string{"nonsense", "127.0.0.1:99999"} {
		b, err := StartBroker(listen, 3)
		if err == nil {
			b.Close()
		}
		if !errors.Is(err, ErrListen) || !strings.Contains(err.Error(), listen) {
			t.Errorf("%s: %v", listen, err)
		}
	}
}
