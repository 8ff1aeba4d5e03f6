package validate

import (
	"fmt"
	"math"
	"slices"
	"strings"

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
// another one. It returns the questions asked again.
func (p *plan) heavier() []*again {
	if p.opt.Transport != result.Sim {
		return nil
	}
	var all []*again
	for _, q := range p.questions {
		if q.claim.Load != dme.Saturated || q.claim.Kind != dme.Mean && q.claim.Kind != dme.Exact || q.meter.timed || q.reason != "" {
			continue
		}
		retried := make(map[int]bool)
		a := &again{question: question{algorithm: q.algorithm, claim: q.claim, set: q.set, meter: q.meter, predicted: make(map[*cell]float64)}, of: q}
		for _, c := range q.cells {
			if c.condition.workload != closedLoop || c.real() || c.spec.Nodes > p.effort.others {
				continue
			}
			x, ok := q.point(c)
			if !ok || x.standing == agrees || retried[c.spec.Nodes] {
				continue
			}
			retried[c.spec.Nodes] = true
			for _, h := range p.otherHeavyLoads(c) {
				if cell := p.cell(q, &h, result.Sim, c.spec.Nodes, false); cell != nil {
					if x, ok := p.predict(q, q.set, &h, result.Sim, c.spec.Nodes); ok {
						a.attach(cell, x)
					}
				}
			}
		}
		if len(a.cells) > 0 {
			all = append(all, a)
		}
	}
	p.bench.forget()
	return all
}

// again is a question that is asked once more, under other loads.
type again struct {
	question
	of *question
}

// otherHeavyLoads returns bursts and offered rates up to nearly what the closed
// loop reached.
func (p *plan) otherHeavyLoads(c *cell) []condition {
	var loads []condition
	for _, b := range conditions(result.Sim) {
		if b.workload == "burst" {
			loads = append(loads, b)
		}
	}
	loads = append(loads, condition{
		name: "closed loop with critical sections of 10 T, exponential delays", workload: closedLoop,
		set: map[string]string{"delay": "exponential"}, hold: longHold,
	})
	var capacities []float64
	for _, s := range c.sound() {
		if !math.IsNaN(s.throughput) {
			capacities = append(capacities, s.throughput)
		}
	}
	if len(capacities) == 0 {
		return loads
	}
	capacity, _, _, _ := interval(capacities)
	for _, part := range heavy {
		loads = append(loads, condition{
			name:     fmt.Sprintf("poisson at %s of the closed loop's throughput", percent(part)),
			workload: "poisson", set: map[string]string{"delay": "uniform"}, rate: part * capacity,
		})
	}
	return loads
}

// conclude adds to a verdict under which other heavy loads the formula comes
// true.
func (a *again) conclude(v *Verdict) {
	points, _ := a.judge()
	if len(points) == 0 {
		return
	}
	var order []string
	holds := make(map[string]bool)
	values := make(map[string][]string)
	for _, p := range points {
		v.Points = append(v.Points, p.Point)
		v.Runs += p.Runs
		if values[p.Condition] == nil {
			order = append(order, p.Condition)
			holds[p.Condition] = true
		}
		holds[p.Condition] = holds[p.Condition] && p.Agrees
		values[p.Condition] = append(values[p.Condition], fmt.Sprintf("%s for %s", units.Number(*p.Mean), units.Number(p.Predicted)))
	}
	var yes, no []string
	for _, c := range order {
		if holds[c] {
			yes = append(yes, c)
		} else {
			no = append(no, fmt.Sprintf("%s (%s)", c, values[c][len(values[c])-1]))
		}
	}
	switch {
	case len(yes) == 0:
		v.Text += "; at no other heavy load tried: " + strings.Join(no, ", ")
	case v.Verdict == Fails:
		v.Verdict = Partly
		v.Text = fmt.Sprintf("%s %s; %s", Partly, strings.Join(yes, ", "), v.Text)
	default:
		v.Text += "; it comes true under " + strings.Join(yes, ", ")
	}
}

// verdictOf finds the verdict on a question.
func verdictOf(d *Document, q *question) *Verdict {
	i := slices.IndexFunc(d.Claims, func(v Verdict) bool {
		return v.Algorithm == q.algorithm.Name && v.Quantity == q.claim.Quantity.Name && v.Formula == q.claim.Formula &&
			v.Load == string(q.claim.Load) && v.Kind == string(q.claim.Kind) && v.Source == q.claim.Source
	})
	return &d.Claims[i]
}
