package transporttest

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/internal/platform/launch"
	"dmebench/transport"
)

// peerCommand is the only argument of a test binary that is to be a peer of a test; if TestMain
// does not call [Main] it is an unknown flag.
const peerCommand = "-transporttest-peer"

type peerOrder struct {
	Subject string
	Config  transport.Config
	Knobs   Knobs
	Reach   string // for the Subject's Remote
}

// Main runs a package's tests, or a peer of a test if this process was started as one. Its result
// is the exit code.
func Main(m *testing.M, subjects ...Subject) int {
	if !launch.Is(os.Args, peerCommand) {
		return m.Run()
	}
	if err := serveActor(subjects, launch.NewParent(os.Stdin, os.Stdout)); err != nil {
		fmt.Fprintln(os.Stderr, "transporttest:", err)
		return 1
	}
	return 0
}

// actor is a process of a run in which processes come and go. It does what a test asks, and reports
// what its handler heard. Every frame names the incarnations that its sender believes it goes from
// and to.
type actor struct {
	order  peerOrder
	notify func(event)
	tr     transport.Transport

	mu     sync.Mutex
	known  map[dme.NodeID]uint32 // incarnation of each node; 0 while it is down
	coming map[dme.NodeID]uint32 // being readmitted
	sent   map[talk]uint64
	stop   chan struct{}
	talks  sync.WaitGroup
}

// life is an incarnation of a node; 0 is what is sent to a node that is down.
type life struct {
	Node        dme.NodeID
	Incarnation uint32
}

type talk struct {
	from dme.NodeID
	to   life
}

type command struct {
	Op          string // one of those below
	From, To    dme.NodeID
	Book        transport.AddressBook
	Addr        string
	Incarnation uint32
}

const (
	opStart     = "start"
	opTalk      = "talk"      // to To every millisecond or so, as long as it is there
	opBroadcast = "broadcast" // the same, to all
	opShout     = "shout"     // to To, which is down, many times
	opExpel     = "expel"
	opReadmit   = "readmit"
)

type event struct {
	Kind string // "frame", "down", "up", "done", "wrong"
	From life   // of a frame; the node that is down or up
	To   life   // of a frame
	Seq  uint64 // of a frame: how many the sender had sent to that incarnation before
	Text string
	All  bool // the frame was a broadcast
}

func newActor(s Subject, order peerOrder, notify func(event)) (*actor, error) {
	a := &actor{
		order: order, notify: notify, known: order.incarnations(), coming: make(map[dme.NodeID]uint32),
		sent: make(map[talk]uint64), stop: make(chan struct{}),
	}
	open := s.Open
	if s.Remote != nil && order.Reach != "" {
		open = s.Remote(order.Reach)
	}
	var err error
	a.tr, err = open(order.Config, order.Knobs)
	return a, err
}

func (o *peerOrder) me() uint32 { return max(1, o.Config.Incarnation) }

// incarnations are those of all nodes at the beginning; 0 while one is down.
func (o *peerOrder) incarnations() map[dme.NodeID]uint32 {
	all := make(map[dme.NodeID]uint32)
	for id := dme.NodeID(1); int(id) <= o.Config.Nodes; id++ {
		switch {
		case slices.Contains(o.Config.Local, id):
			all[id] = o.me()
		case !slices.Contains(o.Config.Absent, id):
			all[id] = max(1, o.Config.Incarnations[id])
		}
	}
	return all
}

func (a *actor) do(c command) {
	if err := a.try(c); err != nil {
		a.notify(event{Kind: "wrong", Text: fmt.Sprintf("%s: %v", c.Op, err)})
	}
	a.notify(event{Kind: "done", Text: c.Op})
}

func (a *actor) try(c command) error {
	switch c.Op {
	case opStart:
		return a.tr.Start(c.Book, a)
	case opTalk:
		a.repeat(func() error { return a.say(c.From, c.To) })
	case opBroadcast:
		a.repeat(func() error { return a.sayAll(c.From) })
	case opShout:
		a.mu.Lock()
		defer a.mu.Unlock()
		for range 1000 {
			if err := a.tr.Send(c.From, c.To, []byte(a.text(c.From, life{c.To, 0}, "="))); err != nil {
				return err
			}
		}
		return a.tr.Flush()
	case opExpel:
		return a.tr.Expel(c.To, fmt.Errorf("the test has killed it"))
	case opReadmit:
		a.mu.Lock()
		for _, id := range lodgers(home(c.To)) {
			a.coming[id] = c.Incarnation
		}
		a.mu.Unlock()
		return a.tr.Readmit(c.To, c.Addr, c.Incarnation)
	default:
		return fmt.Errorf("no such command")
	}
	return nil
}

