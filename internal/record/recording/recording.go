// Package recording is what happened in a run, event by event: the file in which
// 'run --trace' keeps it, and what other tools read of it.
//
// A recording is a [Header] and a sequence of [Event]s in one total order that
// agrees with causality: a message is received after it was sent, and what a
// handler does follows what called it. [Merge] finds that order among the logs of
// nodes, [Tape] notes it down as a network in memory takes its steps, [Read] reads
// it from a file.
package recording

import (
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"dmebench/dme"
)

// SchemaVersion is that of the files. It changes where a key changes its meaning.
const SchemaVersion = 1

type Header struct {
	SchemaVersion int               `json:"schema_version"`
	Algorithm     string            `json:"algorithm"`
	Title         string            `json:"title,omitempty"` // for people
	Nodes         int               `json:"nodes"`
	Absent        []dme.NodeID      `json:"absent,omitempty"` // no part of the system at the start
	Kinds         []string          `json:"kinds"`            // of messages, all that the algorithm has
	Set           map[string]string `json:"set,omitempty"`    // options that were set
	Transport     string            `json:"transport,omitempty"`
	Workload      string            `json:"workload,omitempty"`
	Seed          uint64            `json:"seed"`
	Unit          string            `json:"unit"`    // of at_ns: always ns
	Clock         Clock             `json:"clock"`   // what at_ns is read from
	Dropped       uint64            `json:"dropped"` // events that found no room; the recording ends before the first of them
	Whole         bool              `json:"whole"`   // from the start to quiescence: a message that is not received is lost
}

// Clock says what the times of a recording are.
type Clock string

// The clocks.
const (
	Virtual Clock = "virtual" // of a simulation, 0 at its start
	Host    Clock = "host"    // the monotonic clock of one host, 0 at the first event
	Steps   Clock = "steps"   // the number of the step, in µs: no time was measured
)

// verbs say of each event that recordings have whether it has a Peer, and how a person reads it.
var verbs = [...]struct {
	peer bool
	text string
}{
	dme.Start:         {text: "starts"},
	dme.Request:       {text: "asks"},
	dme.RequestShared: {text: "asks, as a reader"},
	dme.Exit:          {text: "leaves the critical section"},
	dme.Receive:       {peer: true, text: "receives MESSAGE from PEER"},
	dme.Hear:          {peer: true, text: "hears its own MESSAGE"},
	dme.Lose:          {peer: true, text: "never receives MESSAGE from PEER: it is lost"},
	dme.Timeout:       {text: "timer TIMER fires"},
	dme.Stop:          {text: "is told that no more requests will come"},
	dme.Crash:         {text: "crashes"},
	dme.Restart:       {text: "restarts"},
	dme.Join:          {text: "joins"},
	dme.Depart:        {text: "is told to leave the system"},
	dme.PeerDown:      {peer: true, text: "hears that PEER is down"},
	dme.PeerUp:        {peer: true, text: "hears that PEER is up"},

	dme.Send:     {peer: true, text: "sends MESSAGE to PEER"},
	dme.Enter:    {text: "enters the critical section"},
	dme.SetTimer: {text: "sets timer TIMER to DELAY"},
	dme.Refuse:   {text: "refuses it: REASON"},
	dme.Left:     {text: "has left the system"},
}

func recorded(k dme.EventKind) bool { return int(k) < len(verbs) && verbs[k].text != "" }

// Event is one thing that happened at a node.
type Event struct {
	At      int64         `json:"at_ns"`
	Node    dme.NodeID    `json:"node"`
	What    dme.EventKind `json:"event"`
	Peer    dme.NodeID    `json:"peer,omitempty"`
	Kind    string        `json:"kind,omitempty"`    // of the message
	Message string        `json:"message,omitempty"` // its fields that are not zero
	ID      uint64        `json:"id,omitempty"`      // of the message: the same where it is sent and where it arrives
	Copy    bool          `json:"copy,omitempty"`    // the message arrives more than once, and this is not the last time or not the first
	Lost    bool          `json:"lost,omitempty"`    // of a send: it has no receiver
	Timer   *int          `json:"timer,omitempty"`
	Delay   int64         `json:"delay_ns,omitempty"` // for which the timer is set
	Stamp   string        `json:"stamp,omitempty"`    // of the request that enters
	Reason  string        `json:"reason,omitempty"`   // of a refusal
	State   string        `json:"state,omitempty"`    // the variables that the step changed, if they are known
}

// Begins reports whether the event begins a step of its node.
func (e *Event) Begins() bool { return !e.What.IsEffect() }

func (e *Event) body() string {
	if e.Message == "" {
		return e.Kind
	}
	return e.Kind + " " + e.Message
}

// Describe tells an event in a few words, without its time and its node.
func (e *Event) Describe() string {
	text := strings.NewReplacer(
		"MESSAGE", e.body(), "PEER", e.Peer.String(), "TIMER", strconv.Itoa(e.timer()), "DELAY", time.Duration(e.Delay).String(),
		"REASON", e.Reason,
	).Replace(verbs[e.What].text)
	switch {
	case e.What == dme.Enter:
		text += spaced(e.Stamp)
	case e.What == dme.Receive && e.Copy:
		text += ", a copy"
	case e.What == dme.Send && e.Lost:
		text += ", where nobody is"
	}
	return text
}

func (e *Event) timer() int {
	if e.Timer == nil {
		return 0
	}
	return *e.Timer
}

// Bound is where a part of a recording begins or ends; the zero Bound is none.
type Bound struct {
	Entry int   // counted from 1; 0: at a time
	At    int64 // ns
	set   bool
}

func (b Bound) Given() bool { return b.set }

// ParseBound reads a duration since the beginning, such as 2ms, or entry:N.
func ParseBound(text string) (Bound, error) {
	if number, ok := strings.CutPrefix(text, "entry:"); ok {
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 {
			return Bound{}, fmt.Errorf("%q: want the number of an entry from 1 on, such as entry:20", text)
		}
		return Bound{Entry: n, set: true}, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return Bound{}, fmt.Errorf("%q: want a time since the beginning, such as 2.5ms, or an entry, such as entry:20", text)
	}
	return Bound{At: int64(d), set: true}, nil
}

// Part says which events of a recording are wanted. From an entry on means from right after the
// entry before it, to show how the entry came about; to an entry means until its node has left.
type Part struct {
	From, To Bound
	Most     int // events; 0: any number
}

// Of returns the events of the part, having called before with all earlier. more: Most cut it off.
func (p Part) Of(events iter.Seq2[Event, error], before func(*Event)) (part []Event, more bool, err error) {
	entries, last, over := 0, Event{}, false // last: the entry that is the end
	for e, err := range events {
		if err != nil {
			return part, false, err
		}
		switch {
		case over && e.Begins():
			return part, false, nil // what the last step did has been seen
		case p.To.set && p.To.Entry == 0 && e.At > p.To.At:
			return part, false, nil
		}
		if p.From.set && (p.From.Entry > 0 && entries < p.From.Entry-1 || p.From.Entry == 0 && e.At < p.From.At) {
			if before != nil {
				before(&e)
			}
		} else if p.Most > 0 && len(part) == p.Most {
			return part, true, nil
		} else {
			part = append(part, e)
		}
		switch e.What {
		case dme.Enter:
			if entries++; entries == p.To.Entry {
				last = e
			}
		case dme.Exit, dme.Crash:
			over = over || last.Node == e.Node
		}
	}
	return part, false, nil
}
