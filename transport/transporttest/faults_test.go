package transporttest_test

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/transport"
	"dmebench/transport/tcp"
	"dmebench/transport/transporttest"
)

// The suite is tested with transports that are wrong on purpose: each must
// fail the part that is there to catch it. A part runs in this test binary
// started again, since what must fail cannot be part of a run that must not.

// faultVar is set in the environment of such a process, to the fault's name.
const faultVar = "DMEBENCH_TRANSPORTTEST_FAULT"

var faults = []struct{ name, caughtBy string }{
	{"none", ""},
	{"loses a frame", "RepliesFromHandler"},
	{"repeats a frame", "Burst"},
	{"swaps two frames", "Burst"},
	{"alters a frame", "Burst"},
	{"mixes up the nodes", "SelfSend"},
	{"keeps the caller's bytes", "Burst"},
	{"forgets what was not flushed", "RepliesFromHandler"},
	{"knows no bound", "SlowReader"}, // none of these looks at its knobs
	{"waits for the network", "FloodBothWays"},
	{"drops the queue at Close", "CloseDrains"},
	{"delivers after Close", "SilenceAfterClose"},
	{"takes leaving for death", "LeavingIsNotDeath"},
	{"sends for strangers", "Misuse"},
	{"takes any key", "WrongKey"},
	{"does not notice death", "Death"},
	{"reports a death twice", "Death"},
	{"leaks a goroutine", "SelfSend"},
	{"forgets its own process in a broadcast", "Broadcast"},
	{"does not tell Up", "Restart"},
	{"tells Up before Down", "Restart"},
	{"delivers a frame of the old one after Up", "Restart"},
	{"fails to send to who is down", "Restart"},
	{"is late to tell Down", "Restart"},
}

func faultySubject(fault string) transporttest.Subject {
	s := transporttest.Subject{
		Name:       fault,
		Guarantees: tcp.Guarantees,
		Open: func(c transport.Config, _ transporttest.Knobs) (transport.Transport, error) {
			if fault == "takes any key" {
				c.Key = transport.Key{1}
			}
			t, err := tcp.Listen(c, tcp.Options{})
			return &faulty{Transport: t, fault: fault, local: c.Local[0]}, err
		},
		NoticesDeath: true,
		Stranger:     func(addr string) (net.Conn, error) { return net.Dial("tcp", addr) },
	}
	s.Guarantees.Broadcast = true // as a series of frames
	switch i := slices.IndexFunc(faults, func(f struct{ name, caughtBy string }) bool { return f.name == fault }); {
	case faults[i].caughtBy == "Restart":
		s.Patience = time.Second // its processes take their time
	case fault != "none":
		s.Patience = 300 * time.Millisecond
	}
	return s
}

func TestMain(m *testing.M) {
	var subjects []transporttest.Subject
	for _, f := range faults {
		subjects = append(subjects, faultySubject(f.name))
	}
	os.Exit(transporttest.Main(m, subjects...))
}

// TestFaulty runs the suite on the transport that the environment names.
func TestFaulty(t *testing.T) {
	fault := os.Getenv(faultVar)
	if fault == "" {
		t.Skip("run by TestSuiteCatchesFaults")
	}
	transporttest.Run(t, faultySubject(fault))
}

func TestSuiteCatchesFaults(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			part := f.caughtBy
			if part == "" {
				part = "SelfSend|Broadcast|RepliesFromHandler|Misuse|WrongKey|Death|Restart"
			}
			cmd := exec.Command(exe, "-test.run=^TestFaulty$/^("+part+")$", "-test.short", "-test.timeout=60s")
			cmd.Env = append(os.Environ(), faultVar+"="+f.name)
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			switch {
			case f.caughtBy == "" && err != nil:
				t.Errorf("the transport without a fault fails: %v\n%s", err, out)
			case f.caughtBy == "":
			case !errors.As(err, &exit):
				t.Errorf("%s does not notice: %v\n%s", part, err, out)
			case !strings.Contains(string(out), "--- FAIL: TestFaulty/"+part):
				t.Errorf("it fails elsewhere than in %s:\n%s", part, out)
			}
		})
	}
}

// faulty is a transport with a fault.
type faulty struct {
	transport.Transport
	fault   string
	local   dme.NodeID
	handler transport.Handler
	book    transport.AddressBook
	started time.Time
	down    atomic.Bool // some node is
	sent    atomic.Uint64
	got     atomic.Uint64

	mu    sync.Mutex
	held  func() error // a frame that waits for the next one, or for Flush
	later []func() error
}

// sometimes picks the frames that the fault befalls.
func sometimes(n uint64) bool { return n%100 == 7 }

