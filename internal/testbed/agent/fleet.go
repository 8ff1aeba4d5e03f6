package agent

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	natsgo "github.com/nats-io/nats.go"

	"dmebench/internal/platform"
	"dmebench/internal/platform/clock"
	"dmebench/internal/platform/environment"
	"dmebench/transport/nats"
)

// Fleet is the agents at a server, as a coordinator sees them. Its methods may be
// called from several goroutines.
type Fleet struct {
	broker  nats.Broker
	conn    *natsgo.Conn
	clock   *clock.Clock
	program environment.Program // this program
	holder  string              // names the coordinator to agents
	prefix  string              // of the subjects on which answers come

	taken    sync.Map      // *Remote, that take part in runs
	reserved sync.Map      // agents that took part, by instance: the last lease
	waiting  sync.Map      // func(response), by the last part of the subject
	count    atomic.Uint64 // of subjects
}

// response is an answer, or says that nobody is there to answer.
type response struct {
	answer
	body     []byte
	absent   bool
	returned int64 // when it came, on this host's clock
}

// Connect connects a coordinator to the server at which the agents are. The connection
// comes back by itself when the server does.
func Connect(ctx context.Context, b nats.Broker) (*Fleet, error) {
	if err := CheckBroker(b); err != nil {
		return nil, err
	}
	program, err := environment.ThisProgram()
	if err != nil {
		return nil, err
	}
	name, err := os.Hostname()
	if err != nil {
		name = "an unknown host"
	}
	f := &Fleet{broker: b, clock: clock.New(), program: program,
		holder: fmt.Sprintf("the coordinator on %.200s, pid %d", name, os.Getpid())}
	opts := append(connection(b, "coordinator"),
		natsgo.DisconnectErrHandler(func(_ *natsgo.Conn, err error) { f.cutOff(err) }),
		natsgo.ErrorHandler(func(*natsgo.Conn, *natsgo.Subscription, error) {})) // the waiting call hears of it
	f.conn, err = platform.Interruptible(ctx, func() (*natsgo.Conn, error) { return b.Dial(opts...) })
	if err != nil {
		return nil, err
	}
	f.prefix = f.conn.NewInbox() + "."
	if _, err = f.conn.Subscribe(f.prefix+"*", f.answered); err == nil {
		err = f.conn.Flush()
	}
	if err != nil {
		f.conn.Close()
		return nil, fmt.Errorf("agent: coordinator: %w", err)
	}
	return f, nil
}

// Close leaves the agents to others and disconnects. The hosts were closed before.
func (f *Fleet) Close() {
	for instance, lease := range f.reserved.Range {
		q := message(request{Op: string(askGiveUp), Lease: lease.(string)}, encode(nothing{}))
		_ = f.conn.Publish(subjectOf(instance.(string)), q) // else it is reserved for some seconds more
	}
	_ = f.conn.FlushTimeout(time.Second)
	f.conn.Close()
}

func (f *Fleet) Broker() nats.Broker { return f.broker }

// cutOff gives all hosts up that take part in runs: without the server no run goes on.
func (f *Fleet) cutOff(why error) {
	if why == nil {
		return // closed by this process
	}
	for h := range f.taken.Range {
		h.(*Remote).lose(fmt.Errorf("the coordinator's connection to %s is lost: %w", f.broker.Name(), why), false)
	}
}

// expect has a function called with the answers that come to a subject of its own. It
// must not wait.
func (f *Fleet) expect(hear func(response)) (subject string, forget func()) {
	token := fmt.Sprint(f.count.Add(1))
	f.waiting.Store(token, hear)
	return f.prefix + token, func() { f.waiting.Delete(token) }
}

func (f *Fleet) answered(m *natsgo.Msg) {
	r := response{returned: f.clock.Now()}
	if len(m.Data) == 0 && m.Header.Get("Status") == "503" {
		r.absent = true
	} else {
		head, body, _ := bytes.Cut(m.Data, []byte("\n"))
		if err := json.Unmarshal(head, &r.answer); err != nil {
			r.answer = answer{Error: "the answer cannot be read: " + err.Error()}
		}
		r.body = body
	}
	if hear, ok := f.waiting.Load(strings.TrimPrefix(m.Subject, f.prefix)); ok {
		hear.(func(response))(r)
	}
}

const (
	askAgain  = 300 * time.Millisecond // between roll calls
	moreCome  = 300 * time.Millisecond // for others, once enough are there
	listAtAll = time.Second            // if it is not known how many there are
)

