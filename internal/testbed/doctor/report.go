package doctor

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"dmebench/internal/platform/environment"
	"dmebench/internal/platform/layout"
	"dmebench/units"
)

// SchemaVersion is the version of the JSON form of a Report.
const SchemaVersion = 1

// Report is what an examination of one or several hosts has found.
type Report struct {
	SchemaVersion int       `json:"schema_version"`
	Hosts         []Host    `json:"hosts"`
	Differences   []string  `json:"differences,omitempty"` // between the hosts, as environment.Differences tells them
	Paths         []Path    `json:"paths,omitempty"`       // between them, one for each ordered pair
	Between       []Finding `json:"between,omitempty"`     // findings about several hosts
	Problems      int       `json:"problems"`
	Warnings      int       `json:"warnings"`
	Notes         int       `json:"notes"`
}

// Host is what was found on one host.
type Host struct {
	Name        string            `json:"name"`
	Address     string            `json:"address"`
	Coordinator bool              `json:"coordinator,omitempty"` // from which the others were examined; no part of runs
	InUse       string            `json:"in_use,omitempty"`      // the coordinator that uses it; such a host is not examined
	Environment map[string]string `json:"environment"`
	Findings    []Finding         `json:"findings"`
}

// NewReport makes a report of what was found on hosts, and between them in the time
// that measuring their paths took.
func NewReport(hosts []Host, paths []Path, took time.Duration) *Report {
	r := &Report{SchemaVersion: SchemaVersion, Hosts: hosts, Paths: paths}
	environments := make(map[string]map[string]string)
	for _, h := range hosts {
		if h.Environment != nil && !h.Coordinator {
			environments[h.Name] = h.Environment
		}
	}
	if len(environments) > 1 {
		r.Differences = environment.Differences(environments)
		if len(paths) > 0 {
			r.Between = slices.Concat(judgeReach("tcp", hosts, paths), judgeReach("udp", hosts, paths),
				judgeTrips(paths), judgeOffsets(hosts, paths, took))
		}
		if len(r.Differences) > 0 {
			r.Between = append(r.Between, fine("alike", "the hosts differ").
				raise(true, Note, "compare figures of the same placement only, and see whether all run the same program"))
		}
	}
	count := map[Level]*int{OK: new(int), Note: &r.Notes, Warning: &r.Warnings, Problem: &r.Problems}
	for _, h := range append(slices.Clone(hosts), Host{Findings: r.Between}) {
		for _, f := range h.Findings {
			if n := count[f.Level]; n != nil { // else it is of another build
				*n++
			}
		}
	}
	return r
}

// WriteText writes the report for people. Of several hosts, what is fine is only
// named, and each remedy is given once.
func (r *Report) WriteText(out io.Writer, s layout.Style) error {
	var b strings.Builder
	said := make(map[string]bool)
	for _, h := range r.Hosts {
		if h.Coordinator {
			h.Address = "(from which the others are examined)"
		}
		if len(r.Hosts) > 1 {
			fmt.Fprintln(&b, s.Wrap(h.Name+" "+h.Address, 0))
		}
		writeFindings(&b, s, h.Findings, len(r.Hosts) > 1, said)
		b.WriteString("\n")
	}
	r.writeMatrices(&b, s)
	if len(r.Differences) > 0 {
		b.WriteString("the hosts differ\n")
		for _, d := range r.Differences {
			fmt.Fprintf(&b, "  %s\n", s.Wrap(d, 2))
		}
		b.WriteString("\n")
	}
	if len(r.Between) > 0 {
		b.WriteString("between the hosts\n")
		writeFindings(&b, s, r.Between, false, said)
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "%s, %s, %s\n", units.Counted(r.Problems, "problem"), units.Counted(r.Warnings, "warning"), units.Counted(r.Notes, "note"))
	_, err := io.WriteString(out, b.String())
	return err
}

// writeFindings writes findings as a table; with brief, the gravest first, and those that
// are fine are only named.
func writeFindings(b *strings.Builder, s layout.Style, findings []Finding, brief bool, said map[string]bool) {
	width, named := 0, []string(nil)
	for _, f := range findings {
		width = max(width, len(f.Check))
	}
	if brief {
		findings = slices.SortedStableFunc(slices.Values(findings), func(a, b Finding) int { return b.Level.rank() - a.Level.rank() })
	}
	colours := map[Level]func(string) string{OK: s.Good, Note: s.Strong, Warning: s.Doubtful, Problem: s.Bad}
	for _, f := range findings {
		if brief && f.Level == OK {
			named = append(named, f.Check)
			continue
		}
		hang := len("problem  ") + width + 2
		fmt.Fprintf(b, "%s  %-*s  %s\n", colours[f.Level](fmt.Sprintf("%-7v", f.Level)), width, f.Check, s.Wrap(f.Found, hang))
		if do := f.Do; do != "" {
			if said[do] {
				do = "as above"
			}
			said[f.Do] = true
			fmt.Fprintf(b, "%*sdo: %s\n", hang, "", s.Wrap(do, hang+len("do: ")))
		}
	}
	if named != nil {
		fmt.Fprintf(b, "%s  %s\n", s.Good("ok     "), s.Wrap(strings.Join(named, ", "), len("problem  ")))
	}
}

// writeMatrices writes what was measured between the hosts: a row for each host from
// which, a column for each to which.
func (r *Report) writeMatrices(b *strings.Builder, s layout.Style) {
	if len(r.Paths) == 0 {
		return
	}
	paths := make(map[[2]string]*Path) // from and to
	for i, p := range r.Paths {
		paths[[2]string{p.From, p.To}] = &r.Paths[i]
	}
	hosts := slices.DeleteFunc(slices.Clone(r.Hosts), func(h Host) bool { return h.Coordinator || h.InUse != "" })
	write := func(title string, cell func(*Path) string) {
		head := []string{"", ""}
		for i := range hosts {
			head = append(head, fmt.Sprint(i+1))
		}
		t := layout.NewTable(head...)
		for i, from := range hosts {
			t.Add(fmt.Sprint(i+1), layout.Cut(from.Name, s.Width/4))
			for _, to := range hosts {
				if p := paths[[2]string{from.Name, to.Name}]; p != nil {
					t.Extend(cell(p))
				} else {
					t.Extend("·")
				}
			}
		}
		fmt.Fprintln(b, s.Wrap(title, 0))
		_ = t.WriteFitted(b, s.Width) // a strings.Builder takes everything
		b.WriteString("\n")
	}
	for _, network := range []string{"tcp", "udp"} {
		write("round trip by "+network+", median", func(p *Path) string {
			if w := p.way(network); w.Passes() {
				return units.Time(float64(w.RTTMedian))
			}
			return "none"
		})
	}
	write("datagrams lost, of those sent", func(p *Path) string { return fmt.Sprintf("%d/%d", p.UDP.Lost, p.UDP.Sent) })
	write("clock of the column's host ahead of the row's, ± bound", func(p *Path) string {
		if p.OffsetNS == nil || p.BoundNS == nil {
			return "none"
		}
		return units.Bounded(float64(*p.OffsetNS), float64(*p.BoundNS))
	})
}
