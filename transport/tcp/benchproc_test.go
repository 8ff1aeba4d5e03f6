package tcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"dmebench/algorithms"
	"dmebench/transport"
)

// benchVar is set in the environment of this binary where it is started anew
// as a process of a benchmark.
const benchVar = "DMEBENCH_TCP_BENCH"

// benchOrder is what a process of a benchmark is told first. It answers with
// its address, takes the address book, and answers "ready". From then on, it
// answers each 0 that it reads by the processor time in seconds that it has
// used, and the first process each other duration by the rate that it measured
// for so long.
type benchOrder struct {
	Kind      string // ring or stream
	Bare      bool   // without the transport
	Index     int    // of this process, from 0
	Processes int
}

const messageSize = 32

type benchCluster struct { // by process
	in  []*json.Encoder
	out []*json.Decoder

	processes []*exec.Cmd
}

// stop kills the processes, which have nothing to lose.
func (c *benchCluster) stop() {
	for _, cmd := range c.processes {
		cmd.Process.Kill()
		cmd.Wait()
	}
	c.processes = nil
}

func startBench(b *testing.B, order benchOrder, processes int, pinned bool) *benchCluster {
	b.Helper()
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	c := new(benchCluster)
	b.Cleanup(c.stop)
	var book transport.AddressBook
	order.Processes = processes
	for i := range processes {
		order.Index = i
		cmd := exec.Command(exe, "-test.run=^$")
		cmd.Env = append(os.Environ(), benchVar+"=1")
		cmd.Stderr = os.Stderr
		stdin, err := cmd.StdinPipe()
		if err != nil {
			b.Fatal(err)
		}
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			b.Fatal(err)
		}
		if pinned {
			err = startPinned(cmd)
		} else {
			err = cmd.Start()
		}
		if err != nil {
			b.Fatal(err)
		}
		c.processes = append(c.processes, cmd)
		c.in, c.out = append(c.in, json.NewEncoder(stdin)), append(c.out, json.NewDecoder(stdout))
		var addr string
		c.ask(b, i, order, &addr)
		book = append(book, addr)
	}
	for i := range processes {
		if err := c.in[i].Encode(book); err != nil {
			b.Fatal(err)
		}
	}
	for i := range processes {
		var ready string
		if err := c.out[i].Decode(&ready); err != nil {
			b.Fatal(err)
		}
	}
	return c
}

func (c *benchCluster) ask(b *testing.B, process int, question, answer any) {
	b.Helper()
	if err := c.in[process].Encode(question); err != nil {
		b.Fatal(err)
	}
	if err := c.out[process].Decode(answer); err != nil {
		b.Fatal(err)
	}
}

// run measures for about d and returns the rate per second.
func (c *benchCluster) run(b *testing.B, d time.Duration) (rate float64) {
	b.Helper()
	c.ask(b, 0, d, &rate)
	return rate
}

// processorTime returns the seconds that all processes have used.
func (c *benchCluster) processorTime(b *testing.B) (total float64) {
	b.Helper()
	for i := range c.in {
		var used float64
		c.ask(b, i, 0, &used)
		total += used
	}
	return total
}

func benchChild() int {
	if err := serveBench(os.Stdin, os.Stdout); err != nil && !errors.Is(err, io.EOF) {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func serveBench(stdin io.Reader, stdout io.Writer) error {
	in, out := json.NewDecoder(stdin), json.NewEncoder(stdout)
	var order benchOrder
	if err := in.Decode(&order); err != nil {
		return err
	}
	exchange := func(addr string) (book transport.AddressBook, err error) {
		if err = out.Encode(addr); err == nil {
			err = in.Decode(&book)
		}
		return book, err
	}
	var measure func(time.Duration) float64
	var err error
	switch {
	case order.Bare && order.Kind == "ring":
		measure, err = bareRing(order, exchange)
	case order.Bare:
		measure, err = bareStream(order, exchange)
	case order.Kind == "ring":
		measure, err = transportRing(order, exchange)
	default:
		measure, err = transportStream(order, exchange)
	}
	if err != nil {
		return err
	}
	if err := out.Encode("ready"); err != nil {
		return err
	}
	for {
		var d time.Duration
		if err := in.Decode(&d); err != nil {
			return err
		}
		answer := processorTime
		if d > 0 {
			answer = func() float64 { return measure(d) }
		}
		if err := out.Encode(answer()); err != nil {
			return err
		}
	}
}

func processorTime() float64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

type exchange = func(addr string) (transport.AddressBook, error)

type frameFunc func(from, to algorithms.NodeID, b []byte)

func (f frameFunc) Frame(from, to algorithms.NodeID, b []byte) { f(from, to, b) }
func (f frameFunc) Down(algorithms.NodeID, error)              {}

func openBench(o benchOrder, backlog int, exchange exchange, peer algorithms.NodeID, h func(*Transport) frameFunc) (*Transport, error) {
	l := defaultLimits()
	l.backlog = backlog
	tr, err := listen(transport.Config{
		Listen: "127.0.0.1:0", Local: []algorithms.NodeID{algorithms.NodeID(o.Index + 1)},
		Nodes: o.Processes, Key: testKey, Peers: []algorithms.NodeID{peer},
	}, l)
	if err != nil {
		return nil, err
	}
	book, err := exchange(tr.Addr())
	if err != nil {
		return nil, err
	}
	return tr, tr.Start(book, h(tr))
}
