package ping

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"dmebench/dme"
	"dmebench/internal/platform/environment"
	"dmebench/internal/platform/launch"
	"dmebench/internal/runtime/run"
	"dmebench/transport"
	"dmebench/transport/nats"
)

const (
	// pairsPerSet is how many pairs the same processes make: an even number, so
	// that each side is first as often as the other.
	pairsPerSet = 2

	// warmUp is what the processes do of each task before it counts.
	warmUp = 20 * time.Millisecond
)

type Options struct {
	Environment map[string]string

	// Progress is called with the stretches so far, of all.
	Progress func(done, of int)
}

// Run measures what the specification says.
func Run(ctx context.Context, s Spec, opt Options) (*Report, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	if opt.Progress == nil {
		opt.Progress = func(int, int) {}
	}
	r := &runner{spec: s, progress: opt.Progress, report: &Report{
		SchemaVersion: SchemaVersion, Spec: s, Environment: opt.Environment,
		Placement: Placement{Processes: s.Processes, Pinned: s.Pin, PairsPerSet: pairsPerSet},
	}}
	r.stretches = len(s.Networks) * len(s.tasks()) * s.Pairs * 2
	for _, name := range s.Networks {
		if err := r.network(ctx, name); err != nil {
			return nil, err
		}
	}
	return r.report, nil
}

type runner struct {
	spec   Spec
	report *Report

	progress        func(done, of int)
	done, stretches int
}

func (r *runner) network(ctx context.Context, name string) error {
	n, options, err := lookup(name, r.spec.set(name))
	if err != nil {
		return err
	}
	setup := Setup{
		Network: name, Set: r.spec.set(name), Processes: r.spec.Processes, Size: r.spec.Size, Pin: r.spec.Pin,
	}
	if n.Brokered {
		server, err := nats.StartServer(2 * r.spec.Processes)
		if err != nil {
			return err
		}
		defer server.Close()
		setup.Broker = server.Broker()
		r.report.Placement.NATSServer = "embedded in the measuring process"
	}
	var all []Measurement
	for _, t := range r.spec.tasks() {
		all = append(all, Measurement{Transport: name, UDPLayer: options[run.LayerOption], Test: t.Test, Tokens: t.Tokens})
	}
	for pair := 0; pair < r.spec.Pairs; pair += pairsPerSet {
		if err := r.pairs(ctx, setup, pair, all); err != nil {
			return err
		}
	}
	for i := range all {
		all[i].compare()
	}
	r.report.Measurements = append(r.report.Measurements, all...)
	return nil
}

func (r *runner) pairs(ctx context.Context, setup Setup, pair int, all []Measurement) error {
	order := [2]Side{Bare, Ours}
	sides := make(map[Side]*Cluster)
	for _, setup.Side = range order {
		c, err := Start(ctx, setup)
		if err != nil {
			return err
		}
		defer c.Close()
		sides[setup.Side] = c
		r.report.Placement.CPUs, r.report.Placement.GOMAXPROCS = c.cpus, c.gomaxprocs
	}
	tasks := r.spec.tasks()
	for _, t := range tasks {
		t.Stretch = min(t.Stretch, warmUp)
		for _, side := range order {
			if _, err := sides[side].Measure(t); err != nil {
				return err
			}
		}
	}
	for n := pair; n < min(pair+pairsPerSet, r.spec.Pairs); n++ {
		for i, t := range tasks {
			values := make(map[Side]Values)
			for _, side := range order {
				v, err := sides[side].Measure(t)
				if err != nil {
					return err
				}
				values[side] = v
				r.done++
				r.progress(r.done, r.stretches)
			}
			all[i].Pairs = append(all[i].Pairs, Pair{
				Processes: pair/pairsPerSet + 1, First: order[0], Bare: values[Bare], Ours: values[Ours],
			})
		}
		order[0], order[1] = order[1], order[0]
	}
	return nil
}

const Command = "ping-process"

// order is a process's first input; it answers with its address.
type order struct {
	Setup
	Index int // of this process, from 0
	Key   [transport.KeySize]byte
}

type question struct {
	Book []string // the addresses of all
	Task *Task
}

type answer struct {
	Address    string
	GOMAXPROCS int
	Values     Values
	CPUSeconds float64
	Error      string
}

var errNoOrder = errors.New("ping: this command is started by 'dmebench ping', which says on its standard input what to do")

