package singhal

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"dmebench/dme"
	"dmebench/dme/claim"
	"dmebench/dme/conformance"
	"dmebench/internal/testkit"
	"dmebench/internal/testkit/suite"
)

// With the request sets as initialized in the text, one request is enough.
func TestAsPublishedWaitsForItself(t *testing.T) {
	for n := 1; n <= 3; n++ {
		net := conformance.Make(t, AsPublished(), n, map[string]string{"initial": "printed"})
		if _, err := net.Serve(1); err == nil || !strings.Contains(err.Error(), "R={1}") {
			t.Errorf("on %d sites, site 1 has asked: %v", n, err)
		}
	}
}

// Silent moments count where the request sets are no staircase, or not one of the site
// that executed last.
func TestMomentsWithoutAStaircase(t *testing.T) {
	s := conformance.Make(t, Algorithm(), 3, nil).Setting
	m := newStairs(s)
	wants := func(moments float64, any bool) {
		t.Helper()
		if got, ok := m.Value(); got != moments || ok != any {
			t.Errorf("%v moments, %v; want %v, %v", got, ok, moments, any)
		}
	}
	wants(0, false)
	serve := func(id dme.NodeID) {
		for _, what := range []dme.EventKind{dme.Request, dme.Enter, dme.Exit} {
			m.Note(&dme.Event{Kind: what, ID: id, Node: s.System.Node(id)})
		}
	}
	serve(3)
	wants(1, true) // site 1 is at the right end
	serve(1)
	wants(1, true)
}

func TestAlgorithm(t *testing.T) {
	at := func(n *conformance.Net, id dme.NodeID) *site { return n.Host(id).Made().(*site) }
	request := func(clock uint64) dme.Message {
		return dme.Message{Kind: kindRequest, Clock: clock}
	}
	reply := func(number uint64) dme.Message {
		return dme.Message{Kind: kindReply, Clock: 9, Req: dme.Stamp{Clock: number, Node: 3}}
	}
	start := func() *conformance.Net {
		net := conformance.Make(t, Algorithm(), 3, nil)
		if _, err := net.Serve(3); err != nil {
			t.Fatal(err)
		}
		for _, i := range []dme.NodeID{1, 2} { // so that site 3 must ask them again
			if _, err := net.Serve(i); err != nil {
				t.Fatal(err)
			}
		}
		at(net, 3).c = 1
		net.Request(3) // with clock 2
		return net
	}
	suite.Run(t, suite.Suite{
		Algorithm: Algorithm(), AllocatesNothing: true,
		Breaches: []conformance.Breach{
			{
				Invariant: "information structure", Nodes: 3, Says: "node 3 is not in R of node 1, nor node 1 in that of node 3",
				Fault: func(n *conformance.Net) { at(n, 3).r.Remove(1) },
			},
			{
				Invariant: "one answer", Nodes: 3, Says: "node 3 awaits 0 REPLYs of node 1, in whose I it stands 0 times, with 1 REQUESTs",
				Fault: func(n *conformance.Net) { n.Request(3); at(n, 3).r.Remove(1) },
			},
			{
				Invariant: "one answer", Nodes: 3, Says: "node 2 awaits 1 REPLYs of node 1, in whose I it stands 1 times, with 1 REQUESTs",
				Fault: func(n *conformance.Net) { n.Request(2); at(n, 1).inform.Add(dme.Stamp{Clock: 1, Node: 2}) },
			},
		},
		Refusals: []suite.Refusals{
			{
				Start: start,
				From:  1, To: 3,
				Messages: []suite.Refused{
					{What: "REQUEST without a clock", Series: []dme.Message{request(0)}},
					{What: "REQUEST of a clock that would overflow", Series: []dme.Message{request(latest + 1)}},
					{What: "REQUEST twice", Series: []dme.Message{request(9), request(9)}},
					{What: "REPLY to an earlier request", Series: []dme.Message{reply(1)}},
					{What: "REPLY to another site's request", Series: []dme.Message{{Kind: kindReply, Clock: 9, Req: dme.Stamp{Clock: 2, Node: 2}}}},
					{What: "REPLY twice", Series: []dme.Message{reply(2), reply(2)}},
				},
			},
		},
	}, suite.Suite{Algorithm: AsPublished()})
}

func TestSchedules(t *testing.T) { suite.Schedules(t, Algorithm()) }

func TestMutants(t *testing.T) { suite.Mutants(t) }

// BenchmarkHandlers measures the handlers alone, per message received.
func BenchmarkHandlers(b *testing.B) { suite.Benchmark(b, Algorithm()) }

