// Package lockserver runs the servers of a lock service, each as a process of its own beneath the
// coordinator, and does to them what faults ask for.
//
// A server ends with the process that started it, however that ends, and what it kept is then
// removed.
package lockserver

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
)

// endTimeout bounds how long a server may take to end in order.
const endTimeout = 3 * time.Second

// Group is the servers of one run.
type Group struct {
	system *lock.Prepared
	dir    string
	ports  []lock.Ports
	reach  []string // where clients reach each server
	links  Links

	mu      sync.Mutex
	servers []*launch.Child // nil if it was never started
	killed  []*launch.Child // whose end is no surprise
	closing bool
	lost    func(error) // for those that are started later
}

// Links are those between the processes of a run. The delays are how much longer everything
// takes, one way.
type Links struct {
	Clients time.Duration // between clients and servers
	Servers time.Duration // between servers
	Cut     bool          // servers may be cut off
}

// boot is what the process of a server reads first.
type boot struct {
	System  string
	Options dme.Options
	Index   int
	All     []lock.Ports
	Dir     string
	Home    string // of the run, removed at the end
	Relays  []relay
}

// ready is what it answers.
type ready struct{ Error string }

// Start starts the servers and returns once all answer clients.
func Start(ctx context.Context, p *lock.Prepared, d Links) (*Group, error) {
	n := p.Servers()
	g := &Group{
		system: p, ports: make([]lock.Ports, n), reach: make([]string, n), servers: make([]*launch.Child, n),
		links: d,
	}
	var err error
	if g.dir, err = os.MkdirTemp("", "dmebench-"+p.Name+"-*"); err != nil {
		return nil, fmt.Errorf("%s: no folder for its servers: %w", p.Name, err)
	}
	if err = os.Chmod(g.dir, 0o711); err != nil { // a server may run as another user, in a folder of its own
		g.Close()
		return nil, err
	}
	free, err := platform.FreePorts(5 * n)
	if err != nil {
		g.Close()
		return nil, err
	}
	for i := range n {
		var at [5]string
		for k := range at {
			at[k] = fmt.Sprintf("127.0.0.1:%d", free[5*i+k])
		}
		g.ports[i] = lock.Ports{Client: at[0], Peer: at[1], Reach: at[1], Admin: at[4]}
		g.reach[i] = at[0]
		if d.Clients > 0 || d.Cut {
			g.reach[i] = at[2]
		}
		if d.Servers > 0 || d.Cut {
			g.ports[i].Reach = at[3]
		}
	}
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	if err := g.Restart(ctx, all); err != nil {
		g.Close()
		return nil, err
	}
	return g, nil
}

// Addresses says where clients reach the servers, by index.
func (g *Group) Addresses() []string {
	if g == nil {
		return nil
	}
	return g.reach
}

// Ports says where the servers listen, by index.
func (g *Group) Ports() []lock.Ports { return g.ports }

// Restart starts servers that are down, with what they kept, and returns once they answer.
func (g *Group) Restart(ctx context.Context, which []int) error {
	ctx, cancel := context.WithTimeoutCause(ctx, lock.Patience, fmt.Errorf("its servers do not answer within %v", lock.Patience))
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

func (g *Group) start(i int) (*launch.Child, error) {
	b := boot{
		System: g.system.Name, Options: g.system.Options, Index: i, All: g.ports,
		Dir: filepath.Join(g.dir, strconv.Itoa(i)), Home: g.dir,
	}
	if g.reach[i] != g.ports[i].Client {
		b.Relays = append(b.Relays, relay{Listen: g.reach[i], To: g.ports[i].Client, Delay: g.links.Clients})
	}
	if g.ports[i].Reach != g.ports[i].Peer {
		b.Relays = append(b.Relays, relay{Listen: g.ports[i].Reach, To: g.ports[i].Peer, Delay: g.links.Servers})
	}
	c, err := launch.Local{Answers: true}.Start(launch.Command{
		Word: Command, Name: fmt.Sprintf("%s, server %d", g.system.Name, i+1), Config: b,
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

func (g *Group) server(i int) *launch.Child {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.servers[i]
}

// Down reports whether a server does not run.
func (g *Group) Down(i int) bool {
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

// Kill ends a server at once. If that is a program of its own, it is killed first, and its parent
// ends by itself, so that nothing is left that looks like the server.
func (g *Group) Kill(i int) {
	c := g.server(i)
	g.mu.Lock()
	g.killed = append(g.killed, c)
	g.mu.Unlock()
	if all := descendants(c.PID()); len(all) > 0 {
		signalAll(all, syscall.SIGKILL)
		signalAll([]int{c.PID()}, syscall.SIGCONT) // where it was paused
		select {
		case <-c.Ended():
		case <-time.After(reapTime):
		}
	}
	c.Kill()
	<-c.Ended()
}

// Pause has a server stand still.
func (g *Group) Pause(i int) error {
	c := g.server(i)
	signalAll(descendants(c.PID()), syscall.SIGSTOP)
	return c.Pause()
}

// Resume has it go on.
func (g *Group) Resume(i int) {
	c := g.server(i)
	signalAll(append(descendants(c.PID()), c.PID()), syscall.SIGCONT)
}

// Cut cuts a server off from all others, or lets it back.
func (g *Group) Cut(i int, off bool) {
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

// Killed reports whether a server was killed: what it had counted is lost.
func (g *Group) Killed() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.killed) > 0
}

// Watch calls lost if a server ends unexpectedly.
func (g *Group) Watch(lost func(error)) {
	if g == nil {
		return
	}
	for i := range g.ports {
		g.watch(g.server(i), lost)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.lost = lost
}

func (g *Group) watch(c *launch.Child, lost func(error)) {
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

// Close ends the servers and removes what they kept. One that is a program of its own may
// have more to give back than files, and ends in order; the others need not save anything.
func (g *Group) Close() {
	if g == nil {
		return
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
