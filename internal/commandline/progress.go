package commandline

import (
	"io"
	"os"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"dmebench/internal/run"
)

// bar shows how far a run is, on a terminal only.
type bar struct{ bar *progressbar.ProgressBar }

func (p *program) progress(quiet bool, job *run.Job) *bar {
	if quiet || !isTerminal(p.stderr) {
		return &bar{}
	}
	total := int64(job.Plan.Requests())
	if total == 0 {
		total = -1
	}
	return &bar{progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(p.stderr), progressbar.OptionSetDescription("entries"),
		progressbar.OptionShowCount(), progressbar.OptionClearOnFinish())}
}

func (b *bar) update(entries, _ uint64) {
	if b.bar != nil {
		_ = b.bar.Set64(int64(entries))
	}
}

func (b *bar) done() {
	if b.bar != nil {
		_ = b.bar.Finish()
	}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
