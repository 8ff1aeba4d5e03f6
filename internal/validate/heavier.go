package validate

import (
	"fmt"

	"dmebench/dme"
	"dmebench/report/units"
	"dmebench/result"
)

// heavy are the offered rates, in parts of what the system can serve, at which
// a formula for heavy load is tried where the closed loop contradicts it.
var heavy = []float64{0.5, 0.7, 0.85, 0.95}

// longHold is a critical section so long that everything sent meanwhile arrives
// before it ends: then every request is known to all when the next one enters.
const longHold = 10 * messageDelay

// heavier plans runs under other heavy loads for every claim about heavy load
// that the closed loop contradicts, with whatever delays: "heavy" may have meant
// another one.
func (p *plan) heavier() {
	if p.opt.Transport != result.Sim {
		return
	}
	compared := p.means()
	for _, q := range p.questions {
		if q.Claim.Load != dme.Saturated || q.Claim.Kind != dme.Mean && q.Claim.Kind != dme.Exact ||
			q.Claim.Quantity.Timed() || q.Unanswerable != "" {
			continue
		}
		retried := make(map[int]bool)
		for _, c := range q.cells {
			if c.Spec.Workload != closedLoop || c.Real() || c.Spec.Nodes > p.effort.others || retried[c.Spec.Nodes] {
				continue
			}
			e, ok := c.usable(compared).Compare(q.Claim, q.predicted[c])
			if !ok || e.Agrees || e.Tolerance > 0 {
				continue
			}
			retried[c.Spec.Nodes] = true
			for _, h := range otherHeavyLoads(c) {
				p.plan(q, &q.others, &h, c.Spec.Nodes, false)
			}
		}
	}
	p.bench.forget()
}

// otherHeavyLoads returns bursts and offered rates up to nearly what the closed
// loop reached.
func otherHeavyLoads(c *cell) []condition {
	var loads []condition
	for _, b := range conditions(result.Sim) {
		if b.workload == "burst" {
			loads = append(loads, b)
		}
	}
	loads = append(loads, condition{
		name: "closed loop with critical sections of 10 T, exponential delays", workload: closedLoop, network: result.Sim,
		set: map[string]string{"delay": "exponential"}, hold: longHold,
	})
	capacity, runs := 0.0, 0.0
	for _, r := range c.Results {
		if r.Throughput != nil {
			capacity, runs = capacity+*r.Throughput, runs+1
		}
	}
	if runs == 0 {
		return loads
	}
	for _, part := range heavy {
		loads = append(loads, condition{
			name:     fmt.Sprintf("poisson at %s%% of the closed loop's throughput", units.Number(100*part)),
			workload: "poisson", network: result.Sim, set: map[string]string{"delay": "uniform"}, rate: part * capacity / runs,
		})
	}
	return loads
}
