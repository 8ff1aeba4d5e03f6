package servers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"dmebench/dme"
	"dmebench/internal/platform"
	"dmebench/internal/platform/launch"
	"dmebench/lock"
	"dmebench/runs"
	"dmebench/workload/fault"
)

// endTimeout bounds how long a server may take to end in order.
const endTimeout = 3 * time.Second

// group is the servers of one run.
type group struct {
	system  *System
	options dme.Options
	delay   time.Duration // of links to clients
	between time.Duration // of links between servers
	cut     bool          // servers may be cut off
	dir     string
	ports   []Ports
	reach   []string // where clients reach each server
	service Service  // to ask for their status
	first   lock.Status

	mu      sync.Mutex
	servers []*launch.Child // nil if it was never started
	killed  []*launch.Child // their end is expected
	closing bool
	lost    func(error) // for those that are started later
}

// boot is what the process of a server reads first.
type boot struct {
	System  string
	Options dme.Options
	Index   int
	All     []Ports
	Dir     string
	Home    string // of the run, removed at the end
	Relays  []relay
}

// ready is what it answers.
type ready struct{ Error string }

// launch starts the servers and returns once all answer clients.
func (s *System) launch(ctx context.Context, o dme.Options, delay time.Duration, cut bool) (lock.Cluster, error) {
	n := s.Servers(o)
	g := &group{
		system: s, options: o, delay: delay, between: delay, cut: cut, ports: make([]Ports, n), reach: make([]string, n), servers: make([]*launch.Child, n),
	}
	if o.Get(siteOption) == ownSite {
		g.between = 0
	}
	if err := g.open(ctx); err != nil {
		g.Close()
		return nil, err
	}
	return g, nil
}

// open starts the servers of a new group.
func (g *group) open(ctx context.Context) (err error) {
	n := len(g.ports)
	if g.dir, err = os.MkdirTemp("", "dmebench-"+g.system.Name+"-*"); err != nil {
		return fmt.Errorf("no folder for its servers: %w", err)
	}
	if err = os.Chmod(g.dir, 0o711); err != nil { // a server may run as another user, in a folder of its own
		return err
	}
	free, err := platform.FreePorts(5 * n)
	if err != nil {
		return err
	}
	all := make([]int, n)
	for i := range n {
		all[i] = i
		var at [5]string
		for k := range at {
			at[k] = fmt.Sprintf("127.0.0.1:%d", free[5*i+k])
		}
		g.ports[i] = Ports{Client: at[0], Peer: at[1], Reach: at[1], Admin: at[4]}
		g.reach[i] = at[0]
		if g.delay > 0 || g.cut {
			g.reach[i] = at[2]
		}
		if g.between > 0 || g.cut {
			g.ports[i].Reach = at[3]
		}
	}
	if err := g.restart(ctx, all); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	g.service, err = g.system.Connect(ctx, Config{All: g.ports, Config: lock.Config{
		Options: g.options, Servers: g.reach,
	}})
	if err == nil {
		g.first, err = g.service.Status(ctx)
	}
	return err
}

func (g *group) Addresses() []string { return g.reach }

func (g *group) Status(ctx context.Context) lock.Status {
	s, err := g.service.Status(ctx)
	if err != nil {
		s = lock.Status{Leader: -1, Untold: fmt.Sprintf("the servers do not answer: %v", err)}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.first.Between == nil:
		s.Between, s.Untold = nil, g.first.Untold
	case g.killed != nil:
		s.Between, s.Untold = nil, "a server was killed, and what it had counted is lost"
	case s.Between != nil:
		s.Between = &runs.Between{
			Messages: less(s.Between.Messages, g.first.Between.Messages), Bytes: less(s.Between.Bytes, g.first.Between.Bytes),
		}
	}
	s.Settings = g.first.Settings
	return s
}

func less(a, b *uint64) *uint64 {
	if a == nil || b == nil {
		return nil
	}
	n := *a - *b
	return &n
}

func (g *group) Strike(ctx context.Context, what fault.Kind, which []int) (err error) {
	if what == fault.Restart {
		return g.restart(ctx, which)
	}
	for _, i := range which {
		switch what {
		case fault.Kill:
			g.kill(i)
		case fault.Pause:
			err = errors.Join(err, g.pause(i))
		case fault.Partition:
			g.cutOff(i, true)
		}
	}
	return err
}

func (g *group) Relieve(what fault.Kind, i int) {
	if what == fault.Partition {
		g.cutOff(i, false)
	} else {
		g.resume(i)
	}
}

