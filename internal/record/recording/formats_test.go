package recording

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"dmebench/dme"
)

// talk is a recording in which everything happens that formats tell apart.
func talk(t *testing.T) (Header, []Event) {
	t.Helper()
	h := Header{Algorithm: "chatter", Title: "Chatter", Nodes: 4, Kinds: chatter.Kinds, Transport: "tcp", Seed: 7, Clock: Host, Whole: true}
	events := converse(5, 4, 60, 1<<20, false).merged(t)
	end := events[len(events)-1].At
	timer := 2
	for i, e := range []Event{
		{Node: 1, What: dme.Request}, {Node: 1, What: dme.Enter, Stamp: "(3,1)"}, {Node: 2, What: dme.RequestShared},
		{Node: 1, What: dme.Exit, State: "queue=[2 3]"}, {Node: 1, What: dme.Send, Peer: 2, Kind: "PING", Message: "x;#y", ID: 1 << 40},
		{Node: 2, What: dme.Enter}, {Node: 3, What: dme.SetTimer, Timer: &timer, Delay: 1e6}, {Node: 3, What: dme.Timeout, Timer: &timer},
		{Node: 2, What: dme.Crash}, {Node: 4, What: dme.PeerDown, Peer: 2}, {Node: 4, What: dme.Refuse, Reason: "why; not"},
		{Node: 3, What: dme.Send, Peer: 2, Kind: "PONG", Lost: true, ID: 1<<40 + 1}, {Node: 4, What: dme.Request}, {Node: 4, What: dme.Enter},
	} {
		e.At = end + int64(i)*700
		events = append(events, e)
	}
	return h, events
}

// What ShiViz reads is there: its own pattern finds every event, each host counts
// its events from 1, and what a host knows of another is what messages carried.
func TestShiViz(t *testing.T) {
	h, events := talk(t)
	var out bytes.Buffer
	if err := ShiViz(&out, h, events); err != nil {
		t.Fatal(err)
	}
	pattern, log, _ := strings.Cut(out.String(), "\n")
	if !strings.HasPrefix(log, "\n") {
		t.Fatalf("the second line is not empty: %q", log[:20])
	}
	found := regexp.MustCompile(strings.ReplaceAll(pattern, "(?<", "(?P<")).FindAllStringSubmatch(log[1:], -1)
	if len(found) != len(events) {
		t.Fatalf("%d events found by %s, want %d", len(found), pattern, len(events))
	}
	own := make(map[string]int)
	clocks := make(map[uint64]map[string]int) // of sendings
	for i, f := range found {
		host, text := f[1], f[3]
		var clock map[string]int
		if err := json.Unmarshal([]byte(f[2]), &clock); err != nil {
			t.Fatal(err)
		}
		own[host]++
		e := &events[i]
		if host != fmt.Sprintf("node%d", e.Node) || clock[host] != own[host] || !strings.HasPrefix(text, e.Describe()) {
			t.Fatalf("event %d, %+v: %v", i, e, f)
		}
		if e.What == dme.Send {
			clocks[e.ID] = clock
		}
		if e.What == dme.Receive {
			for other, n := range clocks[e.ID] {
				if clock[other] < n {
					t.Fatalf("event %d, %+v: clock %v, but the message carried %v", i, e, clock, clocks[e.ID])
				}
			}
		}
	}
}

