package recording

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"dmebench/dme"
)

const maxLine = 4 << 20

// Is reports whether a file that begins so is a recording.
func Is(head []byte) bool { return bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("{")) }

// Write writes a recording as JSON Lines: its header, then one event on each line.
func Write(w io.Writer, h Header, events iter.Seq2[Event, error]) (count int, err error) {
	h.SchemaVersion, h.Unit = SchemaVersion, "ns"
	out := bufio.NewWriterSize(w, 1<<16)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(h); err != nil {
		return 0, err
	}
	for e, err := range events {
		if err != nil {
			return count, err
		}
		if err := enc.Encode(&e); err != nil {
			return count, err
		}
		count++
	}
	return count, out.Flush()
}

// Read reads a header, and events as they are asked for. Errors name the file and the line.
func Read(name string, r io.Reader) (Header, iter.Seq2[Event, error], error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	number := 0
	next := func() ([]byte, error) {
		for lines.Scan() {
			if number++; len(bytes.TrimSpace(lines.Bytes())) > 0 {
				return lines.Bytes(), nil
			}
		}
		if errors.Is(lines.Err(), bufio.ErrTooLong) {
			return nil, fmt.Errorf("%s:%d: the line is longer than %d bytes", name, number+1, maxLine)
		}
		return nil, lines.Err()
	}
	at := func(err error) error { return fmt.Errorf("%s:%d: %w", name, number, err) }
	var h Header
	line, err := next()
	if err == nil && line == nil {
		err = fmt.Errorf("%s: the file is empty; 'dmebench run --trace %s' writes a recording", name, name)
	}
	if err != nil {
		return h, nil, err
	}
	if err := json.Unmarshal(line, &h); err != nil {
		return h, nil, at(fmt.Errorf("not the header of a recording: %w", err))
	}
	if err := h.check(); err != nil {
		return h, nil, at(err)
	}
	return h, func(yield func(Event, error) bool) {
		last := int64(0)
		for first := true; ; first = false {
			line, err := next()
			if err != nil {
				yield(Event{}, err)
				return
			}
			if line == nil {
				return
			}
			var e Event
			if err = json.Unmarshal(line, &e); err == nil {
				err = e.check(h.Nodes)
			} else if !errors.Is(err, dme.ErrNoEvent) {
				err = fmt.Errorf("not an event: %w", err)
			}
			if err == nil && !first && e.At < last {
				err = fmt.Errorf("at_ns is %d, and %d in the line before; the events must stand in the order of their times", e.At, last)
			}
			if err != nil {
				yield(Event{}, at(err))
				return
			}
			if last = e.At; !yield(e, nil) {
				return
			}
		}
	}, nil
}

// maxNodes: a slip in a file must not fill the memory.
const maxNodes = 1 << 20

func (h *Header) check() error {
	switch {
	case h.SchemaVersion == 0 || h.Algorithm == "":
		return errors.New("not the header of a recording: it lacks schema_version or algorithm; " +
			"'dmebench run --trace FILE' writes a recording")
	case h.SchemaVersion != SchemaVersion:
		return fmt.Errorf("a recording of version %d; this program reads version %d", h.SchemaVersion, SchemaVersion)
	case h.Nodes < 1 || h.Nodes > maxNodes:
		return fmt.Errorf("%d nodes: there must be at least 1 and at most %d", h.Nodes, maxNodes)
	}
	if i := slices.IndexFunc(h.Absent, func(id dme.NodeID) bool { return id < 1 || int(id) > h.Nodes }); i >= 0 {
		return fmt.Errorf("absent: node %d is not one of the nodes 1 to %d", h.Absent[i], h.Nodes)
	}
	return nil
}

func (e *Event) check(nodes int) error {
	there := func(id dme.NodeID) bool { return id >= 1 && int(id) <= nodes }
	switch {
	case !recorded(e.What):
		return fmt.Errorf("%w %q", dme.ErrNoEvent, e.What)
	case !there(e.Node):
		return fmt.Errorf("node %d is not one of the nodes 1 to %d", e.Node, nodes)
	case verbs[e.What].peer && !there(e.Peer):
		return fmt.Errorf("%s: peer %d is not one of the nodes 1 to %d", e.What, e.Peer, nodes)
	}
	return nil
}
