package recording

import (
	"bufio"
	"encoding/json"
	"io"

	"dmebench/dme"
)

// traceEvent is an event of the Chrome trace format, which Perfetto reads. Times
// are microseconds.
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

// A node has two tracks, since slices of one must not overlap: where its local
// process stands, and its handlers.
const (
	processTrack = 1
	handlerTrack = 2
)

// shortest is what a handler takes at least in the picture, in ns: an arrow needs a
// slice to begin or to end at. Where the next follows earlier it takes as long as that.
const shortest = 1000

// Perfetto writes the events in Chrome's trace format for https://ui.perfetto.dev:
// a process for each node, slices for waiting, for the critical section and for
// handlers, and an arrow for each message.
func Perfetto(w io.Writer, h Header, events []Event) error {
	out := bufio.NewWriter(w)
	put := &traceWriter{out: out}
	io.WriteString(out, `{"displayTimeUnit":"ms","otherData":`)
	if err := json.NewEncoder(out).Encode(h); err != nil {
		return err
	}
	io.WriteString(out, `,"traceEvents":[`)
	end := int64(0)
	if len(events) > 0 {
		end = events[len(events)-1].At
	}
	for id := dme.NodeID(1); int(id) <= h.Nodes; id++ {
		put.name(id, 0, "process_name", "node "+id.String())
		put.meta(id, 0, "process_sort_index", "sort_index", id)
		put.name(id, processTrack, "thread_name", "process")
		put.name(id, handlerTrack, "thread_name", "handlers")
	}
	put.processes(h, events, end)
	put.handlers(events, end)
	io.WriteString(out, "]}\n")
	if put.err != nil {
		return put.err
	}
	return out.Flush()
}

type traceWriter struct {
	out   *bufio.Writer
	comma bool
	err   error
}

func (t *traceWriter) put(e traceEvent) {
	if t.comma {
		t.out.WriteString(",\n")
	}
	t.comma = true
	b, err := json.Marshal(e)
	if err != nil {
		t.err = err
	}
	t.out.Write(b)
}

func (t *traceWriter) name(id dme.NodeID, track int, what, name string) {
	t.meta(id, track, what, "name", name)
}

func (t *traceWriter) meta(id dme.NodeID, track int, what, key string, value any) {
	t.put(traceEvent{Name: what, Phase: "M", PID: id, TID: track, Args: map[string]any{key: value}})
}

func (t *traceWriter) slice(id dme.NodeID, track int, name, category string, from, to int64, args map[string]any) {
	dur := micro(to - from)
	t.put(traceEvent{Name: name, Cat: category, Phase: "X", TS: micro(from), Dur: &dur, PID: id, TID: track, Args: args})
}

func micro(ns int64) float64 { return float64(ns) / 1000 }

// processes writes where the local processes stand: waiting, or inside.
func (t *traceWriter) processes(h Header, events []Event, end int64) {
	type stand struct {
		name string // "": idle
		from int64
	}
	at := make([]stand, h.Nodes+1)
	become := func(e *Event, name string) {
		if s := at[e.Node]; s.name != "" {
			t.slice(e.Node, processTrack, s.name, "process", s.from, e.At, nil)
		}
		at[e.Node] = stand{name, e.At}
	}
	for i := range events {
		switch e := &events[i]; e.What {
		case Request, RequestShared:
			become(e, "waiting")
		case Enter:
			become(e, "critical section")
		case Exit, Crash, Left:
			become(e, "")
		}
	}
	for id := range at {
		if id > 0 && at[id].name != "" { // until the recording ends
			become(&Event{Node: dme.NodeID(id), At: end}, "")
		}
	}
}

// handlers writes a slice for each handler, and the ends of arrows within.
func (t *traceWriter) handlers(events []Event, end int64) {
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
		name := string(s.What)
		if s.Kind != "" {
			name += " " + s.Kind
		}
		args := map[string]any{"step": s.Describe()}
		if s.State != "" {
			args["state"] = s.State
		}
		t.slice(s.Node, handlerTrack, name, "handler", s.At, to, args)
		if s.What == Receive && s.ID != 0 {
			t.put(traceEvent{Name: s.Kind, Cat: "message", Phase: "f", Bind: "e", TS: micro(s.At), PID: s.Node, TID: handlerTrack, ID: s.ID})
		}
		for _, e := range s.Effects {
			if e.What == Send && e.ID != 0 {
				t.put(traceEvent{Name: e.Kind, Cat: "message", Phase: "s", TS: micro(e.At), PID: e.Node, TID: handlerTrack, ID: e.ID})
			}
		}
	}
}