// restart starts servers, with what they kept if they ran before, and returns once they answer.
func (g *group) restart(ctx context.Context, which []int) error {
	ctx, cancel := context.WithTimeoutCause(ctx, Patience, fmt.Errorf("its servers do not answer within %v", Patience))
	defer cancel()
	var starting []*launch.Child
	var errs []error
	for _, i := range which {
		c, err := g.start(i)
		if err != nil {
			return err
		}
		starting = append(starting, c)
	}
	for _, c := range starting {
		var r ready
		switch err := c.Receive(ctx, &r); {
		case err != nil:
			errs = append(errs, fmt.Errorf("%s: %w", c.Name(), err))
		case r.Error != "":
			errs = append(errs, fmt.Errorf("%s: %s", c.Name(), r.Error))
		}
	}
	return errors.Join(errs...)
}

func (g *group) start(i int) (*launch.Child, error) {
	b := boot{
		System: g.system.Name, Options: g.options, Index: i, All: g.ports,
		Dir: filepath.Join(g.dir, strconv.Itoa(i)), Home: g.dir,
	}
	if g.reach[i] != g.ports[i].Client {
		b.Relays = append(b.Relays, relay{Listen: g.reach[i], To: g.ports[i].Client, Delay: g.delay})
	}
	if g.ports[i].Reach != g.ports[i].Peer {
		b.Relays = append(b.Relays, relay{Listen: g.ports[i].Reach, To: g.ports[i].Peer, Delay: g.between})
	}
	c, err := launch.Local{Answers: true}.Start(launch.Command{
		Word: word, Name: fmt.Sprintf("%s, server %d", g.system.Name, i+1), Config: b,
	})
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.servers[i] = c
	if g.lost != nil {
		g.watch(c, g.lost)
	}
	return c, nil
}

func (g *group) server(i int) *launch.Child {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.servers[i]
}

func (g *group) Down(i int) bool {
	c := g.server(i)
	if c == nil {
		return true
	}
	select {
	case <-c.Ended():
		return true
	default:
		return false
	}
}

// reapTime bounds how long a process may take to notice that the program it runs is dead.
const reapTime = time.Second

// kill ends a server at once. If that is a program of its own, it is killed first, and its parent
// ends by itself, so that nothing is left that looks like the server.
func (g *group) kill(i int) {
	c := g.server(i)
	g.mu.Lock()
	g.killed = append(g.killed, c)
	g.mu.Unlock()
	if all := descendants(c.PID()); len(all) > 0 {
		signalAll(all, syscall.SIGKILL)
		signalAll([]int{c.PID()}, syscall.SIGCONT) // if it was paused
		select {
		case <-c.Ended():
		case <-time.After(reapTime):
		}
	}
	c.Kill()
	<-c.Ended()
}

func (g *group) pause(i int) error {
	c := g.server(i)
	signalAll(descendants(c.PID()), syscall.SIGSTOP)
	return c.Pause()
}

func (g *group) resume(i int) {
	c := g.server(i)
	signalAll(append(descendants(c.PID()), c.PID()), syscall.SIGCONT)
}

func (g *group) cutOff(i int, off bool) {
	pid := g.server(i).PID()
	for k := range g.ports {
		if !g.Down(k) {
			g.server(k).Send(cut{pid, off})
		}
	}
}

func signalAll(all []int, s syscall.Signal) {
	for _, pid := range all {
		_ = syscall.Kill(pid, s)
	}
}

func (g *group) Watch(lost func(error)) {
	for i := range g.ports {
		g.watch(g.server(i), lost)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.lost = lost
}

func (g *group) watch(c *launch.Child, lost func(error)) {
	go func() {
		<-c.Ended()
		g.mu.Lock()
		surprise := !g.closing && !slices.Contains(g.killed, c)
		g.mu.Unlock()
		if surprise {
			lost(c.Death())
		}
	}()
}

// Close ends the servers. One that is a program of its own may have more to give back than
// files, and ends in order; the others need not save anything.
func (g *group) Close() {
	if g.service != nil {
		_ = g.service.Close() // its servers are about to end
	}
	g.mu.Lock()
	g.closing = true
	servers := slices.Clone(g.servers)
	g.mu.Unlock()
	var there []*launch.Child
	for _, c := range servers {
		if c != nil {
			programs := descendants(c.PID())
			if len(programs) == 0 {
				c.Kill()
			}
			signalAll(append(programs, c.PID()), syscall.SIGCONT)
			there = append(there, c)
		}
	}
	launch.End(endTimeout, there...)
	_ = os.RemoveAll(g.dir)
}
