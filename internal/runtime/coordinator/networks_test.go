package coordinator

import (
	"fmt"
	"maps"
	"os"
	"testing"
	"time"

	"dmebench/dme"
	"dmebench/internal/runtime/ping"
	"dmebench/internal/runtime/run"
	"dmebench/runs"
	"dmebench/stats"
)

// nearest returns the number of nodes closest to n that the algorithm can run on
// with its defaults.
func nearest(t *testing.T, a *dme.Algorithm, n int) int {
	t.Helper()
	opt, err := a.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for d := range n {
		for _, candidate := range []int{n - d, n + d} {
			if a.CheckNodes(candidate, opt) == nil {
				return candidate
			}
		}
	}
	t.Fatalf("%s runs on no number of nodes near %d", a.Name, n)
	return 0
}

// Under isolated requests, every algorithm costs over every network that meets
// its needs exactly what it costs in the simulation, entry by entry. Processes
// host two nodes each, so that broadcasts reach nodes in the sender's own process
// too.
func TestEveryAlgorithmCostsTheSameOverEveryNetwork(t *testing.T) {
	type network struct {
		name string
		set  map[string]string
	}
	networks := []network{
		{"nats", nil},
		{"udp", map[string]string{run.LayerOption: "fifo"}},
		{"udp", map[string]string{run.LayerOption: "reliable"}},
		{"udp", map[string]string{run.LayerOption: "fifo", run.MulticastOption: "true"}},
	}
	for k, net := range networks {
		name := net.name
		if layer := net.set[run.LayerOption]; layer != "" {
			name += "-" + layer
		}
		if net.set[run.MulticastOption] == "true" {
			name += "-multicast"
		}
		t.Run(name, func(t *testing.T) {
			tried := make(map[string]bool) // the catalog of the tests has some twice
			for i, a := range testCatalog() {
				if a.AsPublished || tried[a.Name] || !sampled(i+k, len(networks)) {
					continue
				}
				tried[a.Name] = true
				forms := []map[string]string{nil}
				if a.Name == "ricart-agrawala-broadcast" {
					forms = append(forms, map[string]string{"form": "sequenced"})
				}
				for _, form := range forms {
					t.Run(a.Name+form["form"], func(t *testing.T) {
						set := maps.Clone(net.set)
						if set == nil {
							set = make(map[string]string)
						}
						maps.Copy(set, form)
						costsTheSame(t, a, form, runs.Spec{
							Algorithm: a.Name, Nodes: nearest(t, a, 8), NodesPerWorker: 2,
							Workload: "serial", Requests: 12, CS: "10us", Transport: net.name, Set: set,
						})
					})
				}
			}
		})
	}
}

// costsTheSame compares a run with the same one in the simulation, where form is
// all that is set.
func costsTheSame(t *testing.T, a *dme.Algorithm, form map[string]string, spec runs.Spec) {
	opt, err := a.Resolve(form)
	if err != nil {
		t.Fatal(err)
	}
	if a.Needs(opt).BoundedDelay {
		t.Skip("what it costs depends on how fast this machine is")
	}
	any := spec
	any.AllowMismatch = true
	if job := resolve(t, any); job.Missing != nil {
		t.Skipf("the network lacks %v", job.Missing) // as declared; what is refused is another test's
	}
	job := resolve(t, spec)
	real, simulated := mustCostAsSimulated(t, spec, form)
	if real.Entries != 12 || real.Safety.Violations != 0 {
		t.Errorf("%d entries, %d violations", real.Entries, real.Safety.Violations)
	}
	if job.Guarantees().Broadcast && real.Messages.Transmissions != simulated.Messages.Transmissions {
		t.Errorf("%d transmissions over %s, %d simulated", real.Messages.Transmissions, real.Transport, simulated.Messages.Transmissions)
	}
	if real.Wire.Frames != real.Messages.Total || real.Wire.Refused != 0 {
		t.Errorf("%d frames for %d messages, %d refused", real.Wire.Frames, real.Messages.Total, real.Wire.Refused)
	}
	if job.Needs.SequencedBroadcast && *real.Messages.PerCS != float64(2*(spec.Nodes-1)) {
		t.Errorf("%v messages per CS with %d nodes", *real.Messages.PerCS, spec.Nodes)
	}
}

// What the links do beneath the layers, the algorithm does not notice: what is
// sent again counts apart.
func TestAlgorithmsDoNotNoticeRepairedLinks(t *testing.T) {
	r := mustRun(t, runs.Spec{
		Algorithm: "ricart-agrawala", Nodes: 3, NodesPerWorker: 2, Requests: 60, CS: "0", Transport: "udp",
		Set: map[string]string{"loss": "0.1", "dup": "0.1", "reorder": "0.1", "jitter": "100us"},
	})
	if r.Messages.Total != 60*4 || r.Wire.Frames != 60*4 || r.Messages.Refused != 0 || r.Safety.Violations != 0 {
		t.Errorf("%+v, wire %+v", r.Messages, r.Wire)
	}
	if r.Wire.Retransmissions == 0 {
		t.Error("a tenth of all segments was lost, and none was sent again")
	}
}