func (f *faulty) Start(book transport.AddressBook, h transport.Handler) error {
	f.handler, f.book, f.started = h, book, time.Now()
	switch f.fault {
	case "takes leaving for death":
		time.AfterFunc(20*time.Millisecond, func() { h.Down(3, errors.New("it has left")) })
	case "leaks a goroutine":
		go func() { select {} }()
	}
	return f.Transport.Start(book, faultyHandler{h, f})
}

func (f *faulty) Send(from, to dme.NodeID, b []byte) error {
	n := f.sent.Add(1)
	send := func() error { return f.Transport.Send(from, to, b) }
	switch f.fault {
	case "fails to send to who is down":
		if f.down.Load() {
			return errors.New("it is down")
		}
	case "loses a frame":
		if sometimes(n) {
			return nil
		}
	case "repeats a frame":
		if sometimes(n) {
			send()
		}
	case "swaps two frames":
		f.mu.Lock()
		defer f.mu.Unlock()
		if sometimes(n) {
			kept := append([]byte(nil), b...)
			f.held = func() error { return f.Transport.Send(from, to, kept) }
			return nil
		}
		if f.held != nil && sometimes(n-20) { // the same pair's next
			defer f.held()
		}
	case "keeps the caller's bytes":
		f.mu.Lock()
		defer f.mu.Unlock()
		f.later = append(f.later, send)
		return nil
	case "forgets what was not flushed", "drops the queue at Close":
		f.mu.Lock()
		defer f.mu.Unlock()
		kept := append([]byte(nil), b...)
		f.later = append(f.later, func() error { return f.Transport.Send(from, to, kept) })
		return nil
	case "waits for the network":
		for n > f.got.Load()+200 && time.Since(f.started) < 3*time.Second {
			time.Sleep(time.Millisecond)
		}
	case "sends for strangers":
		if from != f.local {
			return nil
		}
	}
	return send()
}

func (f *faulty) Broadcast(from dme.NodeID, b []byte) error {
	for to := range f.book {
		to := dme.NodeID(to + 1)
		if to == from || f.fault == "forgets its own process in a broadcast" && f.book.Addr(to) == f.book.Addr(from) {
			continue
		}
		if err := f.Send(from, to, b); err != nil {
			return err
		}
	}
	return nil
}

func (f *faulty) Flush() error {
	if f.fault == "drops the queue at Close" {
		time.AfterFunc(20*time.Millisecond, func() { f.flush() }) // in vain once it is closed
		return nil
	}
	return f.flush()
}

func (f *faulty) flush() error {
	f.mu.Lock()
	for _, send := range f.later {
		send()
	}
	f.later = nil
	f.mu.Unlock()
	return f.Transport.Flush()
}

func (f *faulty) Close() error {
	err := f.Transport.Close()
	if f.fault == "delivers after Close" && f.handler != nil {
		go func() {
			for range 100 {
				f.handler.Frame(2, 1, nil)
				time.Sleep(time.Millisecond)
			}
		}()
	}
	return err
}

type faultyHandler struct {
	transport.Handler
	f *faulty
}

func (h faultyHandler) Up(peer dme.NodeID) {
	h.f.down.Store(false)
	if h.f.fault == "does not tell Up" {
		return
	}
	h.Handler.(transport.UpHandler).Up(peer)
	h.f.mu.Lock()
	held := h.f.held // of the old one
	h.f.held = nil
	h.f.mu.Unlock()
	if held != nil {
		held() // without the lock: the handler may be inside Send or Flush, which takes it
	}
}

func (h faultyHandler) Frame(from, to dme.NodeID, b []byte) {
	n := h.f.got.Add(1)
	switch h.f.fault {
	case "delivers a frame of the old one after Up":
		kept := append([]byte(nil), b...)
		h.f.mu.Lock()
		h.f.held = func() error {
			h.Handler.Frame(from, to, kept)
			return nil
		}
		h.f.mu.Unlock()
	case "alters a frame":
		if sometimes(n) {
			b[len(b)-1] ^= 1
		}
	case "mixes up the nodes":
		from, to = to, from
	}
	h.Handler.Frame(from, to, b)
}

func (h faultyHandler) Down(peer dme.NodeID, err error) {
	h.f.down.Store(true)
	switch h.f.fault {
	case "tells Up before Down":
		h.f.mu.Lock()
		defer h.f.mu.Unlock()
		h.f.held = func() error {
			h.Handler.Down(peer, err)
			return nil
		}
		return
	case "is late to tell Down":
		time.AfterFunc(time.Second, func() { h.Handler.Down(peer, err) })
		return
	case "does not notice death":
		return
	case "reports a death twice":
		h.Handler.Down(peer, err)
	}
	h.Handler.Down(peer, err)
}
