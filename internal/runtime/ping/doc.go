// Package ping measures what the networks themselves can do in the topology of a run: processes of
// one host that pass small messages to each other. Each measurement has two sides: the least that
// could do the same (plain sockets of the net package, or the NATS client library alone) and the
// transport that runs use. The result is the ratio of the two.
//
// # The tests
//
// Round trip: the first process sends the second a message, which sends it back; one at a time.
// Processes of a host share a clock, so the delay of one way is known too.
//
// Ring: tokens go around all processes; a hop is one message from a process to the next.
//
// Stream: the first process sends the second as many messages as that takes. Both sides keep the
// same bound on what is under way. Over TCP, the bare side is a coalescing writer: two buffers, of
// which one fills while the other is written. That is the limit of what one connection carries.
//
// # Ratios, and what they are worth
//
// On a shared machine, figures jump several-fold with the placement of processes, which differs
// between two sets of processes for as long as they live. So the two sides take turns in short
// stretches, each first in every other pair, with new processes every few pairs; a ratio is one of
// neighbours, and the median of the ratios is reported with its confidence interval. Every ratio is
// one of speeds: above 1 the transport is faster than the bare side.
//
// Processes are this program itself under a hidden sub-command, as workers are. They end when their
// standard input does, so none outlives its parent.
package ping

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"dmebench/dme"
	"dmebench/internal/platform/environment"
	"dmebench/internal/runtime/run"
	"dmebench/units"
)

// Test is one of the things that are measured.
type Test string

// The tests.
const (
	RoundTrip Test = "round-trip"
	Ring      Test = "ring"
	Stream    Test = "stream"
)

func Tests() []Test { return []Test{RoundTrip, Ring, Stream} }

// Networks lists the networks that can be measured: those that have a bare side.
func Networks() []string {
	var names []string
	for _, n := range run.Networks() {
		if bareSides[n.Name] != nil {
			names = append(names, n.Name)
		}
	}
	return names
}

// Bounds of what can be asked for.
const (
	// MinPairs is how many pairs of stretches there must be for a confidence
	// interval.
	MinPairs = 10

	MinSize = 24       // bytes: what a message has to carry
	MaxSize = 16 << 10 // bytes: what a datagram carries everywhere

	MaxProcesses = 256
	MaxTokens    = 256
	MinStretch   = time.Millisecond
	MaxStretch   = time.Minute
)

// Spec says what is measured. [DefaultSpec] is a complete one.
type Spec struct {
	Networks  []string      `json:"networks"`
	Tests     []Test        `json:"tests"`
	Processes int           `json:"processes"`           // of the ring; the first two do the rest
	Tokens    []int         `json:"tokens"`              // at a time, in the ring
	Pairs     int           `json:"pairs"`               // of stretches
	Stretch   time.Duration `json:"stretch_ns"`          // how long a side is measured at a time
	Size      int           `json:"size_bytes"`          // of a message
	Pin       bool          `json:"pin"`                 // each process to one processor, in turn
	UDPLayer  string        `json:"udp_layer,omitempty"` // "" for the network's default
}

// DefaultSpec measures everything.
func DefaultSpec() Spec {
	return Spec{
		Networks: Networks(), Tests: Tests(), Processes: 8, Tokens: []int{1, 16},
		Pairs: MinPairs, Stretch: 200 * time.Millisecond, Size: 32,
	}
}

// Check returns everything that is wrong with the specification.
func (s *Spec) Check() error {
	var errs []error
	wrong := func(format string, args ...any) { errs = append(errs, fmt.Errorf("ping: "+format, args...)) }
	within := func(what string, x, lo, hi int) {
		if x < lo || x > hi {
			wrong("%d %s: must be from %d to %d", x, what, lo, hi)
		}
	}
	oneOf := func(what string, chosen, all []string) {
		if len(chosen) == 0 {
			wrong("no %s; there are %s", what, strings.Join(all, ", "))
		}
		for _, name := range chosen {
			if !slices.Contains(all, name) {
				wrong("%w", units.UnknownName(what, name, all, units.Listed(all)))
			}
		}
	}
	oneOf("transport", s.Networks, Networks())
	oneOf("test", names(s.Tests), names(Tests()))
	within("processes", s.Processes, 2, MaxProcesses)
	if len(s.Tokens) == 0 && slices.Contains(s.Tests, Ring) {
		wrong("a ring without tokens; say how many go around at a time")
	}
	for _, n := range s.Tokens {
		within("tokens", n, 1, MaxTokens)
	}
	within("pairs", s.Pairs, 1, 1<<20)
	within("bytes in a message", s.Size, MinSize, MaxSize)
	if s.Stretch < MinStretch || s.Stretch > MaxStretch {
		wrong("stretches of %v: must be from %v to %v", s.Stretch, MinStretch, MaxStretch)
	}
	if _, err := environment.CPUs(); s.Pin && err != nil {
		wrong("processes cannot be pinned to processors on this system: %w", err)
	}
	if s.UDPLayer != "" {
		if !slices.Contains(s.Networks, "udp") {
			wrong("layer %s is of udp, which is not measured", s.UDPLayer)
		} else if _, _, err := lookup("udp", s.set("udp")); err != nil {
			errs = append(errs, fmt.Errorf("ping: %w", err))
		}
	}
	return errors.Join(errs...)
}

