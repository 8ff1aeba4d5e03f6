package udp

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"dmebench/algorithms"
	"dmebench/transport"
)

// benchVar is set in the environment of this binary where it is started anew
// as a process of a benchmark.
const benchVar = "DMEBENCH_UDP_BENCH"

// benchOrder is what a process of a benchmark is told first. It answers with
// its address, takes the address book, and answers "ready". From then on, it
// answers each 0 that it reads by the processor time in seconds that it has
// used, and the first process each other duration by the hops per second that it
// measured for so long.
type benchOrder struct {
	Layer Layer
	Bare  bool // without the transport
	Index int  // of this process, from 0
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

func startBench(b *testing.B, order benchOrder, pinned bool) *benchCluster {
	b.Helper()
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	c := new(benchCluster)
	b.Cleanup(c.stop)
	var book transport.AddressBook
	for i := range ringSize {
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
	for i := range ringSize {
		if err := c.in[i].Encode(book); err != nil {
			b.Fatal(err)
		}
	}
	for i := range ringSize {
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

// run measures for about d and returns the hops per second.
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
	ring := transportRing
	if order.Bare {
		ring = bareRing
	}
	k := &token{back: make(chan struct{})}
	inject, err := ring(order, exchange, k)
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
			answer = func() float64 { return k.measure(d, inject) }
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

// token counts the rounds of a token at the first process of a ring, which
// takes it out when the time is over.
type token struct {
	over   atomic.Bool
	rounds atomic.Int64
	back   chan struct{}
}

// pass reports whether the token goes on.
func (k *token) pass() bool {
	k.rounds.Add(1)
	if k.over.Load() {
		k.back <- struct{}{}
		return false
	}
	return true
}

func (k *token) measure(d time.Duration, inject func()) float64 {
	k.over.Store(false)
	k.rounds.Store(0)
	begin := time.Now()
	inject()
	time.Sleep(d)
	k.over.Store(true)
	<-k.back
	return float64(k.rounds.Load()) * ringSize / time.Since(begin).Seconds()
}

// ringHandler passes the token on.
type ringHandler struct {
	tr         *Transport
	self, next algorithms.NodeID
	token      *token
}

func (h *ringHandler) Frame(_, _ algorithms.NodeID, b []byte) {
	if h.self != 1 || h.token.pass() {
		h.tr.Send(h.self, h.next, b)
	}
}

func (h *ringHandler) Down(id algorithms.NodeID, err error) {
	fmt.Fprintln(os.Stderr, "down:", id, err)
}

func transportRing(o benchOrder, exchange exchange, k *token) (inject func(), err error) {
	h := &ringHandler{self: algorithms.NodeID(o.Index + 1), next: algorithms.NodeID((o.Index+1)%ringSize + 1), token: k}
	h.tr, err = Listen(transport.Config{
		Listen: "127.0.0.1:0", Local: []algorithms.NodeID{h.self}, Nodes: ringSize,
		Key: [transport.KeySize]byte{1}, Peers: []algorithms.NodeID{h.next},
	}, Options{Layer: o.Layer})
	if err != nil {
		return nil, err
	}
	book, err := exchange(h.tr.Addr())
	if err != nil {
		return nil, err
	}
	return func() {
		h.tr.Send(h.self, h.next, make([]byte, messageSize))
		h.tr.Flush()
	}, h.tr.Start(book, h)
}

func bareRing(o benchOrder, exchange exchange, k *token) (inject func(), err error) {
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, err
	}
	book, err := exchange(conn.LocalAddr().String())
	if err != nil {
		return nil, err
	}
	next, err := resolve(book[(o.Index+1)%ringSize])
	if err != nil {
		return nil, err
	}
	go func() {
		b := make([]byte, 2048)
		for {
			n, _, err := conn.ReadFromUDPAddrPort(b)
			if err != nil {
				return
			}
			if o.Index != 0 || k.pass() {
				conn.WriteToUDPAddrPort(b[:n], next)
			}
		}
	}()
	return func() { conn.WriteToUDPAddrPort(make([]byte, messageSize), next) }, nil
}
