package workload

import (
	"errors"
	"fmt"
	"math"
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
	p.client = func(id dme.NodeID) func() (time.Duration, bool) {
		rng, left := p.stream(arrivals, id), p.share(id)
		return func() (time.Duration, bool) {
			if left == 0 {
				return 0, false
			}
			left--
			return think.draw(rng), true
		}
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
		k := 0
		return func() (time.Duration, bool) {
			if k == len(at[id]) {
				return 0, false
			}
			k++
			return at[id][k-1], true
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