// Delays of the links are delays of messages.
func TestDelayedLinksTakeTheirTime(t *testing.T) {
	for i, name := range []string{"tcp", "udp", "nats"} {
		if !sampled(i, 4) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			r := mustRun(t, runs.Spec{
				Algorithm: "ricart-agrawala", Nodes: 3, Requests: 12, CS: "1ms", Transport: name, Set: map[string]string{"delay": "5ms"},
			})
			if r.Messages.Total != 12*4 || r.Messages.Refused != 0 || r.Safety.Violations != 0 {
				t.Errorf("%+v, wire %+v", r.Messages, r.Wire)
			}
			if r.T == nil || *r.T < 5e6 || r.SyncDelay == nil || r.SyncDelay.Mean < 5e6 {
				t.Errorf("T %v ns, synchronization delay %+v; every message took 5 ms at least", r.T, r.SyncDelay)
			}
			if r.THandover == nil || *r.THandover < 5e6 {
				t.Errorf("T between handovers %v ns; every message took 5 ms at least", r.THandover)
			}
		})
	}
}

// Without reliable links the algorithm comes to a stop, which is noticed.
func TestLossEndsARunThatIsNotMadeForIt(t *testing.T) {
	r, err := execute(t, t.Context(), runs.Spec{
		Algorithm: "ricart-agrawala", Nodes: 3, Requests: 4000, CS: "0", Transport: "udp", AllowMismatch: true,
		StallAfter: runs.Duration(300 * time.Millisecond),
		Set:        map[string]string{run.LayerOption: "raw", "loss": "0.02"},
	}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	switch r.Status {
	case runs.Stalled, runs.Failed, runs.Violated:
	default:
		t.Errorf("status %s after %d entries", r.Status, r.Entries)
	}
	if r.Status.Outcome(false) != runs.Unknown && r.Status != runs.Violated {
		t.Errorf("outcome %d", r.Status.Outcome(false))
	}
}

const (
	ringProcesses = 8
	ringTime      = time.Second
)

// BenchmarkRing passes one token around 8 processes through the whole runtime
// (control plane, transport, codec, host, shared counters), and around 8
// processes with nothing but a socket to their neighbour, in interleaved pairs.
// It reports the median ratio of hops per second, with its confidence interval.
// What the transport alone costs, 'dmebench ping' tells.
func BenchmarkRing(b *testing.B) {
	trace := b.TempDir() + "/two-requests.csv"
	text := fmt.Appendf(nil, "0,1,0.000001\n%f,1,0.000001\n", ringTime.Seconds())
	if err := os.WriteFile(trace, text, 0o600); err != nil {
		b.Fatal(err)
	}
	job := resolve(b, runs.Spec{
		Algorithm: "token-ring", Nodes: ringProcesses, Workload: "trace", Set: map[string]string{"file": trace},
	})
	wholeRing := func() float64 {
		r, err := Run(b.Context(), job, Options{Files: map[string][]byte{trace: text}})
		if err != nil {
			b.Fatal(err)
		}
		if r.Status != runs.OK {
			b.Fatal(r.Error)
		}
		// The token goes round from the first request to the last, and all it
		// does is to hop.
		return float64(r.Messages.Total) / ringTime.Seconds()
	}
	for b.Loop() {
		var bare, whole, ratios []float64
		for pair := range ping.MinPairs {
			var rate [2]float64
			for _, i := range [2]int{pair % 2, 1 - pair%2} {
				rate[i] = []func() float64{wholeRing, func() float64 { return bareRing(b) }}[i]()
			}
			whole, bare = append(whole, rate[0]), append(bare, rate[1])
			ratios = append(ratios, rate[0]/rate[1])
		}
		e := stats.Median(ratios)
		b.ReportMetric(e.Median, "ratio")
		b.ReportMetric(e.Lo, "ratio-low")
		b.ReportMetric(e.Hi, "ratio-high")
		b.ReportMetric(stats.Median(whole).Median, "hops/s")
		b.ReportMetric(stats.Median(bare).Median, "bare-hops/s")
	}
}

// bareRing measures the hops per second of a ring without a runtime.
func bareRing(b *testing.B) float64 {
	c, err := ping.Start(b.Context(), ping.Setup{Network: "tcp", Side: ping.Bare, Processes: ringProcesses, Size: 32})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	var v ping.Values
	for _, stretch := range []time.Duration{ringTime / 20, ringTime} { // the first warms up
		if v, err = c.Measure(ping.Task{Test: ping.Ring, Tokens: 1, Stretch: stretch}); err != nil {
			b.Fatal(err)
		}
	}
	return v[ping.HopRate]
}

// Encryption changes what passes the network and nothing else. A record of TLS has 22
// bytes around what it holds, which here is a frame of a few bytes for each write.
func TestARunOverEncryptedConnections(t *testing.T) {
	for set, encrypted := range map[string]bool{"auto": false, "off": false, "on": true} { // on the loopback
		r, err := execute(t, t.Context(), runs.Spec{
			Algorithm: "ricart-agrawala", Nodes: 3, Workload: "serial", Requests: 60, Set: map[string]string{"tls": set},
		}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Status != runs.OK || r.Entries != 60 || r.Messages.Total != 60*4 || r.Wire.Frames != 60*4 || r.Wire.Refused != 0 {
			t.Errorf("tls=%s: %s %s: %d entries, %d messages, %+v", set, r.Status, r.Error, r.Entries, r.Messages.Total, r.Wire)
		}
		if got := r.Wire.Bytes > 22*r.Wire.Writes; got != encrypted {
			t.Errorf("tls=%s: %d bytes in %d writes", set, r.Wire.Bytes, r.Wire.Writes)
		}
	}
}
