package commandline

import (
	"dmebench/internal/live"
	"dmebench/internal/terminal"
)

// counter shows how far a search or a measurement is, on a terminal only. total is 0
// where nobody knows the end.
func (p *program) counter(quiet bool, total uint64, what string) *live.Counter {
	if quiet || !terminal.Is(p.stderr) {
		return nil
	}
	return live.NewCounter(p.stderr, total, what)
}
