package measure

import (
	"math/rand/v2"
	"slices"
	"testing"

	"dmebench/internal/platform/clock"
	"dmebench/internal/platform/clock/exchange"
	"dmebench/internal/record/entrylog"
	"dmebench/runs"
)

// ahead is a host's clock: off by that much, and fast by so many parts per million.
type ahead struct{ offset, ppm int64 }

func (c ahead) read(at int64) int64 { return at + c.offset + at/1e6*c.ppm + at%1e6*c.ppm/1e6 }

// asks makes an exchange at a true time from one clock to another.
func (c ahead) asks(other ahead, at, out, back int64) clock.Exchange {
	return clock.Exchange{
		Sent: c.read(at), Received: other.read(at + out), Answered: other.read(at + out), Returned: c.read(at + out + back),
	}
}

// testbed are hosts whose clocks are what they are and of which exchanges tell, whose
// delays are up to a longest one; the reference clock shows the true time.
type testbed struct {
	clocks []ahead
	hosts  []Host
	links  []Link
}

// onHosts puts node i on host (i-1) modulo their number. Hosts make exchanges for a
// length of time; with direct ones also with one another.
func onHosts(rng *rand.Rand, clocks []ahead, nodes int, length, period, longest int64, direct bool) *testbed {
	b := &testbed{clocks: clocks}
	delay := func() int64 { return 1 + rng.Int64N(longest) }
	for k, c := range clocks {
		h := Host{Host: runs.Host{Name: string(rune('a' + k))}, Relation: new(clock.Relation)}
		for id := k + 1; id <= nodes; id += len(clocks) {
			h.Nodes = append(h.Nodes, id)
		}
		for at := int64(0); at < length; at += period {
			h.Relation.Add(ahead{}.asks(c, at, delay(), delay()))
		}
		b.hosts = append(b.hosts, h)
	}
	for i := range clocks {
		for j := range clocks {
			if i == j || !direct {
				continue
			}
			path := exchange.Path{}
			for at := int64(0); at < length; at += period {
				path.Exchanges = append(path.Exchanges, clocks[i].asks(clocks[j], at, delay(), delay()))
			}
			path.Sent = len(path.Exchanges)
			link := new(exchange.Link)
			link.Add(path)
			b.links = append(b.links, Link{i, j, link})
		}
	}
	return b
}

// local returns entries as their hosts see them.
func (b *testbed) local(entries []entrylog.Entry) []entrylog.Entry {
	seen := slices.Clone(entries)
	for i := range seen {
		e := &seen[i]
		c := b.clocks[(int(e.Node)-1)%len(b.clocks)]
		for _, at := range []*int64{&e.Intended, &e.Arrived, &e.Requested, &e.Entered, &e.Exited} {
			*at = c.read(*at)
		}
	}
	return seen
}

func (b *testbed) observe(t testing.TB, spec runs.Spec, entries []entrylog.Entry) Observation {
	spec.Transport = "tcp"
	last := int64(0)
	for _, e := range entries {
		last = max(last, e.Exited)
	}
	local := b.local(entries)
	return Observation{
		Job: jobOf(t, spec), Status: runs.OK, Entries: local, Nodes: counted(spec.Nodes, local, 1), MeanDelay: 1000,
		Stop: last, Method: "shared-page", Hosts: b.hosts, Links: b.links,
	}
}
