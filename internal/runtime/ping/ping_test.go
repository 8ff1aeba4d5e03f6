package ping

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestRunMeasuresEverything(t *testing.T) {
	for _, s := range []Spec{tiny(), {Networks: []string{"udp"}, Tests: Tests(), Processes: 2, Tokens: []int{2}, Pairs: 2,
		Stretch: 2 * time.Millisecond, Size: MaxSize, UDPLayer: "raw"}} {
		var calls, last int
		r, err := Run(t.Context(), s, Options{Progress: func(done, of int) {
			calls++
			if last = of; done != calls {
				t.Errorf("%d stretches after %d calls", done, calls)
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		want := len(s.Networks) * (2 + len(s.Tokens)) // measurements
		if len(r.Measurements) != want || calls != last || last != want*s.Pairs*2 {
			t.Fatalf("%d measurements in %d of %d stretches, want %d", len(r.Measurements), calls, last, want)
		}
		for _, m := range r.Measurements {
			if len(m.Pairs) != s.Pairs || len(m.Quantities) != len(quantities[m.Test]) {
				t.Errorf("%v: %d pairs of %d, %d quantities", m.Test, len(m.Pairs), s.Pairs, len(m.Quantities))
			}
			for i, p := range m.Pairs {
				first := []Side{Bare, Ours}[i%2]
				if p.First != first || p.Processes != i/pairsPerSet+1 {
					t.Errorf("%v: pair %d begins with %s, on processes %d", m.Test, i, p.First, p.Processes)
				}
				mustBeWhole(t, &m, s.Processes, p.Bare, m.Transport == "udp")
				mustBeWhole(t, &m, s.Processes, p.Ours, m.UDPLayer == "raw")
			}
		}
	}
}

// mustBeWhole checks what the figures of a stretch must have in common.
func mustBeWhole(t *testing.T, m *Measurement, processes int, v Values, lossy bool) {
	t.Helper()
	for _, q := range quantities[m.Test] {
		if x, ok := v[q.name]; !ok || !(x > 0) {
			t.Errorf("%v: %s is %v in %v", m.Test, q.name, x, v)
		}
	}
	switch m.Test {
	case RoundTrip:
		if v[Trips] < 1 || v[RoundTripP50] > v[RoundTripP99] || v[OneWayP50] > v[OneWayP99] {
			t.Errorf("%v: %v", m.Test, v)
		}
	case Ring:
		// Each token makes whole laps, and at least one.
		if h := int(v[Hops]); h%processes != 0 || h < m.Tokens*processes {
			t.Errorf("%v: %d hops around %d processes", m.Test, h, processes)
		}
	case Stream:
		if v[Messages] < 1 || v[Lost] != 0 && !lossy || v[Lost] < 0 {
			t.Errorf("%v: %v messages arrived, %v did not", m.Test, v[Messages], v[Lost])
		}
	}
}

func TestRunThatIsInterruptedLeavesNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := tiny()
	s.Networks, s.Pairs, s.Stretch = []string{"tcp"}, 1<<10, time.Millisecond
	var pids []int
	_, err := Run(ctx, s, Options{Progress: func(int, int) {
		if pids == nil {
			pids = children(t)
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
	if want := 2 * s.Processes; len(pids) != want {
		t.Errorf("%d processes, want %d", len(pids), want)
	}
	mustBeGone(t, pids)
}

func TestSpecIsChecked(t *testing.T) {
	good := DefaultSpec()
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	for want, spoil := range map[string]func(*Spec){
		`transport "pigeon"; there are tcp, udp, nats`: func(s *Spec) { s.Networks = []string{"tcp", "pigeon"} },
		`transport "sim"`: func(s *Spec) { s.Networks = []string{"sim"} },
		`no transport`:    func(s *Spec) { s.Networks = nil },
		`test "speed"; there are round-trip, ring, strea`: func(s *Spec) { s.Tests = []Test{"speed"} },
		`no test`:                            func(s *Spec) { s.Tests = nil },
		`1 processes: must be from 2 to 256`: func(s *Spec) { s.Processes = 1 },
		`257 processes`:                      func(s *Spec) { s.Processes = 257 },
		`a ring without tokens`:              func(s *Spec) { s.Tokens = nil },
		`0 tokens: must be from 1`:           func(s *Spec) { s.Tokens = []int{1, 0} },
		`0 pairs`:                            func(s *Spec) { s.Pairs = 0 },
		`23 bytes in a message: must be from 24 to 16384`: func(s *Spec) { s.Size = MinSize - 1 },
		`16385 bytes`:                                func(s *Spec) { s.Size = MaxSize + 1 },
		`stretches of 0s`:                            func(s *Spec) { s.Stretch = 0 },
		`stretches of 1h0m0s`:                        func(s *Spec) { s.Stretch = time.Hour },
		`layer=lossless: want raw|reliable|fifo`:     func(s *Spec) { s.UDPLayer = "lossless" },
		`layer raw is of udp, which is not measured`: func(s *Spec) { s.Networks, s.UDPLayer = []string{"tcp"}, "raw" },
	} {
		s := DefaultSpec()
		spoil(&s)
		mustSay(t, s.Check(), want)
		if _, err := Run(t.Context(), s, Options{}); err == nil {
			t.Errorf("%s: measured all the same", want)
		}
	}
	// Everything that is wrong is said at once.
	both := DefaultSpec()
	both.Processes, both.Size = 0, 0
	mustSay(t, both.Check(), "0 processes")
	mustSay(t, both.Check(), "0 bytes")
}
