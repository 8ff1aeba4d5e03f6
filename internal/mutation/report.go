package mutation

import (
	"fmt"
	"io"
	"strings"
)

// Status says what became of a mutant.
type Status string

const (
	Noticed    Status = "noticed"    // a test failed or did not end
	Survived   Status = "survived"   // no test told a difference
	Equivalent Status = "equivalent" // listed as such, and not planted
	Untried    Status = "untried"    // the time was over
)

// Report says which of a group's mutants were noticed.
type Report struct {
	Group    string   `json:"group"`
	Seed     uint64   `json:"seed"`
	Possible int      `json:"possible"` // mutants among which these were chosen
	Planted  int      `json:"planted"`  // noticed or survived
	Noticed  int      `json:"noticed"`
	Survived int      `json:"survived"`
	Listed   int      `json:"equivalent"`
	Untried  int      `json:"untried"`
	Mutants  []*Entry `json:"mutants"`
}

// Entry is what became of one mutant.
type Entry struct {
	ID       string   `json:"id"`
	File     string   `json:"file"`
	Line     int      `json:"line"`
	Operator string   `json:"operator"`
	From     string   `json:"from"`
	To       string   `json:"to"`
	Diff     string   `json:"diff"`
	Status   Status   `json:"status"`
	By       string   `json:"by,omitempty"`      // the package and test that noticed
	Reason   string   `json:"reason,omitempty"`  // why it is equivalent
	Reached  []string `json:"reached,omitempty"` // packages with tests that reach it, of those tried

	number int
}

func entry(src *source, m *Mutant, status Status, reason string) *Entry {
	return &Entry{
		ID: m.ID(), File: m.File, Line: m.Line, Operator: m.Operator, From: m.From, To: m.To, Diff: m.Diff(src.texts[m.File]),
		Status: status, Reason: reason,
	}
}

// begin enters the mutants that are tried, under the numbers that rewriteAll gave them.
func (r *Report) begin(src *source, chosen []*Mutant) (trials []*Entry) {
	for i, m := range chosen {
		e := entry(src, m, Untried, "")
		e.number = i + 1
		trials = append(trials, e)
	}
	r.Mutants = append(r.Mutants, trials...)
	return trials
}

func (r *Report) count() {
	for _, e := range r.Mutants {
		switch e.Status {
		case Noticed:
			r.Noticed++
		case Survived:
			r.Survived++
		case Equivalent:
			r.Listed++
		case Untried:
			r.Untried++
		}
	}
	r.Planted = r.Noticed + r.Survived
}

// Percent is the share of the planted faults that was noticed: 100 where none was
// planted.
func (r *Report) Percent() float64 {
	if r.Planted == 0 {
		return 100
	}
	return 100 * float64(r.Noticed) / float64(r.Planted)
}

// Write tells what survived, and sums up.
func (r *Report) Write(w io.Writer) error {
	var b strings.Builder
	for _, e := range r.Mutants {
		if e.Status != Survived {
			continue
		}
		reached := "no test reaches it"
		if len(e.Reached) > 0 {
			reached = "reached by tests of " + strings.Join(e.Reached, ", ")
		}
		fmt.Fprintf(&b, "survived at line %d, %s:\n%s\n", e.Line, reached, e.ID)
		for line := range strings.Lines(e.Diff) {
			b.WriteString("\t" + line)
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "%s: %d of %d planted faults noticed (%.1f%%), chosen among %d by seed %d",
		r.Group, r.Noticed, r.Planted, r.Percent(), r.Possible, r.Seed)
	if r.Listed > 0 {
		fmt.Fprintf(&b, "; %d more are listed as equivalent", r.Listed)
	}
	if r.Untried > 0 {
		fmt.Fprintf(&b, "; time was over for %d more", r.Untried)
	}
	_, err := io.WriteString(w, b.String()+"\n")
	return err
}
