package validate

import (
	"slices"

	"dmebench/claims"
)

// Where so many runs as planned leave it open whether a mean is right, or refute it by
// little, there are more: patience times as many, while all that are added cost no more
// than so many of the dearest runs.
const (
	patience = 4
	dear     = 8
	little   = 0.1 // relative to the prediction
)

// doubtful plans more runs where intervals are too wide to tell, and where a mean is
// refuted that is nearly right: only what still differs then was no chance. With four times as many
// they are half as wide, and of a few runs less than a third. Looking twice is comparing
// twice, and counted so.
func (p *plan) doubtful() {
	compared := p.means()
	var cells []*cell
	for _, q := range p.questions {
		if q.Unanswerable != "" || q.means() == 0 || q.Claim.KnownFalse != "" {
			continue
		}
		for _, c := range slices.Concat(q.cells, q.others) {
			if c.Real() || c.doubted {
				continue
			}
			e, ok := c.usable(compared).Compare(q.Claim, q.predicted[c])
			if ok && (e.Standing == claims.Open && e.Tolerance == 0 || e.Standing == claims.Differs && e.Scatters() && e.Off < little) {
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
