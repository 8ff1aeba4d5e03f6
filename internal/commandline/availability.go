package commandline

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"dmebench/algorithms/quorum"
	"dmebench/internal/atomicfile"
	"dmebench/internal/exit"
	"dmebench/report/plots"
	"dmebench/report/units"
	"dmebench/result"
)

const (
	// maxAvailabilityNodes and availabilityPatterns bound the work to some seconds.
	maxAvailabilityNodes = 133
	availabilityPatterns = 40_000
	// maxFailuresShown is the number of failures at which a table ends.
	maxFailuresShown = 8
)

// availabilityUps are the probabilities that a node is up, of tables and figures.
func availabilityUps() []float64 {
	return []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99}
}

func availabilityFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "availability", Usage: "what is left while nodes fail: the probability and the size of a quorum of nodes that are up"},
		&cli.Uint64Flag{Name: "seed", Value: result.DefaultSeed, Usage: "`SEED` of the failures that are drawn, for --availability"},
		&cli.StringFlag{Name: "plots", Usage: "folder `DIR` to draw figures in, for --availability"},
	}
}

// resilience is a system with what becomes of it.
type resilience struct {
	name string
	quorum.Resilience
}

// available is the JSON form. What cannot be, as the size of no quorum, is null.
type available struct {
	Quorum string         `json:"quorum"`
	Nodes  int            `json:"nodes"`
	ByUp   []availableUp  `json:"by_up"`
	Failed []afterFailing `json:"by_failures"`
}

type availableUp struct {
	Up           float64  `json:"up"` // probability of each node
	Availability float64  `json:"availability"`
	Low          float64  `json:"ci95_low"`
	High         float64  `json:"ci95_high"`
	MeanSize     *float64 `json:"mean_size"` // of the smallest quorum
}

type afterFailing struct {
	Failures int      `json:"failures"`
	Formed   float64  `json:"formed"` // probability of a quorum
	MeanSize *float64 `json:"mean_size"`
	Exact    bool     `json:"exact"`
}

func (p *program) listAvailability(c *cli.Context, systems []*quorum.System) error {
	if n := systems[0].Nodes(); n > maxAvailabilityNodes {
		return usage("list quorums: --availability with --nodes %d: want at most %d", n, maxAvailabilityNodes)
	}
	dir := c.String("plots")
	if dir != "" {
		err := os.MkdirAll(dir, 0o777)
		if err == nil {
			err = atomicfile.Probe(dir)
		}
		if err != nil {
			return failWith(exit.CantCreate, fmt.Errorf("list quorums: --plots %s: %w; choose another folder", dir, err))
		}
	}
	var all []resilience
	for _, s := range systems {
		all = append(all, resilience{s.Name(), s.Resilience(availabilityPatterns, c.Uint64("seed"))})
	}
	var err error
	if c.Bool("json") {
		err = printJSON(p.stdout, describeAvailability(all))
	} else {
		err = printAvailability(p.stdout, all)
	}
	if err != nil || dir == "" {
		return err
	}
	return drawAvailability(dir, all)
}

func describeAvailability(all []resilience) []available {
	number := func(x float64) *float64 {
		if math.IsNaN(x) {
			return nil
		}
		return &x
	}
	var list []available
	for _, r := range all {
		a := available{Quorum: r.name, Nodes: r.Nodes}
		for _, up := range availabilityUps() {
			x := r.Availability(up)
			a.ByUp = append(a.ByUp, availableUp{x.Up, x.Probability, x.Low, x.High, number(x.MeanSize)})
		}
		for failures, x := range r.Failed {
			a.Failed = append(a.Failed, afterFailing{failures, x.Probability(), number(x.MeanSize()), x.Exact})
		}
		list = append(list, a)
	}
	return list
}

