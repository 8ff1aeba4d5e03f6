package workload

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"dmebench/dme"
)

// share returns how many requests node id may make.
func (p *Plan) share(id dme.NodeID) int {
	if p.shares == nil {
		return math.MaxInt
	}
	return p.shares[id-1]
}

func (p *Plan) saturate() error {
	think, err := ParseDistribution(p.spec.Options.Get("think"))
	if err != nil {
		return fmt.Errorf("think: %w", err)
	}
	always := func() (time.Duration, bool) { return think.Mean, true }
	p.client = func(id dme.NodeID) func() (time.Duration, bool) {
		if !think.Exponential {
			return always
		}
		rng := p.stream(arrivals, id)
		return func() (time.Duration, bool) { return think.draw(rng), true }
	}
	return nil
}

func (p *Plan) poisson() error {
	rate := p.OfferedRate() / float64(p.nodes)
	p.rated(func(dme.NodeID) float64 { return rate })
	return nil
}

func (p *Plan) hotspot() error {
	hot, err1 := parseCount(p.spec.Options.Get("hot"))
	share, err2 := parseShare(p.spec.Options.Get("share"))
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	if hot > p.nodes {
		return fmt.Errorf("hot=%d: there are only %d nodes", hot, p.nodes)
	}
	if hot == p.nodes {
		share = 1
	}
	weight := func(id dme.NodeID) float64 {
		if int(id) <= hot {
			return share / float64(hot)
		}
		return (1 - share) / float64(p.nodes-hot)
	}
	total := p.OfferedRate()
	p.rated(func(id dme.NodeID) float64 { return total * weight(id) })
	return nil
}

func (p *Plan) serial() error {
	each := p.spec.Options.Get("requesters") == "each"
	p.steps = -1
	if p.spec.Requests > 0 {
		p.steps = p.spec.Requests
	}
	p.shares = nil
	p.step = func(k int) []Arrival {
		if each {
			return []Arrival{{Node: dme.NodeID(k%p.nodes + 1)}}
		}
		rng := p.stream(steps, dme.NodeID(k))
		return []Arrival{{Node: dme.NodeID(rng.IntN(p.nodes) + 1)}}
	}
	return nil
}

func (p *Plan) burst() error {
	window, err := parseDuration(p.spec.Options.Get("window"))
	if err != nil {
		return fmt.Errorf("window: %w", err)
	}
	p.steps = -1
	if p.spec.Requests > 0 {
		p.steps = (p.spec.Requests + p.nodes - 1) / p.nodes
	}
	p.step = func(k int) []Arrival {
		rng := p.stream(steps, dme.NodeID(k))
		var round []Arrival
		for id := dme.NodeID(1); int(id) <= p.nodes; id++ {
			after := time.Duration(rng.Float64() * float64(window))
			if k < p.share(id) {
				round = append(round, Arrival{Node: id, After: after})
			}
		}
		return round
	}
	return nil
}

func (p *Plan) trace() error {
	name := p.spec.Options.Get("file")
	if name == "" {
		return fmt.Errorf("which requests? Name a file of 'seconds,node' lines with the option file")
	}
	if p.spec.ReadFile == nil {
		return fmt.Errorf("file=%s: files cannot be read here", name)
	}
	text, err := p.spec.ReadFile(name)
	if err != nil {
		return err
	}
	at := make(map[dme.NodeID][]time.Duration)
	p.holds = make(map[dme.NodeID][]time.Duration)
	shares := make([]int, p.nodes)
	total := 0
	var last time.Duration
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		r, err := parseTraceLine(line, p.nodes)
		if err == nil && r.at < last {
			err = fmt.Errorf("%v is before the line above", r.at)
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", name, i+1, err)
		}
		last = r.at
		if p.spec.Requests > 0 && total == p.spec.Requests {
			break
		}
		total++
		at[r.node] = append(at[r.node], r.at)
		p.holds[r.node] = append(p.holds[r.node], r.hold)
		shares[r.node-1]++
	}
	if total == 0 {
		return fmt.Errorf("%s: no request in it; want lines such as 0.5,3: seconds from the start, node", name)
	}
	p.shares = shares
	p.client = func(id dme.NodeID) func() (time.Duration, bool) {
		rest := at[id]
		return func() (next time.Duration, ok bool) {
			next, rest = rest[0], rest[1:]
			return next, true
		}
	}
	return nil
}

type traceLine struct {
	at, hold time.Duration
	node     dme.NodeID
}