// What Perfetto reads is there: every event has the keys of its phase, slices of one
// track do not overlap, and every arrow ends behind its beginning, within slices.
func TestPerfetto(t *testing.T) {
	h, events := talk(t)
	var out bytes.Buffer
	if err := Perfetto(&out, h, events); err != nil {
		t.Fatal(err)
	}
	var file struct {
		Unit   string            `json:"displayTimeUnit"`
		Other  Header            `json:"otherData"`
		Events []json.RawMessage `json:"traceEvents"`
	}
	if err := json.Unmarshal(out.Bytes(), &file); err != nil {
		t.Fatal(err)
	}
	if file.Unit != "ms" || file.Other.Algorithm != "chatter" {
		t.Errorf("%q, %+v", file.Unit, file.Other)
	}
	type track struct{ pid, tid int }
	type span struct{ from, to float64 }
	slicesOf := make(map[track][]span)
	begins := make(map[uint64]float64)
	count := make(map[string]int)
	within := func(at track, ts float64) bool {
		return slices.ContainsFunc(slicesOf[at], func(s span) bool { return s.from <= ts+1e-6 && ts <= s.to+1e-6 })
	}
	type parsed struct {
		Name, Cat, Ph, Bp string
		TS, Dur           float64
		PID, TID          int
		ID                uint64
	}
	var arrows []parsed
	for _, raw := range file.Events {
		var keys map[string]any
		var e parsed
		if json.Unmarshal(raw, &keys) != nil || json.Unmarshal(raw, &e) != nil {
			t.Fatalf("%s", raw)
		}
		want := []string{"name", "ph", "ts", "pid", "tid"}
		switch count[e.Ph]++; e.Ph {
		case "M":
			want = append(want, "args")
		case "X":
			want = append(want, "dur")
			at := track{e.PID, e.TID}
			if all := slicesOf[at]; len(all) > 0 && e.TS < all[len(all)-1].to-1e-6 {
				t.Errorf("%s begins before the slice before it ends, at %v", raw, all[len(all)-1].to)
			}
			slicesOf[at] = append(slicesOf[at], span{e.TS, e.TS + e.Dur})
		case "s", "f":
			want = append(want, "id", "cat")
			arrows = append(arrows, e)
		default:
			t.Errorf("phase %q", e.Ph)
		}
		for _, k := range want {
			if _, ok := keys[k]; !ok {
				t.Errorf("%s lacks %q", raw, k)
			}
		}
	}
	slices.SortStableFunc(arrows, func(a, b parsed) int { return strings.Compare(b.Ph, a.Ph) }) // beginnings first
	for _, e := range arrows {
		if !within(track{e.PID, e.TID}, e.TS) {
			t.Errorf("an arrow at %+v, where no slice is", e)
		}
		if e.Ph == "s" {
			begins[e.ID] = e.TS
		} else if from, ok := begins[e.ID]; !ok || from > e.TS || e.Bp != "e" {
			t.Errorf("%+v ends what began at %v, %v", e, from, ok)
		}
	}
	sends, receives := causal(t, events)
	if count["s"] != sends || count["f"] != receives || count["M"] != 4*h.Nodes {
		t.Errorf("%v; %d messages were sent and %d received", count, sends, receives)
	}
}

// What Mermaid reads is there: participants are known, and bars end that began.
func TestMermaid(t *testing.T) {
	h, events := talk(t)
	var out bytes.Buffer
	if err := Mermaid(&out, h, events); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if lines[0] != "sequenceDiagram" {
		t.Fatal(lines[0])
	}
	form := regexp.MustCompile(`^  (participant (n\d+) as node \d+|Note over (n\d+): [^;]+|(?:de)?activate (n\d+)|` +
		`(n\d+)(?:->>|-x|--\))(n\d+): ([^#;]|#\d+;)+)$`)
	known, active := make(map[string]bool), make(map[string]bool)
	arrows := 0
	for _, l := range lines[1:] {
		f := form.FindStringSubmatch(l)
		if f == nil && !strings.Contains(l, "#59;") {
			t.Fatalf("%q is nothing that Mermaid reads", l)
		}
		words := strings.Fields(l)
		switch {
		case words[0] == "participant":
			known[words[1]] = true
		case words[0] == "activate":
			if active[words[1]] {
				t.Errorf("%s is active already", words[1])
			}
			active[words[1]] = true
		case words[0] == "deactivate":
			if !active[words[1]] {
				t.Errorf("%s is not active", words[1])
			}
			delete(active, words[1])
		case words[0] != "Note":
			arrows++
			if f != nil && (!known[f[5]] || !known[f[6]]) {
				t.Errorf("%q: not both are participants", l)
			}
		}
	}
	sends, _ := causal(t, events)
	if len(active) > 0 || arrows != sends {
		t.Errorf("%v never end; %d arrows for %d messages", active, arrows, sends)
	}
}

func TestText(t *testing.T) {
	h, events := talk(t)
	var out bytes.Buffer
	if err := Text(&out, h, events[len(events)-14:]); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"chatter, 4 nodes over tcp, seed 7; times in ms\n",
		"node 1 asks: node 1 enters (3,1)\n",
		"node 1 leaves the critical section: PING 1→2 x;#y\n",
		"timer 2 fires: PONG 3→2 (lost)\n",
		"node 4 hears that 2 is down: refused, why; not\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, &out)
		}
	}
}
