package control

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"sync"

	"github.com/nats-io/nats.go"
)

// Member is a worker's end of the control plane.
type Member struct {
	boot Boot
	conn *nats.Conn
	lost chan error
	quit chan struct{}

	quitOnce sync.Once
}

// Join connects a worker to its run. answer is called for one command at a
// time, and what it returns is sent back.
func Join(boot Boot, answer func(Command) Reply) (*Member, error) {
	m := &Member{boot: boot, lost: make(chan error, 1), quit: make(chan struct{})}
	var err error
	m.conn, err = connect(boot.Broker, fmt.Sprintf("dmebench worker %d", boot.Worker), func(err error) {
		select {
		case m.lost <- err:
		default:
		}
	})
	if err != nil {
		return nil, fmt.Errorf("control: worker %d: %w", boot.Worker, err)
	}
	_, err = m.conn.Subscribe(fmt.Sprintf("%s.w.%d", prefix(boot.Run), boot.Worker), func(msg *nats.Msg) {
		var c Command
		r := Reply{Worker: boot.Worker}
		if err := json.Unmarshal(msg.Data, &c); err != nil {
			r.Error = "control: command cannot be read: " + err.Error()
		} else {
			r = answer(c)
			r.Worker = boot.Worker
		}
		m.respond(msg, r)
		if c.Op == OpQuit {
			m.quitOnce.Do(func() { close(m.quit) })
		}
	})
	if err == nil {
		err = m.Notify(Event{Joined: true, PID: os.Getpid()})
	}
	if err != nil {
		m.conn.Close()
		return nil, fmt.Errorf("control: worker %d: %w", boot.Worker, err)
	}
	return m, nil
}

func (m *Member) respond(msg *nats.Msg, r Reply) {
	out := &nats.Msg{Subject: msg.Reply}
	if r.Entries != nil && r.Error == "" {
		out.Header = nats.Header{"Binary": {"1"}}
		out.Data = r.Entries
	} else {
		var err error
		if out.Data, err = json.Marshal(r); err != nil {
			out.Data, _ = json.Marshal(Reply{Worker: m.boot.Worker, Error: "control: " + err.Error()})
		}
	}
	if err := m.conn.PublishMsg(out); err == nil {
		m.conn.Flush()
	}
}

// Notify tells the coordinator something unasked, and waits until it is on its
// way.
func (m *Member) Notify(e Event) error {
	e.Worker = m.boot.Worker
	body, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if err := m.conn.Publish(prefix(m.boot.Run)+".up", body); err != nil {
		return err
	}
	return m.conn.FlushTimeout(startTimeout)
}

// Renew asks the coordinator itself whether this worker may go on. An error says that
// there was no answer.
func (m *Member) Renew(ctx context.Context) (may bool, err error) {
	answer, err := m.conn.RequestWithContext(ctx, fmt.Sprintf("%s.lease.%d", prefix(m.boot.Run), m.boot.Worker), nil)
	if err != nil {
		return false, err
	}
	return strconv.ParseBool(string(answer.Data))
}

// Lost tells when the control plane is gone.
func (m *Member) Lost() <-chan error { return m.lost }

// Quit tells when a quit command has been answered.
func (m *Member) Quit() <-chan struct{} { return m.quit }

// Close disconnects.
func (m *Member) Close() { m.conn.Close() }