// predict evaluates the one claim about a quantity under a load.
func predict(t *testing.T, q claim.Quantity, load claim.Load, n int) (value float64, knownFalse bool) {
	t.Helper()
	for _, c := range claims() {
		if c.Quantity == q && c.Load == load {
			value, ok := c.Prediction(dme.Setting{Nodes: n})
			if !ok {
				t.Fatalf("claim %q does not apply to %d sites", c.Formula, n)
			}
			return value, c.KnownFalse != ""
		}
	}
	t.Fatalf("no claim about %s, %s", q, load)
	return 0, false
}

// Section 9.5.3, low load: the site at position k from the right sends k REQUEST
// messages and gets as many replies, so that the mean over the positions is
// (n−1)/2 and n−1, in any staircase.
func TestLowLoad(t *testing.T) {
	rng := rand.New(rand.NewPCG(953, 0))
	for _, n := range []int{1, 2, 5, 8} {
		net := conformance.Make(t, Algorithm(), n, nil)
		var sum float64
		for range 20 {
			order, err := staircase(net)
			if err != nil {
				t.Fatal(err)
			}
			position := rng.IntN(n)
			messages, err := net.Serve(order[position])
			if err != nil || messages != uint64(2*position) {
				t.Fatalf("the site at position %d of %v took %d messages; %v", position, order, messages, err)
			}
		}
		for position := range n {
			sum += float64(2 * position)
		}
		all, _ := predict(t, claim.MessagesPerCS, claim.Light, n)
		requests, _ := predict(t, RequestsPerCS, claim.Light, n)
		if mean := sum / float64(n); all != mean || requests != mean/2 {
			t.Errorf("n=%d: claims %v messages and %v REQUESTs, not %v and %v", n, all, requests, mean, mean/2)
		}
	}
}

// Section 9.5.3, heavy load, "all the sites will always have a pending request":
// a site that leaves has replied to all others and must ask all of them again.
// That is 2(n−1) messages, not 3(n−1)/2. Critical sections last until nothing
// is on its way; where they are shorter than a message, a site can enter several
// times before it hears of the others.
func TestHeavyLoad(t *testing.T) {
	for _, n := range []int{3, 5, 8, 16} {
		net := conformance.Make(t, Algorithm(), n, nil)
		for i := 1; i <= n; i++ {
			net.Request(dme.NodeID(i))
		}
		entries := func(k int) (messages, requests int) {
			before, asked := int(net.Sent()), int(net.SentOf(kindRequest))
			for end := len(net.Entries) + k; len(net.Entries) < end; {
				net.Settle()
				if len(net.Inside()) != 1 {
					t.Fatalf("%v inside\n%s", net.Inside(), net.States())
				}
				i := net.Inside()[0]
				net.Release(i)
				net.Request(i)
			}
			return int(net.Sent()) - before, int(net.SentOf(kindRequest)) - asked
		}
		entries(8 * n)
		messages, requests := entries(10 * n)
		if messages != 10*n*2*(n-1) || requests*2 != messages {
			t.Errorf("n=%d: %d messages, %d of them REQUESTs, for %d entries", n, messages, requests, 10*n)
		}
		for q, measured := range map[claim.Quantity]int{claim.MessagesPerCS: messages, RequestsPerCS: requests} {
			claimed, knownFalse := predict(t, q, claim.Saturated, n)
			off := math.Abs(claimed*float64(10*n)-float64(measured)) > 0.2*float64(measured)
			if off != knownFalse {
				t.Errorf("n=%d: %s: claim %v, measured %d in %d entries, known to be false: %t", n, q, claimed, measured, 10*n, knownFalse)
			}
		}
		if err := net.Err(); err != nil || net.Refused() > 0 {
			t.Errorf("%d refused; %v", net.Refused(), err)
		}
	}
}

// Where 3(n−1)/2 comes from: the sites of a staircase ask all at once, and
// priorities do not depend on positions. Of two sites the left one asks the
// right one, which asks back where it has the lower priority: half of the time.
// Only the site at the right end never does: it has entered by then.
func TestOneBurst(t *testing.T) {
	const n, bursts = 8, 1000
	rng := rand.New(rand.NewPCG(953, 1))
	total := 0
	for range bursts {
		net := conformance.Make(t, Algorithm(), n, nil)
		for i, position := range rng.Perm(n) {
			at(net, dme.NodeID(i+1)).c = uint64(position)
		}
		for i := 1; i <= n; i++ {
			net.Request(dme.NodeID(i))
		}
		for len(net.Entries) < n || len(net.Inside()) > 0 {
			net.Settle()
			net.Release(net.Inside()[0])
		}
		if err := net.Err(); err != nil {
			t.Fatal(err)
		}
		total += int(net.Sent())
	}
	if got, want := float64(total)/(bursts*n), 3*float64(n-1)/2-float64(n-1)/n; math.Abs(got-want) > 0.02*want {
		t.Errorf("%v messages for each entry, want %v", got, want)
	}
}