// gather collects agents until enough of them count, or for some time; for a second if none are
// expected.
func (f *Fleet) gather(ctx context.Context, expect int, patience time.Duration, count func([]Info) int) ([]Info, error) {
	if expect <= 0 {
		patience = min(patience, listAtAll)
	}
	q := message(request{Op: string(askDescribe)}, encode(nothing{}))
	heard := make(chan Info, 1024)
	subject, forget := f.expect(func(r response) {
		var i Info
		if r.Error != "" || json.Unmarshal(r.body, &i) != nil {
			return
		}
		select {
		case heard <- i:
		default: // asked again
		}
	})
	defer forget()
	there := make(map[string]Info)
	list := func() []Info {
		var all []Info
		for _, i := range there {
			all = append(all, i)
		}
		slices.SortFunc(all, func(a, b Info) int {
			return cmp.Or(compareNames(a.Name, b.Name), strings.Compare(a.Instance, b.Instance))
		})
		return all
	}
	end := time.After(patience)
	ask := time.NewTimer(0)
	defer ask.Stop()
	var complete <-chan time.Time
	for {
		select {
		case i := <-heard:
			there[i.Instance] = i
			if complete == nil && expect > 0 && count(list()) >= expect {
				complete = time.After(moreCome)
			}
		case <-ask.C:
			_ = f.conn.PublishRequest(discovery, subject, q) // where the server is gone for now, it is asked again
			ask.Reset(askAgain)
		case <-complete:
			return list(), nil
		case <-end:
			if !f.conn.IsConnected() {
				return nil, fmt.Errorf("agents: the connection to %s is lost", f.broker.Name())
			}
			return list(), nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// Discover returns the agents that can take part in a run: those that run this very program and are
// free. It waits until expect are there, or takes those that are there after a second if none are
// expected. The error says which are missing, and why, and what to do.
func (f *Fleet) Discover(ctx context.Context, expect int, patience time.Duration) ([]Info, error) {
	all, err := f.gather(ctx, expect, patience, func(all []Info) int {
		free, _ := f.able(all)
		return len(free)
	})
	if err != nil {
		return nil, err
	}
	free, unable := f.able(all)
	if len(free) < max(expect, 1) {
		return nil, f.tooFew(free, unable, expect, patience)
	}
	return free, agree(free)
}

// able returns the agents that can take part, and says why the others cannot.
func (f *Fleet) able(all []Info) (free []Info, unable []string) {
	for _, i := range all {
		switch {
		case !i.Program.Same(f.program):
			unable = append(unable, f.otherProgram(i).Error())
		case i.Holder != "" && !(i.Between && i.Holder == f.holder):
			unable = append(unable, fmt.Sprintf("%s is in use by %s", i.Name, i.Holder))
		default:
			free = append(free, i)
		}
	}
	return free, unable
}

func (f *Fleet) otherProgram(i Info) error {
	return fmt.Errorf("%s runs another program: %s, while this is %s; install the same build on all hosts", i.Name, i.Program, f.program)
}

func (f *Fleet) tooFew(free []Info, unable []string, expect int, patience time.Duration) error {
	var names []string
	for _, i := range free {
		names = append(names, fmt.Sprintf("%s (%s)", i.Name, i.Address))
	}
	text := fmt.Sprintf("agents: ready after %v at %s: %s, of %d that are to take part",
		patience, f.broker.Name(), cmp.Or(strings.Join(names, ", "), "none"), max(expect, 1))
	for _, u := range unable {
		text += "; " + u
	}
	if unable == nil {
		text += "; start the others by 'dmebench agent --nats-url URL' with the URL of that server"
	}
	return errors.New(text)
}

// agree refuses agents that have the same name, or cannot all reach one another.
func agree(agents []Info) error {
	var errs []error
	near := slices.IndexFunc(agents, func(i Info) bool { return loopback(i.Address) })
	far := slices.IndexFunc(agents, func(i Info) bool { return !loopback(i.Address) })
	for k, i := range agents {
		if k > 0 && i.Name == agents[k-1].Name {
			errs = append(errs, fmt.Errorf("agents: two are named %s, at %s and %s (pids %d and %d): "+
				"end one, or give it another --name", i.Name, agents[k-1].Address, i.Address, agents[k-1].PID, i.PID))
		}
	}
	if near >= 0 && far >= 0 {
		errs = append(errs, fmt.Errorf("agents: %s, at %s, cannot be reached from %s, at %s: give the former its --address",
			agents[near].Name, agents[near].Address, agents[far].Name, agents[far].Address))
	}
	return errors.Join(errs...)
}
