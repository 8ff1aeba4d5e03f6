package recording

import (
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"
)

// Bound is where a part of a recording begins or ends: at a time, or at an entry
// into the critical section. The zero Bound is none.
type Bound struct {
	Entry int   // counted from 1; 0: at a time
	At    int64 // ns
	set   bool
}

// Given reports whether there is a bound.
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

// Part says which events of a recording are wanted. From an entry on means from
// right after the entry before it, so that it shows how the entry came about; to an
// entry means until its node has left.
type Part struct {
	From, To Bound
	Most     int // events; 0: any number
}

// Of returns the events of the part. before is called with each that comes before
// them. more reports whether Most cut the part off.
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
		case Enter:
			if entries++; entries == p.To.Entry {
				last = e
			}
		case Exit, Crash:
			over = over || last.Node == e.Node
		}
	}
	return part, false, nil
}