// Section 9.5.4: "sites with higher traffic of CS requests will position
// themselves towards the right end", and messages go down.
func TestHotSites(t *testing.T) {
	const n, hot, entries = 8, 2, 2000
	rng := rand.New(rand.NewPCG(954, 0))
	net := conformance.Make(t, Algorithm(), n, nil)
	var messages, steps, count [2]int // of cold and hot sites
	for range entries {
		i, class := dme.NodeID(1+rng.IntN(n-hot)), 0
		if rng.IntN(10) > 0 {
			i, class = dme.NodeID(n-rng.IntN(hot)), 1 // those at the left end, at first
		}
		steps[class] += at(net, i).r.Len()
		sent, err := net.Serve(i)
		if err != nil {
			t.Fatal(err)
		}
		messages[class] += int(sent)
		count[class]++
	}
	mean := func(sum [2]int, class int) float64 { return float64(sum[class]) / float64(count[class]) }
	if mean(messages, 1) > 2 || mean(messages, 0) < n-1 || float64(messages[0]+messages[1])/entries > (n-1)/2 {
		t.Errorf("%v messages for an entry of a hot site, %v of a cold one", mean(messages, 1), mean(messages, 0))
	}
	if mean(steps, 1) >= hot {
		t.Errorf("hot sites stand at position %v from the right on average", mean(steps, 1))
	}
}

type sites = []dme.NodeID

func wantSets(t *testing.T, net *conformance.Net, i dme.NodeID, request, inform sites) {
	t.Helper()
	s := at(net, i)
	var waits sites
	for _, r := range s.inform {
		waits = append(waits, r.Node)
	}
	if r := slices.Collect(s.r.All()); !slices.Equal(r, request) || !slices.Equal(waits, inform) {
		t.Errorf("R_%d = %v, I_%d = %v, want %v and %v", i, r, i, waits, request, inform)
	}
}

func wantOnTheWay(t *testing.T, net *conformance.Net, from, to dme.NodeID, kinds ...dme.Kind) {
	t.Helper()
	var got []dme.Kind
	for _, m := range net.InFlight(from, to) {
		got = append(got, m.Kind)
	}
	if !slices.Equal(got, kinds) {
		t.Errorf("from S_%d to S_%d: kinds %v on the way, want %v", from, to, got, kinds)
	}
}

// Section 9.5.2, the example: S_2 and S_3 of five want to enter concurrently.
// "S_3 sends a request message to sites in its Request set – {S_1, S_2}, and S_2
// sends a request message to the only site in its Request set – {S_1}."
func concurrently(t *testing.T, clockOf2 uint64) *conformance.Net {
	t.Helper()
	net := conformance.Make(t, Algorithm(), 5, nil)
	at(net, 2).c = clockOf2
	net.Request(3)
	net.Request(2)
	wantOnTheWay(t, net, 3, 1, kindRequest)
	wantOnTheWay(t, net, 3, 2, kindRequest)
	wantOnTheWay(t, net, 2, 1, kindRequest)
	wantOnTheWay(t, net, 2, 3)
	return net
}

func TestExampleTimestampOfS3IsSmaller(t *testing.T) {
	net := concurrently(t, 7) // S_2 asks with 8, S_3 with 1
	net.Deliver(3, 2, 0)
	wantOnTheWay(t, net, 2, 3, kindReply, kindRequest)
	wantSets(t, net, 2, sites{1, 3}, nil)
	net.Deliver(3, 1, 0)
	net.Deliver(2, 1, 0)
	wantOnTheWay(t, net, 1, 2, kindReply)
	wantOnTheWay(t, net, 1, 3, kindReply)
	wantSets(t, net, 1, sites{2, 3}, nil)
	net.Deliver(2, 3, 0)
	wantSets(t, net, 3, sites{1}, nil)
	net.Deliver(1, 3, 0)
	net.WantInside(t, 3)

	net.Settle()
	wantSets(t, net, 3, nil, sites{2})
	net.Release(3)
	net.Settle()
	net.WantInside(t, 2)
	net.Release(2)
	wantStaircase(t, net, 2, 3, 1, 4, 5)
}

// wantStaircase checks the sites of a system at rest, from right to left.
func wantStaircase(t *testing.T, net *conformance.Net, want ...dme.NodeID) {
	t.Helper()
	got, err := staircase(net)
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("from right to left: %v, want %v; %v\n%s", got, want, err, net.States())
	}
}

