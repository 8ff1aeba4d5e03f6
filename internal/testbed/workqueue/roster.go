package workqueue

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	natsgo "github.com/nats-io/nats.go"

	"dmebench/internal/platform/environment"
)

// roster knows which agents are there, by what they answer to announcements.
type roster struct {
	program environment.Program
	warn    func(string)
	inbox   *natsgo.Subscription
	arrived chan struct{} // has room for one: an agent has answered

	mu     sync.Mutex
	agents map[string]*agent
}

type agent struct {
	presence
	heard time.Time
}

func newRoster(program environment.Program, warn func(string)) *roster {
	return &roster{program: program, warn: warn, arrived: make(chan struct{}, 1), agents: make(map[string]*agent)}
}

func (r *roster) hear(m *natsgo.Msg) {
	var p presence
	if json.Unmarshal(m.Data, &p) != nil || p.Agent == "" || p.Cores < 0 {
		return
	}
	r.mu.Lock()
	isNew := r.agents[p.Agent] == nil
	r.agents[p.Agent] = &agent{p, time.Now()}
	r.mu.Unlock()
	if isNew && !r.fits(p) {
		r.warn(fmt.Sprintf("%s takes none of this work: %s", p.Host, r.differs(p)))
	}
	select {
	case r.arrived <- struct{}{}:
	default:
	}
}

func (r *roster) fits(p presence) bool { return sameBuild(p.Program, r.program) && !p.Replaced }

func (r *roster) differs(p presence) string {
	if p.Replaced {
		return "the file of its program was replaced since it was started; restart the agent"
	}
	return fmt.Sprintf("its program is another one (%v; here %v); install the same file there", p.Program, r.program)
}

// cores returns how many tasks are done at a time; used says that an agent would do some
// if no run used it.
func (r *roster) cores() (n int, used bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range r.agents {
		if r.fits(a.presence) {
			n += a.Cores
			used = used || a.Cores == 0
		}
	}
	return n, used
}

// sweep forgets agents that have fallen silent. If the server cannot be reached, the silence is
// that one's.
func (r *roster) sweep(now time.Time, connected bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, a := range r.agents {
		if !connected {
			a.heard = now
		} else if now.Sub(a.heard) > silentAfter {
			delete(r.agents, name)
		}
	}
}

// none says why there is no agent.
func (r *roster) none(waited time.Duration) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var others, used []string
	for _, a := range slices.SortedFunc(maps.Values(r.agents), func(a, b *agent) int { return cmp.Compare(a.Host, b.Host) }) {
		if !r.fits(a.presence) {
			others = append(others, a.Host+": "+r.differs(a.presence))
		} else if a.Cores == 0 {
			used = append(used, a.Host)
		}
	}
	if used != nil {
		return unavailable("all agents are in use by runs over real networks (%s); try again when these are over", strings.Join(used, ", "))
	}
	if others != nil {
		return unavailable("no agent takes this work; %s", strings.Join(others, "; "))
	}
	return unavailable("no agent has answered for %v; start 'dmebench agent' on the hosts that are to do it, with the same server",
		waited.Round(time.Second))
}

// say publishes an announcement. If the server cannot be reached it is not heard, and comes too
// late.
func (q *Queue) say(a announcement) {
	b, err := json.Marshal(a)
	if err != nil {
		panic("workqueue: an announcement has no JSON form: " + err.Error())
	}
	if q.conn.IsConnected() && q.roster.inbox != nil {
		_ = q.conn.PublishRequest(announceTopic, q.roster.inbox.Subject, b)
	}
}

func (q *Queue) sayOpen() {
	q.say(announcement{Queue: q.id, Program: q.roster.program, Host: q.opt.Host})
}

// find waits until an agent has answered that takes tasks. If only those answer that never will, it
// does not wait for long: all that are there have heard the same announcements. One that a run
// uses, or that rests after one, is waited for.
func (q *Queue) find(ctx context.Context, patience time.Duration) error {
	timeout := time.After(patience)
	var others <-chan time.Time
	again := time.NewTicker(announceEvery)
	defer again.Stop()
	for q.sayOpen(); ; {
		select {
		case <-q.roster.arrived:
			cores, used := q.roster.cores()
			if cores > 0 {
				return nil
			}
			if others == nil && !used {
				others = time.After(2 * announceEvery)
			}
		case <-others:
			return q.roster.none(2 * announceEvery)
		case <-again.C:
			q.sayOpen()
		case <-timeout:
			return q.roster.none(patience)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