func (a *actor) repeat(f func() error) {
	a.talks.Go(func() {
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			if err := f(); err != nil {
				a.notify(event{Kind: "wrong", Text: err.Error()})
				return
			}
			select {
			case <-tick.C:
			case <-a.stop:
				return
			}
		}
	})
}

func (a *actor) text(from dme.NodeID, to life, sign string) string {
	seq := a.sent[talk{from, to}]
	a.sent[talk{from, to}]++
	return fmt.Sprintf("%d %d %d %d %d %s", from, a.order.me(), to.Node, to.Incarnation, seq, sign)
}

// say sends a frame, unless its receiver is down. With the lock held no node hears of Down or Up
// meanwhile, as with the nodes of a run.
func (a *actor) say(from, to dme.NodeID) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.known[to] == 0 {
		return nil
	}
	if err := a.tr.Send(from, to, []byte(a.text(from, life{to, a.known[to]}, "="))); err != nil {
		return err
	}
	return a.tr.Flush()
}

// sayAll broadcasts, to all nodes in one text, unless one is coming.
func (a *actor) sayAll(from dme.NodeID) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	for id := range a.coming {
		if a.known[id] == 0 {
			return nil
		}
	}
	var texts []string
	for id := range dme.NodeID(a.order.Config.Nodes) {
		id++
		texts = append(texts, a.text(from, life{id, a.known[id]}, "*"))
	}
	if err := a.tr.(transport.Broadcaster).Broadcast(from, []byte(strings.Join(texts, "\n"))); err != nil {
		return err
	}
	return a.tr.Flush()
}

func (a *actor) Frame(from, to dme.NodeID, b []byte) {
	texts := strings.Split(string(b), "\n")
	e := event{Kind: "frame"}
	var sign string
	_, err := fmt.Sscanf(texts[min(int(to)-1, len(texts)-1)], "%d %d %d %d %d %s",
		&e.From.Node, &e.From.Incarnation, &e.To.Node, &e.To.Incarnation, &e.Seq, &sign)
	if err != nil || e.From.Node != from || e.To.Node != to {
		a.notify(event{Kind: "wrong", Text: fmt.Sprintf("from %d to %d comes %q", from, to, b)})
		return
	}
	e.All = sign == "*"
	a.notify(e)
}

func (a *actor) Down(peer dme.NodeID, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err == nil {
		a.notify(event{Kind: "wrong", Text: "Down without an error"})
	}
	a.notify(event{Kind: "down", From: life{peer, a.known[peer]}, Text: fmt.Sprint(err)})
	a.known[peer] = 0
}

func (a *actor) Up(peer dme.NodeID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.known[peer] = a.coming[peer]
	delete(a.coming, peer)
	a.notify(event{Kind: "up", From: life{peer, a.known[peer]}})
}

func (a *actor) end() {
	close(a.stop)
	a.talks.Wait()
	a.tr.Close()
}

func serveActor(subjects []Subject, parent *launch.Parent) error {
	var order peerOrder
	if err := parent.Receive(&order); err != nil {
		return err
	}
	i := slices.IndexFunc(subjects, func(s Subject) bool { return s.Name == order.Subject })
	if i < 0 {
		return fmt.Errorf("no subject %q", order.Subject)
	}
	var mu sync.Mutex
	a, err := newActor(subjects[i], order, func(e event) {
		mu.Lock()
		defer mu.Unlock()
		parent.Send(e)
	})
	if err != nil {
		return err
	}
	defer a.end()
	if err := parent.Send(a.tr.Addr()); err != nil {
		return err
	}
	for {
		var c command
		if err := parent.Receive(&c); err != nil {
			return nil // told to leave
		}
		a.do(c)
	}
}

