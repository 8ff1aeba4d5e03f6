package measure

import (
	"fmt"
	"strconv"
	"strings"

	"dmebench/dme"
	"dmebench/internal/noderun"
	"dmebench/result"
)

// totals are sums and maxima over all nodes.
type totals struct {
	noderun.Counts
	busiest uint64 // messages sent and handled by the node that did most
}

func total(nodes []noderun.Counts) totals {
	t := totals{Counts: noderun.Total(nodes)}
	for i := range nodes {
		t.busiest = max(t.busiest, nodes[i].SentTotal+nodes[i].HandledTotal)
	}
	return t
}

// uncounted says which messages were sent and not handled, or the reverse, by
// kind: "5 REQUEST sent and 4 handled". Empty where the two sides agree. Kind 0
// stands for messages that their receiver could not tell.
func (t *totals) uncounted(a *dme.Algorithm) string {
	var faults []string
	for k := range t.Sent {
		if t.Sent[k] == t.Handled[k] {
			continue
		}
		name := "foreign"
		if k > 0 {
			name = a.KindName(dme.Kind(k))
		}
		faults = append(faults, fmt.Sprintf("%d %s sent and %d handled", t.Sent[k], name, t.Handled[k]))
	}
	return strings.Join(faults, ", ")
}

// messages counts the messages of the whole run.
func (t *totals) messages(a *dme.Algorithm, perEntry map[int]uint64) result.Messages {
	m := result.Messages{
		Total: t.SentTotal, Transmissions: t.Transmissions, Refused: t.Refused,
		PerCS:  ratio(float64(t.SentTotal), float64(t.Entries)),
		ByKind: make(map[string]uint64, len(a.Kinds)),
	}
	for i, name := range a.Kinds {
		m.ByKind[name] = t.Sent[i+1]
	}
	if perEntry != nil {
		m.PerEntry = make(map[string]uint64, len(perEntry))
		for messages, entries := range perEntry {
			m.PerEntry[strconv.Itoa(messages)] = entries
		}
	}
	return m
}

// sentAt estimates how many messages all nodes together had sent at the instant
// at. What a node had sent is known at the start and at its exits; in between
// it is interpolated, and after its last exit it grows until the node's last
// event.
func (t *timeline) sentAt(at, start int64, nodes []noderun.Counts) float64 {
	type point struct {
		at   int64
		sent uint64
	}
	before := make([]point, len(nodes)) // the last known at or before the instant
	after := make([]point, len(nodes))  // the first known after it
	for i := range nodes {
		before[i] = point{start, 0}
		after[i] = point{nodes[i].LastMove, nodes[i].SentTotal}
	}
	found := make([]bool, len(nodes)) // an exit after the instant
	for k := range t.len() {
		e := t.exited(k)
		i := int(e.Node) - 1
		if i < 0 || i >= len(nodes) || found[i] {
			continue
		}
		p := point{e.Exited, e.Sent}
		if e.Exited <= at {
			before[i] = p
		} else {
			after[i], found[i] = p, true
		}
	}
	sum := 0.0
	for i := range nodes {
		a, b := before[i], after[i]
		if b.at <= at { // the node's last event was before the instant
			sum += float64(b.sent)
			continue
		}
		part := float64(at-a.at) / float64(b.at-a.at)
		sum += float64(a.sent) + (float64(b.sent)-float64(a.sent))*part
	}
	return sum
}
