package nats

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync/atomic"
	"testing"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"golang.org/x/sys/unix"

	"dmebench/algorithms"
	"dmebench/transport"
)

// benchVar is set in the environment of this binary where it is started anew
// as a process of a benchmark.
const benchVar = "DMEBENCH_NATS_BENCH"

func TestMain(m *testing.M) {
	if os.Getenv(benchVar) == "" {
		os.Exit(m.Run())
	}
	if err := serveBench(os.Stdin, os.Stdout); err != nil && !errors.Is(err, io.EOF) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// benchOrder is what a process of a benchmark is told first. It answers "ready".
// From then on, it answers each 0 that it reads by the processor time in seconds
// that it has used, and the first process each other duration by the hops per
// second that it measured for so long.
type benchOrder struct {
	Bare              bool // without the transport
	Shared, Sequenced bool
	Tokens            int
	Index             int // of this process, from 0
	Processes         int
	Broker            Broker
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
		var ready string
		c.ask(b, i, order, &ready)
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

func serveBench(stdin io.Reader, stdout io.Writer) error {
	in, out := json.NewDecoder(stdin), json.NewEncoder(stdout)
	var o benchOrder
	if err := in.Decode(&o); err != nil {
		return err
	}
	k := tokens{back: make(chan struct{})}
	join := transportRing
	if o.Bare {
		join = bareRing
	}
	inject, err := join(o, &k)
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
			answer = func() float64 { return k.measure(d, o, inject) }
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

// tokens counts the rounds of tokens at the first process of a ring, which takes
// them out when the time is over.
type tokens struct {
	over   atomic.Bool
	rounds atomic.Int64
	back   chan struct{}
}

// pass reports whether the token goes on.
func (k *tokens) pass() bool {
	k.rounds.Add(1)
	if k.over.Load() {
		k.back <- struct{}{}
		return false
	}
	return true
}

func (k *tokens) measure(d time.Duration, o benchOrder, inject func()) float64 {
	k.over.Store(false)
	k.rounds.Store(0)
	begin := time.Now()
	for range o.Tokens {
		inject()
	}
	time.Sleep(d)
	k.over.Store(true)
	for range o.Tokens {
		<-k.back
	}
	return float64(k.rounds.Load()) * float64(o.Processes) / time.Since(begin).Seconds()
}

func transportRing(o benchOrder, k *tokens) (inject func(), err error) {
	self := algorithms.NodeID(o.Index + 1)
	after := algorithms.NodeID((o.Index+1)%o.Processes + 1)
	tr, err := Listen(config(self, o.Processes), o.Broker)
	if err != nil {
		return nil, err
	}
	var book transport.AddressBook
	for i := range o.Processes {
		book = append(book, tr.prefix+"."+wing(algorithms.NodeID(i+1)))
	}
	return func() { tr.Send(self, after, make([]byte, messageSize)) },
		tr.Start(book, handler{frame: func(_, _ algorithms.NodeID, b []byte) {
			if self != 1 || k.pass() {
				tr.Send(self, after, b)
			}
		}})
}

// bareRing is what the client library's documentation shows, with subjects and
// messages as long as the transport's.
func bareRing(o benchOrder, k *tokens) (inject func(), err error) {
	c, err := natsgo.Connect(o.Broker.URL, natsgo.Token(o.Broker.Token))
	if err != nil {
		return nil, err
	}
	subject := func(i int) string { return fmt.Sprintf("dmebench.0123456789abcdef.w%d.%d", i, i) }
	after := subject((o.Index + 1) % o.Processes)
	if _, err := c.Subscribe(subject(o.Index), func(m *natsgo.Msg) {
		if o.Index != 0 || k.pass() {
			c.Publish(after, m.Data)
		}
	}); err != nil {
		return nil, err
	}
	return func() { c.Publish(after, make([]byte, messageSize+tagSize+3)) }, c.Flush()
}
