package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"dmebench"
	"dmebench/algorithms"
	"dmebench/dme"
)

// soaked is the program with algorithms whose nodes write their entries and exits to
// files, as logged-NAME: what really happened, for comparison with what a result says.
func soaked() {
	var own []*dme.Algorithm
	for _, a := range algorithms.All() {
		own = append(own, logged(a))
	}
	dmebench.Main(dmebench.Config{Algorithms: own})
}

// logged is an algorithm with nodes that do what a's do, and write it down.
func logged(a *dme.Algorithm) *dme.Algorithm {
	l := *a
	l.Name, l.Title = "logged-"+a.Name, a.Title+", logged"
	l.Claims, l.Invariants, l.Gauges, l.Clocks = nil, nil, nil, nil
	l.Prepare = func(c dme.Config) (dme.System, error) {
		sys, err := a.Prepare(c)
		return loggedSystem{sys}, err
	}
	if a.Survives != nil {
		l.Survives = func(s dme.Setting, down []dme.NodeID) bool {
			s.System = s.System.(loggedSystem).System
			return a.Survives(s, down)
		}
	}
	return &l
}

type loggedSystem struct{ dme.System }

func (s loggedSystem) Node(id dme.NodeID) dme.Node { return &loggedNode{s.System.Node(id), id} }

// loggedNode is a node that says when it enters, as soon as that is decided, that it is
// inside, again and again, and when it leaves, before anybody hears of it: where the
// algorithm is right, what it has written down never overlaps. A node that comes to its
// end inside, in whatever way, was there until it said so last.
type loggedNode struct {
	dme.Node
	id dme.NodeID
}

// The timer by which a node says that it is inside, and how often.
const (
	insideTimer dme.TimerID = 255
	insideEvery             = 20 * time.Millisecond
)

func (n *loggedNode) Request(out *dme.Outbox) {
	n.Node.Request(out)
	n.note(out)
}

func (n *loggedNode) Release(out *dme.Outbox) {
	write(n.id, "exit")
	out.CancelTimer(insideTimer)
	n.Node.Release(out)
	n.note(out)
}

func (n *loggedNode) Receive(from dme.NodeID, m dme.Message, out *dme.Outbox) {
	n.Node.Receive(from, m, out)
	n.note(out)
}

func (n *loggedNode) Start(out *dme.Outbox) {
	if x, ok := n.Node.(dme.Starter); ok {
		x.Start(out)
		n.note(out)
	}
}

func (n *loggedNode) Stop(out *dme.Outbox) {
	if x, ok := n.Node.(dme.Stopper); ok {
		x.Stop(out)
		n.note(out)
	}
}

func (n *loggedNode) Timeout(id dme.TimerID, out *dme.Outbox) {
	if id == insideTimer {
		write(n.id, "inside")
		out.SetTimer(insideTimer, insideEvery)
		return
	}
	n.Node.(dme.Timed).Timeout(id, out)
	n.note(out)
}

func (n *loggedNode) Down(peer dme.NodeID, out *dme.Outbox) {
	if x, ok := n.Node.(dme.PeerWatcher); ok {
		x.Down(peer, out)
		n.note(out)
	}
}

func (n *loggedNode) Up(peer dme.NodeID, out *dme.Outbox) {
	if x, ok := n.Node.(dme.PeerWatcher); ok {
		x.Up(peer, out)
		n.note(out)
	}
}

// Unwrap lets the algorithm tell what the node waits for.
func (n *loggedNode) Unwrap() dme.Node { return n.Node }

// note writes down that the node enters, where its outbox says so.
func (n *loggedNode) note(out *dme.Outbox) {
	if slices.ContainsFunc(out.Effects(), func(e dme.Effect) bool { return e.Kind == dme.Enter }) {
		write(n.id, "enter")
		out.SetTimer(insideTimer, insideEvery)
	}
}

// entries is the file of this process, in the folder that is the mark of who started
// the agent; see run.
var entries = sync.OnceValue(func() *os.File {
	f, err := os.OpenFile(filepath.Join(os.Getenv("WORK"), fmt.Sprint(os.Getpid(), ".entries")),
		os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		panic(err)
	}
	return f
})

// write writes a line at once: a process that is killed has written what it did.
func write(id dme.NodeID, what string) {
	if _, err := fmt.Fprintf(entries(), "%d %s %d\n", now(), what, id); err != nil {
		panic(err)
	}
}

// now is the kernel's monotonic clock, which all processes on all network namespaces share.
func now() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic(err)
	}
	return ts.Nano()
}