func printAvailability(out io.Writer, all []resilience) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	table := func(title, axis string, columns []string, cell func(r resilience, column int) string) error {
		fmt.Fprintf(out, "%s\n", title)
		fmt.Fprint(w, "QUORUM")
		for _, c := range columns {
			fmt.Fprintf(w, "\t%s%s", axis, c)
		}
		fmt.Fprintln(w)
		for _, r := range all {
			fmt.Fprint(w, r.name)
			for i := range columns {
				fmt.Fprintf(w, "\t%s", cell(r, i))
			}
			fmt.Fprintln(w)
		}
		return w.Flush()
	}
	var ups, failures []string
	for _, up := range availabilityUps() {
		ups = append(ups, units.Number(up))
	}
	for f := range min(all[0].Nodes, maxFailuresShown) + 1 {
		failures = append(failures, units.Number(float64(f)))
	}
	return errors.Join(
		table(fmt.Sprintf("Probability that nodes that are up form a quorum, each of %d nodes being up with probability p:", all[0].Nodes),
			"p=", ups, func(r resilience, i int) string {
				a := r.Availability(availabilityUps()[i])
				text := fmt.Sprintf("%.5f", a.Probability)
				if half := (a.High - a.Low) / 2; half >= 5e-6 {
					text += fmt.Sprintf("±%.5f", half)
				}
				return text
			}),
		table("\nThe same after f nodes have failed, and the mean size of the smallest quorum where there is one:",
			"f=", failures, func(r resilience, i int) string {
				x := r.Failed[i]
				if x.Formed == 0 {
					return "0"
				}
				return fmt.Sprintf("%s (%s)", units.Number(x.Probability()), units.Number(x.MeanSize()))
			}),
	)
}

// drawAvailability draws availability against p, and the chance and the cost of
// a quorum against the number of failures.
func drawAvailability(dir string, all []resilience) error {
	n := all[0].Nodes
	values := func(label string) plots.Axis { return plots.Axis{Label: label, Kind: plots.Values} }
	probability := plots.Axis{Label: "probability of a quorum", Kind: plots.Parts}
	about := fmt.Sprintf("N = %d · quorums of nodes that are up", n)
	byUp := plots.Figure{
		Name: fmt.Sprintf("quorum-availability-n%d", n), Title: "Availability of quorums", Subtitle: about,
		X: values("probability that a node is up"), Y: probability,
	}
	formed := plots.Figure{
		Name: fmt.Sprintf("quorum-failures-n%d", n), Title: "Chance of a quorum after failures", Subtitle: about,
		X: values("failed nodes"), Y: probability,
	}
	size := plots.Figure{
		Name: fmt.Sprintf("quorum-cost-n%d", n), Title: "Cost of a quorum after failures", Subtitle: about + ", where there is one",
		X: values("failed nodes"), Y: values("nodes in the smallest quorum, mean"),
	}
	for style, r := range all {
		series := func(points []plots.Point) plots.Series {
			return plots.Series{Label: r.name, Style: style, Role: plots.Measured, Points: points}
		}
		var up, chance, cost []plots.Point
		for _, p := range availabilityUps() {
			a := r.Availability(p)
			point := plots.At(p, a.Probability)
			if point.Lo, point.Hi = a.Low, a.High; a.High-a.Low < 1e-6 {
				point.Lo, point.Hi = math.NaN(), math.NaN()
			}
			point.Note = fmt.Sprintf("%s, p = %g: %.6f, 95%% interval %.6f to %.6f", r.name, p, a.Probability, a.Low, a.High)
			up = append(up, point)
		}
		for f, x := range r.Failed {
			point := plots.At(float64(f), x.Probability())
			point.Note = fmt.Sprintf("%s, %d of %d failed: %s of %s choices leave a quorum", r.name, f, n, units.Count(uint64(x.Formed)), units.Count(uint64(x.Patterns)))
			chance = append(chance, point)
			if x.Formed > 0 {
				point.Y = x.MeanSize()
				point.Note = fmt.Sprintf("%s, %d of %d failed: %s nodes", r.name, f, n, units.Number(point.Y))
				cost = append(cost, point)
			}
		}
		byUp.Series = append(byUp.Series, series(up))
		formed.Series = append(formed.Series, series(chance))
		size.Series = append(size.Series, series(cost))
	}
	for _, f := range []plots.Figure{byUp, formed, size} {
		drawn, err := f.Render(plots.Formats()...)
		if err != nil {
			return err
		}
		for _, format := range plots.Formats() {
			path := filepath.Join(dir, f.Name+"."+string(format))
			if err := atomicfile.Write(path, drawn[format]); err != nil {
				return failWith(exit.CantCreate, fmt.Errorf("list quorums: %w", err))
			}
		}
	}
	return nil
}
