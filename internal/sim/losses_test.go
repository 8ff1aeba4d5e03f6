package sim

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"dmebench/algorithms/catalog"
	"dmebench/dme"
	"dmebench/runs"
	"dmebench/transport/link"
)

// The k-th message of a link meets what the k-th frame of that link meets over a
// real transport.
func TestMessagesMeetTheFateOfFrames(t *testing.T) {
	const n = 5000
	var x stream
	s := x.run(t, n, 100*time.Microsecond, map[string]string{
		"loss": "0.1", "dup": "0.2", "reorder": "0.1", "jitter": "500us", "bandwidth": "100000", "link-seed": "7",
		"links": "1-2@100ms-200ms:delay=exp:2ms,loss=0.5", "partition": "1|2@300ms-310ms",
	})
	type receipt struct {
		at     int64
		number uint64
	}
	var got, want []receipt
	for i, number := range x.numbers {
		got = append(got, receipt{x.sent[i] + x.at[i], number})
	}
	config := s.job.Links()
	conditioner := config.Conditioner(link.Link{From: 1, To: 2})
	for k := range uint64(n) {
		at := time.Duration(k) * 100 * time.Microsecond
		m := dme.Message{Kind: 1, Num: k + 1, Clock: uint64(at)}
		f := conditioner.Next(at, dme.MessageSize(&m))
		if !f.Lost {
			want = append(want, receipt{int64(f.Departure) + ms, m.Num})
		}
		if !f.Lost && f.Repeated {
			want = append(want, receipt{int64(f.Repeat) + ms, m.Num})
		}
	}
	order := func(a, b receipt) int { return int(a.at-b.at)*n + int(a.number) - int(b.number) }
	slices.SortFunc(got, order)
	slices.SortFunc(want, order)
	if !slices.Equal(got, want) {
		t.Errorf("%d receipts, want the %d on which package link decides", len(got), len(want))
	}
}

// TestConditionsDoWhatTheySay counts what comes out of each condition alone.
func TestConditionsDoWhatTheySay(t *testing.T) {
	const n, us = 20_000, time.Microsecond
	for _, x := range []struct {
		option, value string
		inOrder       bool
		lost, twice   float64       // probabilities
		mean          time.Duration // delay of what arrives
		error         time.Duration // by which it may differ: five standard errors
	}{
		{"loss", "0.3", true, 0.3, 0, 1000 * us, 0},
		{"loss", "1", true, 1, 0, 0, 0},
		{"dup", "0.2", false, 0, 0.2, 1083 * us, 10 * us}, // a sixth of the receipts, 500 µs later
		{"reorder", "0.1", false, 0, 0, 1050 * us, 7 * us},
		{"jitter", "100us", true, 0, 0, 1050 * us, us},
		{"links", "1-2:delay=uniform:100us:200us", true, 0, 0, 1150 * us, us},
		{"links", "2-1:loss=1", true, 0, 0, 1000 * us, 0},
		{"links", "1-2@0s-1s:loss=1", true, 0.5, 0, 1000 * us, 0}, // of the two that it takes
		{"partition", "1|2@500ms-1500ms", true, 0.5, 0, 1000 * us, 0},
	} {
		var got stream
		s := got.run(t, n, 100*us, map[string]string{x.option: x.value}) // the seed is fixed, so that chance has no say
		want := n * (1 - x.lost + x.twice)
		scatter := 5 * math.Sqrt(n*(x.lost*(1-x.lost)+x.twice*(1-x.twice)))
		if math.Abs(float64(len(got.numbers))-want) > scatter {
			t.Errorf("%s=%s: %d receipts, want %v±%.0f", x.option, x.value, len(got.numbers), want, scatter)
		}
		if slices.IsSorted(got.numbers) != x.inOrder {
			t.Errorf("%s=%s: in order: %v", x.option, x.value, !x.inOrder)
		}
		if off := time.Duration(s.meanDelay()) - x.mean; off.Abs() > x.error {
			t.Errorf("%s=%s: mean delay %v, want %v±%v", x.option, x.value, time.Duration(s.meanDelay()), x.mean, x.error)
		}
		sum := 0.0
		for _, at := range got.at {
			sum += float64(at)
		}
		if mean := sum / float64(max(1, len(got.at))); math.Abs(mean-s.meanDelay()) > 1 {
			t.Errorf("%s=%s: the mean delay is said to be %v, and was %v", x.option, x.value, s.meanDelay(), mean)
		}
	}
}

func TestBandwidthIsPassedOneAfterTheOther(t *testing.T) {
	const n, rate = 1000, 1e6
	var x stream
	s := x.run(t, n, 0, map[string]string{"bandwidth": "1000000"})
	passed := time.Duration(x.sent[n-1] + x.at[n-1] - ms)
	want := time.Duration(float64(s.counters[0].Bytes.Load()) / rate * float64(time.Second))
	if !slices.IsSorted(x.numbers) || (passed-want).Abs() > n*time.Nanosecond {
		t.Errorf("the last of %d messages has passed after %v, want %v", n, passed, want)
	}
}

func TestMultiplyingMessagesAreAFailure(t *testing.T) {
	a := scripted(script{
		request: func(s *script, out *dme.Outbox) {
			if s.id == 1 {
				out.Send(2, dme.Message{Kind: 1, Vec: []uint64{1}})
			}
		},
		receive: func(s *script, from dme.NodeID, m dme.Message, out *dme.Outbox) {
			m.Vec[0]++ // it is the receiver's own, of a duplicate too
			s.n = max(s.n, m.Vec[0])
			out.Send(from, m)
		},
	})
	r := simulate(t, runs.Spec{Nodes: 2, AllowMismatch: true, Set: map[string]string{"dup": "1"}}, a)
	if r.Status != runs.Failed || !strings.Contains(r.Error, "multiply") || r.Messages.Total > 1<<18 {
		t.Errorf("status %s (%s) after %d messages", r.Status, r.Error, r.Messages.Total)
	}
}

// Whatever links do, every run of every algorithm ends by itself.
func TestEveryRunEnds(t *testing.T) {
	for _, a := range catalog.All() {
		for _, conditions := range []map[string]string{
			{"loss": "0.02"},
			{"dup": "0.05"},
			{"reorder": "0.2", "jitter": "3ms"},
			{"loss": "0.02", "dup": "0.1", "reorder": "0.1"},
			{"partition": "1|2-9@20ms-40ms"},
		} {
			for seed := range uint64(3) {
				nodes := slices.IndexFunc([]int{0, 0, 0, 0, 4, 5, 6, 7, 8}, func(n int) bool {
					return n > 0 && a.CheckNodes(n, defaults(t, a)) == nil
				})
				spec := runs.Spec{Nodes: nodes, Requests: 40, Seed: seed + 1, AllowMismatch: true, Set: conditions,
					StallAfter: runs.Duration(time.Second)}
				r := simulate(t, spec, a)
				if r.Status == runs.OK && r.Entries != 40 {
					t.Errorf("%s, %v: ok after %d entries", a.Name, conditions, r.Entries)
				}
			}
		}
	}
}

func defaults(t *testing.T, a *dme.Algorithm) dme.Options {
	opt, err := a.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return opt
}
