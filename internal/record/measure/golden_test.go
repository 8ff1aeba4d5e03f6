package measure

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/internal/platform/clock"
	"dmebench/internal/platform/clock/exchange"
	"dmebench/internal/record/entrylog"
	"dmebench/internal/runtime/stall"
	"dmebench/internal/testkit/golden"
	"dmebench/runs"
	"dmebench/transport"
	"dmebench/workload/fault"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// late is an entry of which no two instants are the same: the generator noticed it after
// it was due, and its node was busy then.
func late(node dme.NodeID, intended, arrived, requested, entered, exited int64) entrylog.Entry {
	return entrylog.Entry{Node: node, Intended: intended, Arrived: arrived, Requested: requested, Entered: entered, Exited: exited}
}

// An open load in which each instant of an entry is another: waiting and lateness count
// from when the request was due, response from when it was made, and a hand-over needs a
// request that was made, not one that was due.
func openLoad(t *testing.T) Observation {
	entries := []entrylog.Entry{
		late(1, 0, 3, 10, 20, 40),
		late(2, 5, 9, 12, 50, 70),    // 10 after the exit
		late(3, 11, 11, 30, 85, 90),  // 15 after
		late(1, 60, 64, 95, 100, 90), // was due before the exit at 90, and made after it; its clock ran back
		late(2, 100, 107, 110, 120, 150),
		late(3, 119, 120, 120, 175, 190), // 25 after
	}
	for i := range entries {
		entries[i].Clock, entries[i].Order, entries[i].Sent = uint64(6-i), uint64(i+1), uint64(3+i)
	}
	nodes := counted(3, entries, 4)
	for i := range nodes {
		nodes[i].Bytes, nodes[i].Refused, nodes[i].LongestQueue, nodes[i].LongestMessage = uint64(90+i), uint64(i), uint64(7-i), uint64(20+i)
		nodes[i].Transmissions -= uint64(i)
	}
	nodes[1].Unasked = 1
	return Observation{
		Job: jobOf(t, runs.Spec{
			Nodes: 3, Workload: "poisson", TotalRate: 3e7, Requests: 6, Warmup: "1", Seed: 5, Transport: "tcp",
		}),
		Status: runs.OK, Entries: entries, Nodes: nodes, Delays: []int64{4, 6, 11}, HandoverDelays: []int64{8, 9}, Start: 1, Stop: 195,
		Unserved: 2, PerEntry: map[int]uint64{4: 5, 3: 1}, Method: "shared-page", WitnessViolations: 1, Dropped: 1,
		Wire: Wire(transport.Counters{
			Frames: 100, Bytes: 2000, Writes: 50, Packets: 60, Retransmissions: 2, Duplicates: 3, KernelDrops: 4, RefusedFrames: 5, RefusedConns: 6,
		}),
		Clocks: []clock.Change{{
			Elapsed: time.Second, Suspended: 2 * time.Millisecond, Stepped: -3 * time.Millisecond, Slewed: 4 * time.Millisecond,
		}},
		Workers: 9, Environment: map[string]string{EnvironmentCores: "2", "os": "x"}, Warnings: []string{"it rains"}, Partial: true,
	}
}

// A run in which faults strike in the very instants of entries, exits and requests, and
// which then stands still.
func struck(t *testing.T) Observation {
	var faults []fault.Fault
	for _, text := range []string{"kill holder @entry:2", "partition 1|2 @1s-2s", "kill 3 @1s", "kill token @2s"} {
		f, err := fault.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		faults = append(faults, f)
	}
	entries := []entrylog.Entry{
		entry(1, 0, 10, 50), entry(2, 20, 60, 100), entry(3, 100, 100, 160), entry(4, 50, 160, 160), entry(2, 150, 200, 210),
		entry(4, 160, 230, 250),
	}
	for i := range entries {
		entries[i].Sent = uint64(10 * (i + 1))
	}
	const never = entrylog.Never
	nodes := counted(5, entries, 6)
	for i := range nodes {
		nodes[i].Requests++ // who asks, and is never served
		nodes[i].LastMove = int64(200 + 30*i)
	}
	nodes[0].Sent[1], nodes[0].SentTotal = nodes[0].Sent[1]+2, nodes[0].SentTotal+2
	nodes[4].Handled[2]++
	lost := []entrylog.Abandoned{
		// It died inside, where it was in the instant of an exit.
		{Node: 1, Made: true, Requested: 60, Entered: 160, Ended: 200},
		// With the second fault, and in the instant of one.
		{Node: 3, Made: true, Requested: 170, Entered: never, Ended: 200},
		{Node: 5, Made: true, Requested: 200, Entered: never, Ended: never},
		// One waited, and another behind it in line.
		{Node: 4, Made: true, Requested: 100, Entered: never, Ended: 300},
		{Node: 4, Requested: 120, Entered: never, Ended: 100},
		{Node: 2, Made: true, Requested: 90, Entered: 220, Ended: 250},
		{Node: 5, Made: true, Requested: 150, Entered: never, Ended: never},
	}
	return Observation{
		Job:    jobOf(t, runs.Spec{Nodes: 5, Requests: 20, Warmup: "0"}),
		Status: runs.Stalled, Error: "it stands still", FailedNodes: []int{3, 1},
		Entries: entries, Nodes: nodes, MeanDelay: 2.5, Stop: 400, Start: 5,
		Abandoned: lost,
		Strikes: []Strike{
			{Fault: faults[0], Nodes: []dme.NodeID{1}, At: 100}, {Fault: faults[1], Nodes: []dme.NodeID{1}, At: 160, Ended: 190},
			{Fault: faults[2], Nodes: []dme.NodeID{3, 1}, At: 200}, {Fault: faults[3], Nodes: []dme.NodeID{4}, At: 300},
		},
		States: []string{"node 1 waits", "node 2 sleeps"},
		Standstill: &stall.Standstill{
			Waiting: []dme.NodeID{2, 5}, Edges: []stall.Edge{{Node: 2, For: 5, What: "REPLY"}, {Node: 5, For: 2, What: "REPLY"}},
		},
	}
}

