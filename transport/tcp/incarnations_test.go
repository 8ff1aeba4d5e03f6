package tcp

import (
	"errors"
	"strings"
	"testing"

	"dmebench/transport/frame"
)

// A connection of an incarnation that is over is refused, whenever it is made; one of
// an incarnation that nobody has announced waits.
func TestConnectionsOfOtherIncarnations(t *testing.T) {
	tr, e, other := alone(t, defaultLimits())
	first := dialAs(t, tr, 3)
	first.Write(frame.Append(nil, 3, 1, []byte("of the first")))
	if got := next(t, "a frame", e.Frames); got != "3>1 of the first" {
		t.Error(got)
	}
	second := dialIn(t, tr, 3, 2)
	second.Write(frame.Append(nil, 3, 1, []byte("of the second")))
	const rest = 900
	var b []byte
	for range rest {
		b = frame.Append(b, 3, 1, []byte("and another"))
	}
	first.Write(b)
	first.Close()
	if err := tr.Readmit(3, other.Addr().String(), 2); err != nil {
		t.Fatal(err)
	}
	if n := countOf(e.Frames, "3>1 and another", rest); n != rest {
		t.Errorf("%d of %d frames that had come from the first were delivered before Readmit returned", n, rest)
	}
	if len(e.Downs) != 2 {
		t.Errorf("Readmit has returned after Down of %d nodes, want 2", len(e.Downs))
	}
	if got := next(t, "a frame", e.Frames); got != "3>1 of the second" {
		t.Error(got)
	}
	if err := tr.Readmit(3, other.Addr().String(), 3); err != nil {
		t.Fatal(err)
	}
	refused := tr.Counters().RefusedConns
	late := dialIn(t, tr, 3, 1)
	late.Write(frame.Append(nil, 3, 1, []byte("of the first, late")))
	if _, err := late.Read(make([]byte, 100)); err == nil {
		t.Error("something is said to the one that is over")
	}
	if n := tr.Counters().RefusedConns - refused; n != 1 {
		t.Errorf("%d connections refused, want 1", n)
	}
	if len(e.Frames) > 0 {
		t.Errorf("%q is delivered", <-e.Frames)
	}
	for _, err := range []error{
		tr.Readmit(3, "x", 3), tr.Readmit(3, "", 4), tr.Readmit(1, "x", 2),
		tr.Readmit(9, "x", 2), tr.Expel(2, errors.New("x")),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), "tcp: ") {
			t.Errorf("misuse: %v", err)
		}
	}
}

// countOf takes so many at most of what is there already, as long as it is of one kind.
func countOf(c <-chan string, s string, most int) (n int) {
	for ; n < most; n++ {
		select {
		case got := <-c:
			if got != s {
				return n
			}
		default:
			return n
		}
	}
	return n
}

// Who dials an address at which another incarnation lives by now learns it.
func TestAnotherIncarnationDoesNotAnswer(t *testing.T) {
	tr, _, _ := alone(t, defaultLimits())
	for _, to := range []uint32{1, 2} {
		err := dial(t, tr, ends{from: 3, to: 1, fromIncarnation: 1, toIncarnation: to})
		if errors.Is(err, errElsewhere) != (to != 1) {
			t.Errorf("to incarnation %d: %v", to, err)
		}
	}
}