func parseTraceLine(line string, nodes int) (traceLine, error) {
	fields := strings.Split(line, ",")
	if len(fields) != 2 && len(fields) != 3 {
		return traceLine{}, fmt.Errorf("%q: want 'seconds,node' or 'seconds,node,seconds in the CS'", line)
	}
	seconds := func(s string) (time.Duration, error) {
		x, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
		if err != nil || !(x >= 0 && x < maxSeconds) {
			return 0, fmt.Errorf("%q is not a time in seconds", s)
		}
		return time.Duration(math.Round(x * float64(time.Second))), nil
	}
	var r traceLine
	var err error
	if r.at, err = seconds(fields[0]); err != nil {
		return r, err
	}
	node, err := strconv.Atoi(strings.TrimSpace(fields[1]))
	if err != nil || node < 1 || node > nodes {
		return r, fmt.Errorf("%q is not one of the nodes 1 to %d", fields[1], nodes)
	}
	r.node = dme.NodeID(node)
	if len(fields) == 3 {
		if r.hold, err = seconds(fields[2]); err == nil && r.hold > MaxDuration {
			err = fmt.Errorf("%v in the critical section is longer than %v", r.hold, MaxDuration)
		}
	}
	return r, err
}

// maxSeconds is the latest time of a request: 31 years, well within 64 bits of
// nanoseconds.
const maxSeconds = 1e9

// maxRate is one request per nanosecond: beyond it time would stand still.
const maxRate = 1e9

// poissonProcess is the arrivals of one node.
type poissonProcess struct {
	rng  *rand.Rand
	rate float64 // per second
	at   float64 // seconds: summed as a float, so that rounding does not add up
}

// next returns the time of the next arrival, in seconds; past maxSeconds if there is none.
func (p *poissonProcess) next() float64 {
	if p.rate == 0 {
		return math.Inf(1)
	}
	p.at += p.rng.ExpFloat64() / p.rate
	return p.at
}

// instant is a time in seconds in the clock units of an open workload's clients.
func instant(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }

// rated makes each node's requests a Poisson process of its own rate. A number of requests ends
// them all together: with the arrival of that number, at whichever node. If each node made a share
// of its own, the load would fall as one node after the other ran out, and times would come out too
// short.
func (p *Plan) rated(rate func(dme.NodeID) float64) {
	process := func(id dme.NodeID) poissonProcess {
		return poissonProcess{rng: p.stream(arrivals, id), rate: rate(id)}
	}
	if p.spec.Requests > 0 {
		p.shares = p.firstArrivals(p.spec.Requests, process)
	}
	p.client = func(id dme.NodeID) func() (time.Duration, bool) {
		mine := process(id)
		return func() (time.Duration, bool) {
			at := mine.next()
			if at > maxSeconds {
				return 0, false
			}
			return instant(at), true
		}
	}
}

// arrivalOf is one arrival of a node, in seconds.
type arrivalOf struct {
	at   float64
	node dme.NodeID
}

// firstArrivals returns how many of the first n arrivals of all nodes together are each node's; nil
// if the plan's duration ends before the n-th.
//
// All processes that have the plan come to the same counts, so none has to ask when the last
// request was made. The n-th arrival of all nodes comes at n/λ, give or take √n/λ: what comes
// clearly earlier is only counted, and what comes around that time is kept and sorted. It takes
// time O(n + N), and memory O(√n + N).
func (p *Plan) firstArrivals(n int, process func(dme.NodeID) poissonProcess) []int {
	horizon, total := float64(maxSeconds), p.OfferedRate()
	if p.spec.Duration > 0 {
		horizon = min(horizon, p.spec.Duration.Seconds())
	}
	for spread := 8.0; ; spread *= 4 {
		expected, by := float64(n)/total, spread*math.Sqrt(float64(n))/total
		from, until := min(expected-by, horizon), min(expected+by, horizon)
		counts, late := p.countArrivals(from, until, process)
		missing := n - sum(counts)
		switch {
		case missing < 0 || missing > len(late) && until < horizon:
			continue // chance took the n-th out of the span: look at a wider one
		case missing > len(late) && p.spec.Duration > 0:
			return nil
		}
		slices.SortFunc(late, func(a, b arrivalOf) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.node, b.node)) })
		for _, a := range late[:min(missing, len(late))] {
			counts[a.node-1]++
		}
		return counts
	}
}

// countArrivals counts each node's arrivals before from, and lists all between
// from and until.
func (p *Plan) countArrivals(from, until float64, process func(dme.NodeID) poissonProcess) (counts []int, late []arrivalOf) {
	counts = make([]int, p.nodes)
	for i := range counts {
		id := dme.NodeID(i + 1)
		mine := process(id)
		at := mine.next()
		for ; at < from; at = mine.next() {
			counts[i]++
		}
		for ; at < until; at = mine.next() {
			late = append(late, arrivalOf{at, id})
		}
	}
	return counts, late
}

func sum(counts []int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}
