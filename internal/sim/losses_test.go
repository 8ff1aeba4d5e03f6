package sim

import (
	"slices"
	"strings"
	"testing"
	"time"

	"dmebench/algorithms"
	"dmebench/dme"
	"dmebench/internal/testkit/toys"
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

func TestMultiplyingMessagesAreAFailure(t *testing.T) {
	a := scripted(toys.Script{
		Ask: func(s *toys.Script, out *dme.Outbox) {
			if s.ID == 1 {
				out.Send(2, dme.Message{Kind: 1, Vec: []uint64{1}})
			}
		},
		Hear: func(s *toys.Script, from dme.NodeID, m dme.Message, out *dme.Outbox) {
			m.Vec[0]++ // it is the receiver's own, of a duplicate too
			s.X = max(s.X, m.Vec[0])
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
	for _, a := range algorithms.All() {
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