func startPeer(t *testing.T, order peerOrder) (peer *launch.Child, addr string) {
	t.Helper()
	peer, err := launch.Local{Answers: true}.Start(launch.Command{Word: peerCommand, Name: "the peer process", Config: order})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { launch.End(0, peer) })
	if err := peer.Receive(t.Context(), &addr); err != nil {
		t.Fatalf("no address: %v; does TestMain call transporttest.Main?", err)
	}
	return peer, addr
}

// cast is an actor as a test sees it, wherever it runs.
type cast struct {
	t     *testing.T
	s     Subject
	order peerOrder
	addr  string
	send  func(command)
	kill  func()
	actor *actor // nil if it is a process of its own

	mu  sync.Mutex
	log []event
}

// perform starts an actor, in a process of its own if apart is set and the subject's transports
// reach other processes.
func perform(t *testing.T, s Subject, order peerOrder, apart bool) *cast {
	t.Helper()
	order.Subject = s.Name
	c := &cast{t: t, s: s, order: order}
	if !apart || s.InProcess {
		a, err := newActor(s, order, c.note)
		if err != nil {
			t.Fatal(err)
		}
		end := sync.OnceFunc(a.end)
		t.Cleanup(end)
		c.actor, c.addr, c.send, c.kill = a, a.tr.Addr(), a.do, end
		return c
	}
	c.order.Reach = s.Reach
	child, addr := startPeer(t, c.order)
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		for {
			var e event
			if child.Receive(t.Context(), &e) != nil {
				return
			}
			c.note(e)
		}
	}()
	c.addr, c.send = addr, func(x command) { child.Send(x) }
	c.kill = func() {
		child.Kill()
		<-child.Ended()
		<-heard
	}
	t.Cleanup(c.kill)
	return c
}

func (c *cast) note(e event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.log = append(c.log, e)
}

// do tells the actor to do something and waits until it has.
func (c *cast) do(x command) {
	c.t.Helper()
	before := c.count(func(e event) bool { return e.Kind == "done" })
	c.send(x)
	eventually(c.t, c.s, fmt.Sprintf("node %d to %s", c.order.Config.Local[0], x.Op), func() bool {
		return c.count(func(e event) bool { return e.Kind == "done" }) > before
	})
	if c.count(func(e event) bool { return e.Kind == "wrong" }) > 0 {
		c.check()
		c.t.FailNow()
	}
}

func (c *cast) count(of func(event) bool) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.log {
		if of(e) {
			n++
		}
	}
	return n
}

// hears waits for some frames of an incarnation of a node.
func (c *cast) hears(from life, all bool) {
	c.t.Helper()
	of := func(e event) bool { return e.Kind == "frame" && e.From == from && e.All == all }
	enough := c.count(of) + 20
	eventually(c.t, c.s, fmt.Sprintf("frames from %+v at node %d", from, c.order.Config.Local[0]), func() bool {
		return c.count(of) >= enough
	})
}

// check holds what the actor heard against what a transport promises.
func (c *cast) check() {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	me, there := c.order.me(), c.order.incarnations()
	type stream struct {
		from life
		to   dme.NodeID
	}
	next := make(map[stream]uint64)
	wrong := func(i int, what string) {
		from := max(0, i-3)
		c.t.Errorf("node %d, incarnation %d: %s: %+v", c.order.Config.Local[0], me, what, c.log[from:i+1])
	}
	for i, e := range c.log {
		switch e.Kind {
		case "frame":
			k := stream{e.From, e.To.Node}
			switch {
			case there[e.From.Node] != e.From.Incarnation:
				wrong(i, "a frame of an incarnation that is not there")
				return
			case e.To.Incarnation != me:
				wrong(i, "a frame for another incarnation")
				return
			case c.s.Guarantees.Reliable && c.s.Guarantees.FIFO && e.Seq != next[k]:
				wrong(i, fmt.Sprintf("frame %d where %d is due", e.Seq, next[k]))
				return
			}
			next[k] = e.Seq + 1
		case "down":
			if there[e.From.Node] == 0 {
				wrong(i, "Down of a node that is down")
				return
			}
			there[e.From.Node] = 0
		case "up":
			if there[e.From.Node] != 0 {
				wrong(i, "Up before Down")
				return
			}
			there[e.From.Node] = e.From.Incarnation
		case "wrong":
			wrong(i, e.Text)
			return
		}
	}
}
