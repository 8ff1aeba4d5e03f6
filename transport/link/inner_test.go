package link

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"dmebench/dme"
	"dmebench/transport"
)

// recorder is a transport that keeps what is sent through it.
type recorder struct {
	transport.Readmitter // nil: nobody ends

	mu      sync.Mutex
	frames  []recorded
	flushed int // frames of which the last flush knew
	closed  bool
	arrived chan struct{} // gets something when frames have been flushed
	counts  transport.Counters
}

type recorded struct {
	link Link
	body string
	at   time.Time
}

func newRecorder() *recorder { return &recorder{arrived: make(chan struct{}, 1)} }

func (r *recorder) Addr() string                                         { return "here" }
func (r *recorder) Start(transport.AddressBook, transport.Handler) error { return nil }

func (r *recorder) Send(from, to dme.NodeID, b []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed:
		return transport.ErrClosed
	case from != 1 && from != 2 || to < 1 || to > 4:
		return fmt.Errorf("recorder: from %d to %d", from, to)
	}
	r.counts.Frames++
	r.frames = append(r.frames, recorded{Link{from, to}, string(bytes.Clone(b)), time.Now()})
	return nil
}

func (r *recorder) Flush() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.flushed = len(r.frames)
	select {
	case r.arrived <- struct{}{}:
	default:
	}
	return nil
}

func (r *recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	return nil
}

func (r *recorder) Counters() transport.Counters {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.counts
}

// wait returns the frames of a link once n have been sent and flushed.
func (r *recorder) wait(t *testing.T, l Link, n int) []recorded {
	t.Helper()
	deadline := time.After(30 * time.Second)
	for {
		r.mu.Lock()
		var of []recorded
		for _, f := range r.frames[:r.flushed] {
			if f.link == l {
				of = append(of, f)
			}
		}
		r.mu.Unlock()
		if len(of) >= n {
			return of
		}
		select {
		case <-r.arrived:
		case <-deadline:
			t.Fatalf("waited in vain for %d frames of %v, there are %d", n, l, len(of))
		}
	}
}

// open wraps a recorder in a process with nodes 1 and 2 of 4.
func open(t testing.TB, c Config) (*Transport, *recorder) {
	t.Helper()
	before := goleak.IgnoreCurrent()
	r := newRecorder()
	tr := Wrap(r, c)
	t.Cleanup(func() {
		tr.Close()
		if !r.closed {
			t.Error("the transport beneath was not closed")
		}
		goleak.VerifyNone(t, before)
	})
	if err := tr.Start(transport.AddressBook{"here", "here", "there", "there"}, nil); err != nil {
		t.Fatal(err)
	}
	return tr, r
}

// delays is how many frames had to wait.
func delays(tr *Transport) uint64 {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return tr.delayed
}

func send(t testing.TB, tr *Transport, l Link, body string) {
	t.Helper()
	if err := tr.Send(l.From, l.To, []byte(body)); err != nil {
		t.Fatal(err)
	}
}

func TestIdleLeavesEverythingAlone(t *testing.T) {
	tr, r := open(t, Config{Seed: 1})
	for i := range 100 {
		send(t, tr, Link{1, 3}, fmt.Sprint(i))
	}
	tr.Flush()
	for i, f := range r.wait(t, Link{1, 3}, 100) {
		if f.body != fmt.Sprint(i) {
			t.Fatalf("frame %d is %q", i, f.body)
		}
	}
	if got := delays(tr); got != 0 || len(r.frames) != 100 {
		t.Errorf("%d frames had to wait, %d have passed", got, len(r.frames))
	}
	if g := (&Config{Seed: 5, All: Conditions{Holding: time.Second}}).Guarantees(transport.Guarantees{Broadcast: true}); !g.Broadcast {
		t.Error("conditions that do nothing take a guarantee away")
	}
}

func TestMisuseIsAnErrorWhateverTheConditions(t *testing.T) {
	tr, _ := open(t, Config{All: Conditions{Loss: 1}, LargestFrame: 100})
	for _, l := range []Link{{0, 1}, {3, 1}, {1, 0}, {1, 5}} {
		if err := tr.Send(l.From, l.To, nil); err == nil {
			t.Errorf("Send from %d to %d: no error", l.From, l.To)
		}
	}
	if err := tr.Send(1, 2, nil); err != nil {
		t.Errorf("a frame that is lost: %v", err)
	}
	tr.Close()
	if err := tr.Send(1, 2, nil); !errors.Is(err, transport.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}
