package recording

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"dmebench/dme"
)

// Step is what calls a handler, and what the handler does.
type Step struct {
	Event
	Effects []Event
}

// StepsOf groups events to steps, in the order in which these began. Effects of a
// step that began earlier stand alone, in a step without an event.
func StepsOf(events []Event) []Step {
	var all []Step
	at := make(map[dme.NodeID]int) // each node's last step
	for _, e := range events {
		k, began := at[e.Node]
		switch {
		case e.Begins():
			at[e.Node] = len(all)
			all = append(all, Step{Event: e})
		case began:
			all[k].Effects = append(all[k].Effects, e)
		default:
			at[e.Node] = len(all)
			all = append(all, Step{Event: Event{At: e.At, Node: e.Node}, Effects: []Event{e}})
		}
	}
	return all
}

// Describe tells a step in a line.
func (s *Step) Describe() string {
	line := fmt.Sprintf("node %d ", s.Node)
	switch s.What {
	case "":
		line += "goes on"
	case Receive:
		line = fmt.Sprintf("%s %d→%d%s arrives", s.Kind, s.Peer, s.Node, spaced(s.Message))
		if s.Copy {
			line += " (a copy)"
		}
	case Lose:
		line = fmt.Sprintf("%s %d→%d%s is lost", s.Kind, s.Peer, s.Node, spaced(s.Message))
	default:
		line += s.Event.Describe()
	}
	var parts []string
	for i := 0; i < len(s.Effects); i++ {
		switch e := &s.Effects[i]; e.What {
		case Send:
			// What is sent to several in a row is told once.
			ways := e.way()
			for i+1 < len(s.Effects) {
				next := &s.Effects[i+1]
				if next.What != Send || next.Kind != e.Kind || next.Message != e.Message {
					break
				}
				ways += " " + next.way()
				i++
			}
			parts = append(parts, e.Kind+" "+ways+spaced(e.Message))
		case Enter:
			parts = append(parts, fmt.Sprintf("node %d enters%s", e.Node, spaced(e.Stamp)))
		case SetTimer:
			parts = append(parts, fmt.Sprintf("timer %d set to %v", e.timer(), duration(e.Delay)))
		case Refuse:
			parts = append(parts, "refused, "+e.Reason)
		case Left:
			parts = append(parts, fmt.Sprintf("node %d has left", e.Node))
		}
	}
	if parts != nil {
		line += ": " + strings.Join(parts, ", ")
	}
	return line
}

func (e *Event) way() string {
	if e.Lost {
		return fmt.Sprintf("%d→%d (lost)", e.Node, e.Peer)
	}
	return fmt.Sprintf("%d→%d", e.Node, e.Peer)
}

func spaced(text string) string {
	if text == "" {
		return ""
	}
	return " " + text
}

// Summary says in a line what a recording is of.
func (h *Header) Summary() string {
	text := fmt.Sprintf("%s, %d nodes", h.Algorithm, h.Nodes)
	if h.Transport != "" {
		text += " over " + h.Transport
	}
	if h.Workload != "" {
		text += ", workload " + h.Workload
	}
	if h.Seed != 0 {
		text += fmt.Sprintf(", seed %d", h.Seed)
	}
	return text
}

// Milliseconds prints a time of a recording.
func Milliseconds(ns int64) string { return fmt.Sprintf("%.3f", float64(ns)/1e6) }

// Text writes the events as a person reads them, one step on each line, with its
// number and, where it was measured, its time in milliseconds.
func Text(w io.Writer, h Header, events []Event) error {
	out := bufio.NewWriter(w)
	steps := StepsOf(events)
	measured := h.Clock != Steps
	width := 0
	if measured {
		fmt.Fprintf(out, "%s; times in ms\n", h.Summary())
		if len(steps) > 0 {
			width = len(Milliseconds(steps[len(steps)-1].At))
		}
	}
	number := 0
	for i := range steps {
		if steps[i].What == Start && steps[i].Effects == nil {
			continue // as in a picture
		}
		number++
		fmt.Fprintf(out, "%4d. ", number)
		if measured {
			fmt.Fprintf(out, "%*s  ", width, Milliseconds(steps[i].At))
		}
		fmt.Fprintln(out, steps[i].Describe())
	}
	return out.Flush()
}
