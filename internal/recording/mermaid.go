package recording

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"dmebench/dme"
)

// Mermaid writes the events as a sequence diagram of Mermaid, which many Markdown
// viewers draw. Time has no length in it: an arrow stands where its message
// arrives, and a bar on a lifeline is a critical section.
func Mermaid(w io.Writer, h Header, events []Event) error {
	out := bufio.NewWriter(w)
	fmt.Fprintln(out, "sequenceDiagram")
	for id := 1; id <= h.Nodes; id++ {
		fmt.Fprintf(out, "  participant n%d as node %d\n", id, id)
	}
	inside := make(map[dme.NodeID]bool)
	leave := func(id dme.NodeID) {
		if inside[id] { // Mermaid refuses to end what has not begun
			fmt.Fprintf(out, "  deactivate n%d\n", id)
			delete(inside, id)
		}
	}
	flight := make(map[uint64]*Event)
	for i := range events {
		e := &events[i]
		switch e.What {
		case Send:
			if e.Lost {
				fmt.Fprintf(out, "  n%d-xn%d: %s (lost)\n", e.Node, e.Peer, mermaidText(e.body()))
			} else {
				flight[e.ID] = e
			}
		case Receive:
			delete(flight, e.ID)
			fmt.Fprintf(out, "  n%d->>n%d: %s\n", e.Peer, e.Node, mermaidText(e.body()))
		case Lose:
			delete(flight, e.ID)
			fmt.Fprintf(out, "  n%d-xn%d: %s (lost)\n", e.Peer, e.Node, mermaidText(e.body()))
		case Enter:
			if !inside[e.Node] {
				inside[e.Node] = true
				fmt.Fprintf(out, "  activate n%d\n", e.Node)
			}
			fmt.Fprintf(out, "  Note over n%d: in the critical section%s\n", e.Node, mermaidText(spaced(e.Stamp)))
		case Exit:
			fmt.Fprintf(out, "  Note over n%d: leaves\n", e.Node)
			leave(e.Node)
		case Start, SetTimer:
		default:
			if e.What == Crash || e.What == Left {
				leave(e.Node)
			}
			fmt.Fprintf(out, "  Note over n%d: %s\n", e.Node, mermaidText(e.Describe()))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(flight)) {
		e := flight[id]
		fmt.Fprintf(out, "  n%d--)n%d: %s (%s)\n", e.Node, e.Peer, mermaidText(e.body()), h.missing())
	}
	for _, id := range slices.Sorted(maps.Keys(inside)) {
		leave(id)
	}
	return out.Flush()
}

// missing says what became of a message that does not arrive.
func (h *Header) missing() string {
	if h.Whole {
		return "lost"
	}
	return "on the way"
}

// mermaidText keeps what Mermaid would read as its own.
func mermaidText(text string) string {
	return strings.NewReplacer("#", "#35;", ";", "#59;", "\n", " ").Replace(text)
}
