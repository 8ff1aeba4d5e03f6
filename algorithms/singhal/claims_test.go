package singhal

import (
	"math"
	"math/rand/v2"
	"testing"

	"dmebench/dme"
	"dmebench/dme/conformance"
)

// predict evaluates the one claim about a quantity under a load.
func predict(t *testing.T, q dme.Quantity, load dme.Load, n int) (value float64, knownFalse bool) {
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
		all, _ := predict(t, dme.MessagesPerCS, dme.Light, n)
		requests, _ := predict(t, RequestsPerCS, dme.Light, n)
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
		for q, measured := range map[dme.Quantity]int{dme.MessagesPerCS: messages, RequestsPerCS: requests} {
			claim, knownFalse := predict(t, q, dme.Saturated, n)
			off := math.Abs(claim*float64(10*n)-float64(measured)) > 0.2*float64(measured)
			if off != knownFalse {
				t.Errorf("n=%d: %s: claim %v, measured %d in %d entries, known to be false: %t", n, q, claim, measured, 10*n, knownFalse)
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
