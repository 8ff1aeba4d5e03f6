package measure

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"dmebench/dme"
	"dmebench/internal/platform/clock"
	"dmebench/internal/record"
	"dmebench/internal/runtime/noderun"
	"dmebench/internal/runtime/run"
	"dmebench/runs"
)

type system struct{}

func (system) Node(dme.NodeID) dme.Node { return nil }

func algorithm() *dme.Algorithm {
	return &dme.Algorithm{
		Name: "test", Kinds: []string{"ASK", "GRANT"},
		Needs:   dme.Always(dme.Needs{Reliable: true}),
		Prepare: func(dme.Config) (dme.System, error) { return system{}, nil },
	}
}

// jobOf resolves a spec, over the simulated network unless it says otherwise.
func jobOf(t testing.TB, s runs.Spec) *run.Job {
	t.Helper()
	s.Algorithm = "test"
	if s.Transport == "" {
		s.Transport = runs.Sim
	}
	trace := func(string) ([]byte, error) { return []byte("0,1\n1,2\n"), nil }
	job, err := run.Resolve(s, run.Catalog{algorithm()}, trace)
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// entry is an entry without delays of the generator: intended, arrived and
// requested at once.
func entry(node dme.NodeID, requested, entered, exited int64) record.Entry {
	return record.Entry{Node: node, Intended: requested, Arrived: requested, Requested: requested, Entered: entered, Exited: exited}
}

// counted returns counters that fit the entries: as many requests and entries,
// and sent messages of kind 1 for each entry, all of them handled.
func counted(nodes int, entries []record.Entry, messages uint64) []noderun.Counts {
	n := make([]noderun.Counts, nodes)
	for _, e := range entries {
		c := &n[e.Node-1]
		c.Requests++
		c.Entries++
		c.Sent += messages
		c.Handled += messages
		c.LastMove = max(c.LastMove, e.Exited)
	}
	return n
}

// trafficOf is that of nodes all of whose messages are of kind 1, and to one node each.
func trafficOf(nodes []noderun.Counts) (all []noderun.TrafficCounts) {
	for _, n := range nodes {
		t := noderun.TrafficCounts{Transmissions: n.Sent}
		t.Sent[1], t.Handled[1] = n.Sent, n.Handled
		all = append(all, t)
	}
	return all
}

func result(o Observation) *runs.Result {
	o.Traffic = trafficOf(o.Nodes)
	return Result(o)
}

func encode(t testing.TB, r *runs.Result) string {
	t.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatalf("the result cannot be written: %v", err)
	}
	return string(b)
}

// wants compares a value that may be absent; NaN stands for absent.
func wants(t testing.TB, what string, got *float64, want float64) {
	t.Helper()
	switch {
	case want != want:
		if got != nil {
			t.Errorf("%s: %v, want none", what, *got)
		}
	case got == nil:
		t.Errorf("%s: none, want %v", what, want)
	case *got-want > 1e-9*want || want-*got > 1e-9*want:
		t.Errorf("%s: %v, want %v", what, *got, want)
	}
}

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
			path := clock.Path{}
			for at := int64(0); at < length; at += period {
				path.Exchanges = append(path.Exchanges, clocks[i].asks(clocks[j], at, delay(), delay()))
			}
			path.Sent = len(path.Exchanges)
			link := new(clock.Link)
			link.Add(path)
			b.links = append(b.links, Link{i, j, link})
		}
	}
	return b
}

// local returns entries as their hosts see them.
func (b *testbed) local(entries []record.Entry) []record.Entry {
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

func (b *testbed) observe(t testing.TB, spec runs.Spec, entries []record.Entry) Observation {
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

// hostsOf makes the hosts of a case.
func hostsOf(t *testing.T, words []string, nodes int) *testbed {
	direct := words[0] == "direct"
	if direct {
		words = words[1:]
	}
	x := integers(t, words[:3])
	var clocks []ahead
	for _, word := range words[3:] {
		c := integers(t, strings.Split(word, ","))
		clocks = append(clocks, ahead{c[0], c[1]})
	}
	return onHosts(rand.New(rand.NewPCG(51, 52)), clocks, nodes, x[0], x[1], x[2], direct)
}

// turns are n entries of nodes in turn, of 1 ms each and 200 µs apart, each asked for
// when the one before it was entered.
func turns(n, nodes int) (e []record.Entry) {
	for k := range int64(n) {
		at := k * 1_200_000
		e = append(e, entry(dme.NodeID(k%int64(nodes)+1), at-900_000, at, at+1_000_000))
	}
	e[0].Requested, e[0].Intended, e[0].Arrived = 0, 0, 0
	return e
}

func warned(r *runs.Result, text string) bool {
	return slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.Contains(w, text) })
}
