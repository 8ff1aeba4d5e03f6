package helaryplouzeauraynal

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"dmebench/dme"
)

// parse reads links, "i j" on a line. Empty lines and what follows a # are
// skipped; a link may be named in both directions. All faulty lines are
// reported, and then a graph that is not connected.
func (g *graph) parse(text string) error {
	var errs []error
	number := 0
	for line := range strings.Lines(text) {
		number++
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		if err := g.parseLink(fields); err != nil {
			errs = append(errs, fmt.Errorf("line %d: %w", number, err))
		}
	}
	if errs != nil {
		return errors.Join(errs...)
	}
	if i := g.unreached(); i != dme.None {
		return fmt.Errorf("no path joins nodes 1 and %d; the graph must be connected", i)
	}
	return nil
}

func (g *graph) parseLink(fields []string) error {
	if len(fields) != 2 {
		return fmt.Errorf("%q: want two node numbers", strings.Join(fields, " "))
	}
	var ends [2]dme.NodeID
	for k, f := range fields {
		x, err := strconv.ParseUint(f, 10, 32)
		if err != nil || x < 1 || x > uint64(g.nodes()) {
			return fmt.Errorf("%q is no node; there are the nodes 1 to %d", f, g.nodes())
		}
		ends[k] = dme.NodeID(x)
	}
	if ends[0] == ends[1] {
		return fmt.Errorf("node %d is linked with itself", ends[0])
	}
	g.link(ends[0], ends[1])
	return nil
}
