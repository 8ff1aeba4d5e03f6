package check

import (
	"math/rand/v2"
	"testing"
	"time"

	"dmebench/algorithms/ricartagrawala"
	"dmebench/dme"
	"dmebench/dme/vnet"
	"dmebench/internal/testkit/toys"
)

// Every message takes the way between the sites of its nodes, and at most a local delay
// more: also behind others on a link that keeps order, where jitter would let it overtake.
func TestMessagesTakeTheWaysBetweenSites(t *testing.T) {
	for _, jitter := range []time.Duration{0, 30 * time.Millisecond} {
		far := Way{50 * time.Millisecond, jitter}
		sites := &Sites{Of: []int{0, 0, 1, 1}, Ways: [][]Way{{{}, far}, {far, {}}}}
		for _, unordered := range []bool{false, true} {
			s, err := New(ricartagrawala.Algorithm(), Options{Nodes: 4, Requests: 12, Unordered: unordered, Sites: sites})
			if err != nil {
				t.Fatal(err)
			}
			overtaken := 0
			for seed := range uint64(100) {
				rng := rand.New(rand.NewPCG(seed, 1))
				d := newDistances(sites, rng)
				schedule := &vnet.Schedule{
					Network: vnet.New(s.model), Rand: rng, Load: vnet.Load(seed % uint64(vnet.Loads)), Choose: d,
				}
				var sent []time.Duration // by number
				for schedule.Begin(); ; {
					for uint64(len(sent)) <= schedule.Sent() {
						sent = append(sent, d.now)
					}
					x, ok := schedule.Next()
					if !ok {
						break
					}
					if e := schedule.Do(x); x.Kind == dme.Receive {
						way := sites.Ways[sites.Of[x.From-1]][sites.Of[x.Node-1]]
						if took := d.now - sent[e.Number]; took < way.Delay || took > way.Delay+way.Jitter+d.local {
							t.Fatalf("jitter %v, in any order %v, seed %d: %v takes %v", jitter, unordered, seed, x, took)
						}
						overtaken += dme.Count(x.Index > 0)
					}
				}
			}
			if jitter > 0 && unordered != (overtaken > 0) {
				t.Errorf("jitter %v, in any order %v: %d overtake on their link", jitter, unordered, overtaken)
			}
		}
	}
}

// A timer that is set again as it fires takes its time again, and the rest happens beside it.
func TestTimersBetweenSites(t *testing.T) {
	set := func(_ *toys.Script, out *dme.Outbox) { out.SetTimer(1, time.Second) }
	a := toys.Scripted("ticking", toys.Script{
		Ask: func(s *toys.Script, out *dme.Outbox) {
			set(s, out)
			toys.Ping(s, out)
		},
		Expired: func(s *toys.Script, _ dme.TimerID, out *dme.Outbox) { set(s, out) },
		Hear: func(s *toys.Script, from dme.NodeID, m dme.Message, out *dme.Outbox) {
			if m.Kind == 1 {
				out.Send(from, dme.Message{Kind: 2})
				return
			}
			out.CancelTimer(1)
			toys.Enter(s, out)
		},
	}, "QUESTION", "ANSWER")
	far := Way{50 * time.Millisecond, 0}
	sites := &Sites{Of: []int{0, 1}, Ways: [][]Way{{{}, far}, {far, {}}}}
	s, err := New(a, Options{Nodes: 2, Requests: 6, Sites: sites})
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 1))
		schedule := &vnet.Schedule{
			Network: vnet.New(s.model), Rand: rng, Load: vnet.Load(seed % uint64(vnet.Loads)), Choose: newDistances(sites, rng),
		}
		schedule.Begin()
		for x, ok := schedule.Next(); ok; x, ok = schedule.Next() {
			if schedule.Do(x); schedule.Steps > 100_000 {
				t.Fatalf("seed %d: %d steps, the last of them %v", seed, schedule.Steps, x)
			}
		}
	}
}