func names(tests []Test) []string {
	return units.Texts(tests, func(t Test) string { return string(t) })
}

func (s *Spec) set(network string) map[string]string {
	if network == "udp" && s.UDPLayer != "" {
		return map[string]string{run.LayerOption: s.UDPLayer}
	}
	return nil
}

func lookup(network string, set map[string]string) (run.Network, dme.Options, error) {
	n, err := run.LookupNetwork(network)
	if err != nil {
		return n, nil, err
	}
	opt, err := dme.ResolveOptions(n.Options, set)
	return n, opt, err
}

type Task struct {
	Test    Test
	Tokens  int // of a ring
	Stretch time.Duration
}

func (t Task) String() string {
	switch {
	case t.Test != Ring:
		return string(t.Test)
	case t.Tokens == 1:
		return "ring, 1 token"
	}
	return fmt.Sprintf("ring, %d tokens", t.Tokens)
}

func (t Task) processes(of int) int {
	if t.Test == Ring {
		return of
	}
	return 2
}

func (s *Spec) tasks() []Task {
	var tasks []Task
	for _, t := range s.Tests {
		if t != Ring {
			tasks = append(tasks, Task{Test: t, Stretch: s.Stretch})
			continue
		}
		for _, n := range s.Tokens {
			tasks = append(tasks, Task{Test: t, Tokens: n, Stretch: s.Stretch})
		}
	}
	return tasks
}

const (
	windowBytes = 1 << 20 // of a stream, under way
	mostWindow  = 1 << 15 // messages
	leastWindow = 1 << 6
	// lossyWindow fits into the kernel's usual buffers even if each message has a datagram to
	// itself.
	lossyWindow = 1 << 8

	reports = 8   // of progress, in a window
	batch   = 256 // messages between two flushes, as in a transport's batch

	// lostAfter is how long a sender waits for news of a lossy stream before it
	// takes everything under way for lost.
	lostAfter = 50 * time.Millisecond
)

var errLost = errors.New("ping: the receiver of a stream does not confirm it")

// window returns how many messages of a stream may be under way.
func window(size int, lossy bool) uint64 {
	if lossy {
		return lossyWindow
	}
	return uint64(min(max(windowBytes/size, leastWindow), mostWindow))
}

// report tells the first process how much has arrived; serial is that of the message that
// asks, if one does.
func (p *peer) report(serial uint64) {
	p.reply[0] = progress
	setNumber(p.reply, numberAt, p.taken)
	setNumber(p.reply, arrivedAt, serial)
	p.send(0, p.reply)
}

func (p *peer) stream(d time.Duration) (Values, error) {
	m := newMessage(data, p.order.Size)
	before := p.arrived.Load()
	chunk := min(batch, p.window/4)
	var sent, writtenOff uint64
	begin := time.Now()
	for time.Since(begin) < d {
		for sent+chunk > p.arrived.Load()-before+writtenOff+p.window {
			if !p.hear() {
				if !p.end.lossy() {
					return nil, errLost
				}
				writtenOff = sent - (p.arrived.Load() - before)
			}
		}
		for range chunk {
			if err := p.end.stream(1, m); err != nil {
				return nil, err
			}
		}
		if err := p.end.flush(); err != nil {
			return nil, err
		}
		sent += chunk
	}
	if err := p.finish(); err != nil {
		return nil, err
	}
	elapsed := time.Since(begin).Seconds()
	arrived := float64(p.arrived.Load() - before)
	return Values{Messages: arrived, MessageRate: arrived / elapsed, Lost: float64(sent) - arrived}, nil
}

func (p *peer) finish() error {
	p.serial++
	m := newMessage(last, p.order.Size)
	setNumber(m, arrivedAt, p.serial)
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		if err := p.end.stream(1, m); err != nil {
			return err
		}
		if err := p.end.flush(); err != nil {
			return err
		}
		for p.answered.Load() != p.serial && p.hear() {
		}
		if p.answered.Load() == p.serial {
			return nil
		}
	}
	return errLost
}

func (p *peer) hear() bool {
	wait := patience
	if p.end.lossy() {
		wait = lostAfter
	}
	timeout := time.NewTimer(wait)
	defer timeout.Stop()
	select {
	case <-p.news:
		return true
	case <-timeout.C:
		return false
	}
}