// Section 9.5: the initial state. "The cardinality of R_i decreases in a
// stepwise manner from left to right."
func TestInitialStaircase(t *testing.T) {
	net := conformance.Make(t, Algorithm(), 5, nil)
	wantStaircase(t, net, 1, 2, 3, 4, 5)
	for i := dme.NodeID(1); i <= 5; i++ {
		if got, want := net.Setting.RequestSet(i), append(slices.Collect(at(net, i).r.All()), i); !slices.Equal(got, want) {
			t.Errorf("request set of S_%d: %v, want %v", i, got, want)
		}
	}
}

// Exercise 9.8: "the staircase configuration among sites is preserved when two
// or more sites request the CS concurrently and have executed the CSs". Rounds
// of random sites, each of which asks at some time; a fast site may be done
// before a slow one's REQUEST arrives.
func TestExercise98(t *testing.T) {
	seeds := uint64(200)
	if testkit.Full() {
		seeds *= 20
	}
	for seed := range seeds {
		for _, n := range []int{2, 3, 4, 5, 8} {
			if err := rounds(seed, n, 5); err != nil {
				t.Fatalf("%d sites, seed %d: %v", n, seed, err)
			}
		}
	}
}

func rounds(seed uint64, n, times int) error {
	rng := rand.New(rand.NewPCG(seed, 98))
	net, err := conformance.New(Algorithm(), n, nil)
	if err != nil {
		return err
	}
	for range times {
		ask := rng.Perm(n)[:2+rng.IntN(n-1)]
		atOnce := rng.IntN(2) == 0
		for k := 0; k < len(ask) || len(net.Inside()) > 0 || deliverAny(net, rng); {
			for k < len(ask) && (atOnce || rng.IntN(2*n) == 0) {
				net.Request(dme.NodeID(ask[k] + 1))
				k++
			}
			for _, i := range net.Inside() {
				if rng.IntN(4) == 0 {
					net.Release(i)
					break
				}
			}
			deliverAny(net, rng)
			if err := net.Err(); err != nil {
				return err
			}
		}
		if err := judge(net); err != nil {
			return fmt.Errorf("%v asked: %w\n%s", ask, err, net.States())
		}
	}
	return nil
}

// judge examines a system at rest: the staircase, no message refused, one REPLY
// for each REQUEST, at most n−1 REQUESTs for each entry.
func judge(net *conformance.Net) error {
	if net.Refused() > 0 {
		return fmt.Errorf("%d messages are refused", net.Refused())
	}
	requests, replies := net.SentOf(kindRequest), net.SentOf(kindReply)
	if most := uint64(len(net.Entries) * (net.Setting.Nodes - 1)); requests != replies || requests > most {
		return fmt.Errorf("%d REQUEST and %d REPLY messages for %d entries", requests, replies, len(net.Entries))
	}
	_, err := staircase(net)
	return err
}

// staircase returns the sites of a system at rest from right to left, in the
// order of |R_i|. It says why they are not a staircase where one of them does
// not ask exactly those to its right, or where another site than the one at the
// right end was in its critical section last.
func staircase(net *conformance.Net) (order []dme.NodeID, err error) {
	order = make([]dme.NodeID, net.Setting.Nodes)
	for i := 1; i <= len(order); i++ {
		s := at(net, dme.NodeID(i))
		if step := s.r.Len(); len(s.inform) > 0 || step >= len(order) || order[step] != dme.None {
			return nil, fmt.Errorf("not a staircase: site %d", i)
		} else {
			order[step] = s.i
		}
	}
	for k, i := range order {
		for _, right := range order[:k] {
			if !at(net, i).r.Has(right) {
				return nil, fmt.Errorf("not a staircase: site %d does not ask site %d", i, right)
			}
		}
	}
	if n := len(net.Entries); n > 0 && net.Entries[n-1].Node != order[0] {
		return nil, fmt.Errorf("site %d was in its critical section last, site %d stands at the right end", net.Entries[n-1].Node, order[0])
	}
	return order, nil
}

func at(net *conformance.Net, i dme.NodeID) *site {
	return net.Host(i).Node().(*site)
}

// deliverAny delivers any message, and reports whether there was one: links need
// not keep order.
func deliverAny(net *conformance.Net, rng *rand.Rand) bool {
	flying := net.Flying()
	if len(flying) == 0 {
		return false
	}
	k := rng.IntN(len(flying))
	behind := 0
	for _, f := range flying[:k] {
		if f.From == flying[k].From && f.To == flying[k].To {
			behind++
		}
	}
	net.Deliver(flying[k].From, flying[k].To, behind)
	return true
}
