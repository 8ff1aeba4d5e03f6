package recording

import (
	"bufio"
	"fmt"
	"io"
)

// shivizPattern is how ShiViz tells an event's host, its vector clock and its text
// apart.
const shivizPattern = `(?<host>\S*) (?<clock>{.*})\n(?<event>.*)`

// ShiViz writes the events as a log for ShiViz (https://bestchai.bitbucket.io/shiviz):
// the pattern in the first line, nothing in the second, which would divide several
// runs, and two lines for each event. Every host's clock counts its events from 1.
func ShiViz(w io.Writer, h Header, events []Event) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%s\n\n", shivizPattern)
	clocks := make([][]uint64, h.Nodes+1) // by node
	carried := make(map[uint64][]uint64)  // by message
	for i := range events {
		e := &events[i]
		c := clocks[e.Node]
		if c == nil {
			c = make([]uint64, h.Nodes+1)
			clocks[e.Node] = c
		}
		if e.What == Receive && e.ID != 0 {
			for id, n := range carried[e.ID] { // nothing, where it was sent before
				c[id] = max(c[id], n)
			}
		}
		c[e.Node]++
		if e.What == Send && e.ID != 0 {
			carried[e.ID] = append([]uint64(nil), c...)
		}
		fmt.Fprintf(out, "node%d {", e.Node)
		comma := ""
		for id, n := range c {
			if n > 0 {
				fmt.Fprintf(out, `%s"node%d":%d`, comma, id, n)
				comma = ","
			}
		}
		fmt.Fprintf(out, "}\n%s\n", e.shivizText(h.Clock))
	}
	return out.Flush()
}

func (e *Event) shivizText(c Clock) string {
	if c == Steps {
		return e.Describe()
	}
	return e.Describe() + " at " + Milliseconds(e.At) + " ms"
}