func (o *order) valid() bool {
	return bareSides[o.Network] != nil && o.Processes >= 2 && o.Index >= 0 && o.Index < o.Processes && o.Size >= MinSize && o.Size <= MaxSize
}

// peers returns the processes that this one sends to: the next in the ring, and
// of the first two each the other.
func (o *order) peers() []int {
	to := []int{(o.Index + 1) % o.Processes}
	if o.Index == 1 && o.Processes > 2 {
		to = append(to, 0)
	}
	return to
}

// Main is a process of a measurement. It does what it is asked until its
// standard input ends.
func Main(stdin io.Reader, stdout, stderr io.Writer) int {
	parent := launch.NewParent(stdin, stdout)
	var o order
	if err := parent.Receive(&o); err != nil || !o.valid() {
		fmt.Fprintln(stderr, errNoOrder)
		return launch.Misused
	}
	p, err := newPeer(&o)
	if err == nil {
		defer p.end.close()
		err = p.serve(parent)
	}
	if err != nil {
		fmt.Fprintf(stderr, "ping: process %d: %v\n", o.Index, err)
		return 2
	}
	return 0
}

func (p *peer) serve(parent *launch.Parent) error {
	send := func(a answer) {
		if err := parent.Send(a); err != nil {
			p.stop(err)
		}
	}
	send(answer{Address: p.end.address(), GOMAXPROCS: runtime.GOMAXPROCS(0)})
	go func() {
		for {
			var q question
			if parent.Receive(&q) != nil {
				p.stop(nil)
				return
			}
			go func() { send(p.answer(q)) }()
		}
	}()
	return <-p.stopped
}

func (p *peer) answer(q question) (a answer) {
	var err error
	switch {
	case q.Book != nil:
		err = p.end.start(q.Book, p.order.peers())
	case q.Task != nil:
		a.Values, err = p.measure(q.Task)
	default:
		a.CPUSeconds = environment.OwnTime().Seconds()
	}
	if err != nil {
		a.Error = err.Error()
	}
	return a
}

// endpoint is one process's way to the others: a side of a measurement.
// Processes are counted from 0.
type endpoint interface {
	// address is where the others reach this process.
	address() string

	// start connects to the processes that this one sends to.
	start(book []string, to []int) error

	// send copies a message and passes it on, at the latest when flush is called
	// or when the receiver of the message that is being handled has returned.
	send(to int, m []byte) error

	// stream is send for as many messages as the network takes. The two do not
	// go together to one process.
	stream(to int, m []byte) error
	flush() error

	// lossy reports whether messages can get lost.
	lossy() bool

	// close frees what would outlive this process.
	close()
}

type receiver func(m []byte)

type viaTransport struct {
	transport.Transport
	guarantees transport.Guarantees
	self       dme.NodeID
	receive    receiver
}

func openTransport(o *order, receive receiver) (endpoint, error) {
	network, options, err := lookup(o.Network, o.Set)
	if err != nil {
		return nil, err
	}
	e := run.Endpoint{
		Config: transport.Config{
			Listen: launch.Loopback, Local: []dme.NodeID{node(o.Index)}, Nodes: o.Processes, Key: o.Key,
		},
		Options: options, Broker: o.Broker,
	}
	for _, to := range o.peers() {
		e.Peers = append(e.Peers, node(to))
	}
	tr, err := network.Listen(e)
	if err != nil {
		return nil, err
	}
	return &viaTransport{tr, network.Guarantees(options), node(o.Index), receive}, nil
}

func node(process int) dme.NodeID { return dme.NodeID(process + 1) }

func (t *viaTransport) address() string                    { return t.Addr() }
func (t *viaTransport) start(book []string, _ []int) error { return t.Start(book, t) }
func (t *viaTransport) send(to int, m []byte) error        { return t.Send(t.self, node(to), m) }
func (t *viaTransport) stream(to int, m []byte) error      { return t.Send(t.self, node(to), m) }
func (t *viaTransport) flush() error                       { return t.Flush() }
func (t *viaTransport) lossy() bool                        { return !t.guarantees.Reliable }
func (t *viaTransport) close()                             { t.Close() }

func (t *viaTransport) Frame(_, _ dme.NodeID, b []byte) { t.receive(b) }

// Down is reported by the parent.
func (t *viaTransport) Down(peer dme.NodeID, err error) {
	fmt.Fprintf(os.Stderr, "process %d can no longer be reached: %v\n", peer-1, err)
}
