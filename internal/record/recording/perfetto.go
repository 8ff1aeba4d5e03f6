package recording

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"dmebench/dme"
)

// traceEvent is an event of the Chrome trace format, which Perfetto reads. Times are microseconds.
type traceEvent struct {
	Name  string         `json:"name"`
	Cat   string         `json:"cat,omitempty"`
	Phase string         `json:"ph"`
	TS    float64        `json:"ts"`
	Dur   *float64       `json:"dur,omitempty"`
	PID   dme.NodeID     `json:"pid"`
	TID   int            `json:"tid"`
	ID    uint64         `json:"id,omitempty"`
	Bind  string         `json:"bp,omitempty"`
	Args  map[string]any `json:"args,omitempty"`
}

// A node has two tracks, since slices of one must not overlap.
const (
	processTrack = 1
	handlerTrack = 2
)

// shortest is what a handler takes at least in the picture, in ns: an arrow needs a slice to begin
// or to end at. If the next follows earlier it takes as long as that.
const shortest = 1000

// traceFile is what Perfetto reads.
type traceFile struct {
	Unit   string       `json:"displayTimeUnit"`
	Other  Header       `json:"otherData"`
	Events []traceEvent `json:"traceEvents"`
}

// Perfetto writes the events in Chrome's trace format for https://ui.perfetto.dev:
// a process for each node, slices for waiting, for the critical section and for
// handlers, and an arrow for each message.
func Perfetto(w io.Writer, h Header, events []Event) error {
	t := &traceFile{Unit: "ms", Other: h}
	end := int64(0)
	if len(events) > 0 {
		end = events[len(events)-1].At
	}
	for id := dme.NodeID(1); int(id) <= h.Nodes; id++ {
		t.meta(id, 0, "process_name", "name", "node "+id.String())
		t.meta(id, 0, "process_sort_index", "sort_index", id)
		t.meta(id, processTrack, "thread_name", "name", "process")
		t.meta(id, handlerTrack, "thread_name", "name", "handlers")
	}
	t.processes(events, end)
	t.handlers(events, end)
	return json.NewEncoder(w).Encode(t)
}

func (t *traceFile) put(e traceEvent) { t.Events = append(t.Events, e) }

func (t *traceFile) meta(id dme.NodeID, track int, what, key string, value any) {
	t.put(traceEvent{Name: what, Phase: "M", PID: id, TID: track, Args: map[string]any{key: value}})
}

func (t *traceFile) slice(id dme.NodeID, track int, name, category string, from, to int64, args map[string]any) {
	dur := micro(to - from)
	t.put(traceEvent{Name: name, Cat: category, Phase: "X", TS: micro(from), Dur: &dur, PID: id, TID: track, Args: args})
}

func micro(ns int64) float64 { return float64(ns) / 1000 }

func (t *traceFile) processes(events []Event, end int64) {
	type stand struct {
		name string
		from int64
	}
	at := make(map[dme.NodeID]stand) // nodes that wait or are inside
	become := func(id dme.NodeID, when int64, name string) {
		if s, stood := at[id]; stood {
			t.slice(id, processTrack, s.name, "process", s.from, when, nil)
		}
		if at[id] = (stand{name, when}); name == "" {
			delete(at, id)
		}
	}
	for _, e := range events {
		switch e.What {
		case dme.Request, dme.RequestShared:
			become(e.Node, e.At, "waiting")
		case dme.Enter:
			become(e.Node, e.At, "critical section")
		case dme.Exit, dme.Crash, dme.Left:
			become(e.Node, e.At, "")
		}
	}
	for _, id := range slices.Sorted(maps.Keys(at)) { // until the recording ends
		become(id, end, "")
	}
}

