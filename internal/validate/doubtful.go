package validate

import (
	"slices"

	"dmebench/claims"
)

// Where so many runs as planned leave it open whether a mean is right, there are more:
// patience times as many, while all that are added cost no more than so many of the
// dearest runs.
const (
	patience = 4
	dear     = 20
)

// doubtful plans more runs where intervals are too wide to tell. With four times as many
// they are half as wide, and of a few runs less than a third. Looking twice is comparing
// twice, and counted so.
func (p *plan) doubtful() {
	compared := p.means()
	var cells []*cell
	for _, q := range p.questions {
		if q.Unanswerable != "" || q.Growth() || claims.Everywhere(q.Claim) || q.Claim.KnownFalse != "" {
			continue
		}
		for _, c := range slices.Concat(q.cells, q.others) {
			if c.Real() || c.doubted {
				continue
			}
			if e, ok := c.usable(compared).Compare(q.Claim, q.predicted[c]); ok && e.Standing == claims.Open {
				q.again++
				cells = append(cells, c)
			}
		}
	}
	for _, c := range cells { // a cell may leave several claims open
		if !c.doubted {
			c.doubted = true
			affordable := dear * p.effort.messages / max(1, c.cost)
			c.repetitions = max(c.repetitions, min(patience*p.effort.repetitions, c.repetitions+int(affordable)))
		}
	}
}