// The same with nodes that are gone, which messages were lost with.
func absent(t *testing.T) Observation {
	o := struck(t)
	o.Strikes[2].At, o.Strikes[3].Ended = 300, 350
	o.Standstill.Absent = []stall.Absent{{Node: 1}, {Node: 4}, {Node: 2}}
	return o
}

// Hosts whose clocks are compared well, badly and not at all, readers among the
// entries, and a resource that lost updates.
func severalHosts(t *testing.T) Observation {
	rng := rand.New(rand.NewPCG(41, 42))
	entries := turns(60, 4)
	for i := range entries {
		entries[i].Shared = i%7 == 3 || i%7 == 4
		entries[i].Clock = uint64(1 + i*7%11)
	}
	entries[20].Exited += 150_000 // close to the next entry
	entries[30].Exited += 250_000 // and into it
	entries[41].Entered = entries[40].Exited
	b := onHosts(rng, []ahead{{}, {50e6, 40}, {-3e9, -200}}, 4, 72e6, 1e6, 60e3, true)
	b.hosts[0].Relation = nil
	spec := runs.Spec{Nodes: 4, Requests: 60, Warmup: "0", NodesPerWorker: 1}
	o := b.observe(t, spec, entries)
	o.Hosts[1].Error, o.Hosts[2].Error = 3*time.Microsecond, 2*time.Microsecond
	o.Hosts[2].Environment = map[string]string{EnvironmentCores: "0"}
	lossy := new(exchange.Link)
	lossy.Add(exchange.Path{Sent: 100, Lost: 2})
	even := new(exchange.Link)
	even.Add(exchange.Path{Sent: 100, Lost: 1}) // as many as may be lost without a word
	dead := new(exchange.Link)
	dead.Add(exchange.Path{Sent: 100, Lost: 100})
	o.Links = append(o.Links, Link{1, 2, lossy}, Link{2, 1, even}, Link{1, 0, dead})
	left := func(i int) entrylog.Update {
		e := o.Entries[i]
		return entrylog.Update{Node: e.Node, Entered: e.Entered, Left: e.Exited - 5}
	}
	unrecorded := left(8)
	unrecorded.Entered++
	o.Resource = &Resource{Kind: "nats", Updates: 55, Count: 53, Lost: 2, First: []entrylog.LostUpdate{
		{Version: 6, Update: left(6), Other: left(7)}, {Version: 9, Update: unrecorded, Other: left(9)},
	}}
	return o
}

// One host is known of nothing, another's clock was set.
func badClocks(t *testing.T) Observation {
	o := severalHosts(t)
	o.Resource = nil
	for at := int64(40e6); at < 72e6; at += 1e6 {
		o.Hosts[1].Relation.Add(ahead{}.asks(ahead{80e6, 0}, at, 1000, 1000))
	}
	o.Hosts[2].Relation = new(clock.Relation)
	return o
}

// What a run's result says, every field of it. What the files hold of small runs was
// worked out by hand, too.
func TestWholeResults(t *testing.T) {
	for name, observe := range map[string]func(*testing.T) Observation{
		"open": openLoad, "struck": struck, "absent": absent, "hosts": severalHosts, "clocks": badClocks,
	} {
		t.Run(name, func(t *testing.T) {
			r := Result(observe(t))
			for _, h := range []*string{&r.Histograms.Response, &r.Histograms.Waiting, &r.Histograms.SyncDelay} {
				*h = summary(t, *h)
			}
			r.Spec = runs.Spec{}
			var tree any
			if err := json.Unmarshal([]byte(encode(t, r)), &tree); err != nil {
				t.Fatal(err)
			}
			text, err := json.MarshalIndent(rounded(tree), "", "\t")
			if err != nil {
				t.Fatal(err)
			}
			golden.MustBe(t, "testdata/"+name+".json", append(text, '\n'))
		})
	}
}

// summary says in words what a histogram holds; how it is compressed is the library's.
func summary(t *testing.T, text string) string {
	if text == "" {
		return ""
	}
	h, err := hdrhistogram.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d from %d to %d, median %d", h.TotalCount(), h.Min(), h.Max(), h.ValueAtQuantile(50))
}

// rounded leaves nine digits of every number: processors may differ in the last. Long
// rows become shorter.
func rounded(tree any) any {
	switch x := tree.(type) {
	case map[string]any:
		for k, v := range x {
			x[k] = rounded(v)
		}
	case []any:
		some := make(map[string]any) // of a long row, what there is in it
		for i, v := range x {
			if x[i] = rounded(v); v != nil && v != 0. {
				some[fmt.Sprintf("%03d of %d", i, len(x))] = v
			}
		}
		if len(x) > 60 {
			return some
		}
	case float64:
		if x != math.Trunc(x) {
			y, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 9, 64), 64)
			return y
		}
	}
	return tree
}