func (t *traceFile) handlers(events []Event, end int64) {
	steps := StepsOf(events)
	next := make([]int64, len(steps)) // when the node's next step begins
	later := make(map[dme.NodeID]int64)
	for i := len(steps) - 1; i >= 0; i-- {
		next[i] = end + shortest
		if at, ok := later[steps[i].Node]; ok {
			next[i] = at
		}
		later[steps[i].Node] = steps[i].At
	}
	for i := range steps {
		s := &steps[i]
		to := min(s.At+shortest, next[i])
		if k := len(s.Effects); k > 0 {
			to = max(to, s.Effects[k-1].At)
		}
		name := s.What.String()
		if s.Kind != "" {
			name += " " + s.Kind
		}
		args := map[string]any{"step": s.Describe()}
		if s.State != "" {
			args["state"] = s.State
		}
		t.slice(s.Node, handlerTrack, name, "handler", s.At, to, args)
		if s.What == dme.Receive && s.ID != 0 {
			t.put(traceEvent{Name: s.Kind, Cat: "message", Phase: "f", Bind: "e", TS: micro(s.At), PID: s.Node, TID: handlerTrack, ID: s.ID})
		}
		for _, e := range s.Effects {
			if e.What == dme.Send && e.ID != 0 {
				t.put(traceEvent{Name: e.Kind, Cat: "message", Phase: "s", TS: micro(e.At), PID: e.Node, TID: handlerTrack, ID: e.ID})
			}
		}
	}
}

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
		case dme.Send:
			if e.Lost {
				fmt.Fprintf(out, "  n%d-xn%d: %s (lost)\n", e.Node, e.Peer, mermaidText(e.body()))
			} else {
				flight[e.ID] = e
			}
		case dme.Receive:
			delete(flight, e.ID)
			fmt.Fprintf(out, "  n%d->>n%d: %s\n", e.Peer, e.Node, mermaidText(e.body()))
		case dme.Lose:
			delete(flight, e.ID)
			fmt.Fprintf(out, "  n%d-xn%d: %s (lost)\n", e.Peer, e.Node, mermaidText(e.body()))
		case dme.Enter:
			if !inside[e.Node] {
				inside[e.Node] = true
				fmt.Fprintf(out, "  activate n%d\n", e.Node)
			}
			fmt.Fprintf(out, "  Note over n%d: in the critical section%s\n", e.Node, mermaidText(spaced(e.Stamp)))
		case dme.Exit:
			fmt.Fprintf(out, "  Note over n%d: leaves\n", e.Node)
			leave(e.Node)
		case dme.Start, dme.SetTimer:
		default:
			if e.What == dme.Crash || e.What == dme.Left {
				leave(e.Node)
			}
			fmt.Fprintf(out, "  Note over n%d: %s\n", e.Node, mermaidText(e.Describe()))
		}
	}
	missing := "on the way"
	if h.Whole {
		missing = "lost"
	}
	for _, id := range slices.Sorted(maps.Keys(flight)) {
		e := flight[id]
		fmt.Fprintf(out, "  n%d--)n%d: %s (%s)\n", e.Node, e.Peer, mermaidText(e.body()), missing)
	}
	for _, id := range slices.Sorted(maps.Keys(inside)) {
		leave(id)
	}
	return out.Flush()
}

// missing says what became of a message that does not arrive.
func mermaidText(text string) string {
	return strings.NewReplacer("#", "#35;", ";", "#59;", "\n", " ").Replace(text)
}

// shivizPattern is how ShiViz tells an event's host, its vector clock and its text apart.
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
		if e.What == dme.Receive && e.ID != 0 {
			for id, n := range carried[e.ID] { // nothing, if it was sent before
				c[id] = max(c[id], n)
			}
		}
		c[e.Node]++
		if e.What == dme.Send && e.ID != 0 {
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
		when := ""
		if h.Clock != Steps {
			when = " at " + Milliseconds(e.At) + " ms"
		}
		fmt.Fprintf(out, "}\n%s%s\n", e.Describe(), when)
	}
	return out.Flush()
}

// Step is what calls a handler, and what the handler does.
type Step struct {
	Event
	Effects []Event
}

// StepsOf groups events to steps, by their beginnings. Effects of an earlier one stand alone.
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

func (s *Step) Describe() string {
	line := fmt.Sprintf("node %d ", s.Node)
	switch s.What {
	case 0:
		line += "goes on"
	case dme.Receive:
		line = fmt.Sprintf("%s %d→%d%s arrives", s.Kind, s.Peer, s.Node, spaced(s.Message))
		if s.Copy {
			line += " (a copy)"
		}
	case dme.Lose:
		line = fmt.Sprintf("%s %d→%d%s is lost", s.Kind, s.Peer, s.Node, spaced(s.Message))
	default:
		line += s.Event.Describe()
	}
	var parts []string
	for i := 0; i < len(s.Effects); i++ {
		switch e := &s.Effects[i]; e.What {
		case dme.Send:
			// A message to several nodes in a row is printed once.
			ways := e.way()
			for i+1 < len(s.Effects) {
				next := &s.Effects[i+1]
				if next.What != dme.Send || next.Kind != e.Kind || next.Message != e.Message {
					break
				}
				ways += " " + next.way()
				i++
			}
			parts = append(parts, e.Kind+" "+ways+spaced(e.Message))
		case dme.Enter:
			parts = append(parts, fmt.Sprintf("node %d enters%s", e.Node, spaced(e.Stamp)))
		case dme.SetTimer:
			parts = append(parts, fmt.Sprintf("timer %d set to %v", e.timer(), time.Duration(e.Delay)))
		case dme.Refuse:
			parts = append(parts, "refused, "+e.Reason)
		case dme.Left:
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

func Milliseconds(ns int64) string { return fmt.Sprintf("%.3f", float64(ns)/1e6) }

// Text writes a step on each line, with its number and, if it was measured, its time in ms.
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
		if steps[i].What == dme.Start && steps[i].Effects == nil {
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
