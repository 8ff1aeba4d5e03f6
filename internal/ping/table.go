package ping

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// WriteText writes the report for a person at a terminal.
func (r *Report) WriteText(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, row := range r.rows() {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "\n%s.\n%s.\n", r.legend(), r.placement())
	return err
}

// WriteMarkdown writes the report as a table of a Markdown page.
func (r *Report) WriteMarkdown(out io.Writer) error {
	var b strings.Builder
	for i, row := range r.rows() {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			b.WriteString("|---|---|---|--:|--:|---|\n")
		}
	}
	fmt.Fprintf(&b, "\n%s. %s.\n", r.legend(), r.placement())
	_, err := io.WriteString(out, b.String())
	return err
}

// rows is the table, its head first.
func (r *Report) rows() [][]string {
	rows := [][]string{{"transport", "test", "quantity", "bare", "ours", "speed ratio"}}
	for i := range r.Measurements {
		m := &r.Measurements[i]
		network, test, found := strings.Cut(m.String(), ": ")
		if !found {
			panic("ping: a measurement without a name")
		}
		for k, q := range quantities[m.Test] {
			c := m.Quantities[k]
			rows = append(rows, []string{network, test, q.title, q.format(c.Bare), q.format(c.Ours), c.Ratio.String()})
		}
	}
	return rows
}

// legend says what the columns are.
func (r *Report) legend() string {
	s := fmt.Sprintf("Medians of %d pairs of stretches of %v, messages of %d bytes. The speed ratio is ours to bare",
		r.Spec.Pairs, r.Spec.Stretch, r.Spec.Size)
	if r.Spec.Pairs < MinPairs {
		return s + fmt.Sprintf("; an interval takes at least %d pairs", MinPairs)
	}
	return s + ", with its 95% confidence interval"
}

// placement says where the processes ran.
func (r *Report) placement() string {
	p := &r.Placement
	s := fmt.Sprintf("%d processes of each side with GOMAXPROCS %d", p.Processes, p.GOMAXPROCS)
	if !p.Pinned {
		s += ", placed by the kernel"
	} else {
		used := slices.Compact(slices.Sorted(slices.Values(p.CPUs)))
		s += fmt.Sprintf(", pinned in turn to processors %s", strings.Trim(fmt.Sprint(used), "[]"))
	}
	if cores, ok := r.Environment["cores"]; ok {
		s += fmt.Sprintf("; %s cores, %s %s", cores, r.Environment["os"], r.Environment["arch"])
	}
	return s
}

func (r Ratio) String() string {
	switch {
	case r.Median == nil:
		return "–"
	case r.Lo == nil || r.Hi == nil:
		return fmt.Sprintf("%.3f", *r.Median)
	}
	return fmt.Sprintf("%.3f [%.3f, %.3f]", *r.Median, *r.Lo, *r.Hi)
}

// format writes a value in its unit with three digits that count.
func (q quantity) format(x *float64) string {
	switch {
	case x == nil:
		return "–"
	case q.time:
		return time.Duration(*x).Round(roundTo(time.Duration(*x))).String()
	case *x >= 999.5e3:
		return fmt.Sprintf("%.3g M", *x/1e6)
	case *x >= 999.5:
		return fmt.Sprintf("%.3g k", *x/1e3)
	}
	return fmt.Sprintf("%.3g", *x)
}

// roundTo returns to what a duration of this length is rounded.
func roundTo(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d >= 1000*unit {
		unit *= 10
	}
	return unit
}
