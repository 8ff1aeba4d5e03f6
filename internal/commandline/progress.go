package commandline

import (
	"time"

	"github.com/schollz/progressbar/v3"

	"dmebench/internal/terminal"
)

// bar shows how far a search is, on a terminal only.
type bar struct{ bar *progressbar.ProgressBar }

// newBar returns a bar that ends at total; 0 where nobody knows the end.
func (p *program) newBar(quiet bool, total int64, what string) *bar {
	if quiet || !terminal.Is(p.stderr) {
		return &bar{}
	}
	if total == 0 {
		total = -1
	}
	return &bar{progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(p.stderr), progressbar.OptionSetDescription(what),
		progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionClearOnFinish(),
		progressbar.OptionThrottle(100*time.Millisecond))}
}

func (b *bar) update(done uint64) {
	if b.bar != nil {
		_ = b.bar.Set64(int64(done))
	}
}

// describe says what is being done.
func (b *bar) describe(what string) {
	if b.bar != nil {
		b.bar.Describe(what)
	}
}

func (b *bar) done() {
	if b.bar != nil {
		_ = b.bar.Finish()
	}
}
