package coordinator

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"dmebench/algorithms"
	"dmebench/dme"
	"dmebench/internal/runtime/ping"
	"dmebench/internal/runtime/run"
	"dmebench/internal/testkit"
	"dmebench/runs"
	"dmebench/stats"
	"dmebench/transport/nats"
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

// Every algorithm that is thought to be right runs over every network that meets its needs:
// under saturation without a violation, and under isolated requests at exactly the cost of
// the simulation, entry by entry. Processes host two nodes each, so that broadcasts reach
// nodes in the sender's own process too.
func TestEveryAlgorithmOverEveryNetwork(t *testing.T) {
	networks := []struct {
		name string
		set  map[string]string
	}{
		{"tcp", nil},
		{"nats", nil},
		{"udp", map[string]string{run.LayerOption: "fifo"}},
		{"udp", map[string]string{run.LayerOption: "reliable"}},
		{"udp", map[string]string{run.LayerOption: "fifo", run.MulticastOption: "true"}},
	}
	for i, a := range algorithms.All() {
		if a.AsPublished {
			continue
		}
		forms := []map[string]string{nil}
		if a.Name == "ricart-agrawala-broadcast" {
			forms = append(forms, map[string]string{"form": "sequenced"})
		}
		for k, network := range networks {
			for j, form := range forms {
				if !sampled(i+k+j, len(networks)) && !(j == 1 && network.name == "nats") {
					continue
				}
				t.Run(fmt.Sprint(a.Name, form, network.name, network.set), func(t *testing.T) {
					set := maps.Clone(form)
					if set == nil {
						set = make(map[string]string)
					}
					requests := 12
					if slices.ContainsFunc(a.Options, func(o dme.Option) bool { return o.Name == "bound" }) {
						set["bound"] = "200ms"
						requests = 6 // each may take twice as long
					} else {
						beside(t)
					}
					own := maps.Clone(set)
					maps.Copy(set, network.set)
					runsAsSimulated(t, runs.Spec{
						Algorithm: a.Name, Nodes: nearest(t, a, 8), NodesPerWorker: 2, CS: "10us", Transport: network.name, Set: set, Requests: requests,
					}, own, i%3 == 0 || testkit.Long())
				})
			}
		}
	}
}

// runsAsSimulated compares a run with the same one in the simulation, where own are all
// options that are set.
func runsAsSimulated(t *testing.T, spec runs.Spec, own map[string]string, saturated bool) {
	any := spec
	any.AllowMismatch = true
	job := resolve(t, any)
	if job.Missing != nil {
		t.Skipf("the network lacks %v", job.Missing) // as declared; what is refused is another test's
	}
	if saturated && !job.Needs.BoundedDelay {
		saturate := spec
		saturate.Workload, saturate.Requests = "saturate", 80
		if r := mustRun(t, saturate); r.Safety.Violations != 0 || r.Entries != 80 {
			t.Errorf("%d violations, %d entries", r.Safety.Violations, r.Entries)
		}
	}
	spec.Workload = "serial"
	real, simulated := mustCostAsSimulated(t, spec, own)
	if real.Entries != uint64(spec.Requests) || real.Safety.Violations != 0 {
		t.Errorf("%d entries, %d violations", real.Entries, real.Safety.Violations)
	}
	if job.Guarantees().Broadcast && real.Messages.Transmissions != simulated.Messages.Transmissions {
		t.Errorf("%d transmissions over %s, %d simulated", real.Messages.Transmissions, real.Transport, simulated.Messages.Transmissions)
	}
	if real.Wire.Frames != real.Messages.Total || real.Wire.Refused != 0 {
		t.Errorf("%d frames for %d messages, %d refused", real.Wire.Frames, real.Messages.Total, real.Wire.Refused)
	}
}

// What the links do beneath the layers, the algorithm does not notice: what is
// sent again counts apart.
func TestAlgorithmsDoNotNoticeRepairedLinks(t *testing.T) {
	beside(t)
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
	beside(t)
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

// Between sites messages take the time of the way, over every network: half of the nodes
// wait for a request and a grant.
func TestSitesAreFarApart(t *testing.T) {
	beside(t)
	const way = 33_300 * time.Microsecond // from virginia to stockholm, of the regions
	for i, name := range []string{"tcp", "udp", "nats"} {
		if !sampled(i, 3) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			r := mustRun(t, runs.Spec{
				Algorithm: "centralized", Nodes: 2, Workload: "serial", Requests: 12, CS: "1ms", Transport: name,
				Set: map[string]string{"sites": "regions"},
			})
			far := slices.IndexFunc(r.Sites, func(s runs.Site) bool { return s.Name == "stockholm" })
			if r.Messages.BetweenSites == nil || *r.Messages.BetweenSites != r.Messages.Total || r.Messages.Total == 0 {
				t.Errorf("all messages were between sites: %+v", r.Messages)
			}
			if s := r.Sites[far]; s.Nodes != 1 || s.Entries == 0 || s.Waiting.P50 < 2*way.Nanoseconds() {
				t.Errorf("%+v, %+v; want nothing below %v", s, s.Waiting, 2*way)
			}
		})
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
	beside(t)
	for set, encrypted := range map[string]bool{"auto": false, "on": true} { // on the loopback
		r := mustEnd(t, runs.Spec{
			Algorithm: "ricart-agrawala", Nodes: 3, Workload: "serial", Requests: 60, Set: map[string]string{"tls": set},
		}, Options{})
		if r.Status != runs.OK || r.Entries != 60 || r.Messages.Total != 60*4 || r.Wire.Frames != 60*4 || r.Wire.Refused != 0 {
			t.Errorf("tls=%s: %s %s: %d entries, %d messages, %+v", set, r.Status, r.Error, r.Entries, r.Messages.Total, r.Wire)
		}
		if got := r.Wire.Bytes > 22*r.Wire.Writes; got != encrypted {
			t.Errorf("tls=%s: %d bytes in %d writes", set, r.Wire.Bytes, r.Wire.Writes)
		}
	}
}

// The broadcast medium under contention: every request and reply is a broadcast,
// and all nodes must queue the requests in one order.
func TestTheSequencedMediumUnderLoad(t *testing.T) {
	beside(t)
	r := mustRun(t, runs.Spec{
		Algorithm: "ricart-agrawala-broadcast", Set: map[string]string{"form": "sequenced"},
		Nodes: 6, Requests: 300, Transport: "nats", CS: "0",
	})
	if *r.Messages.PerCS != 10 || r.Messages.Transmissions != 600 || r.Fairness.OutOfOrder != 0 || r.Messages.Refused != 0 {
		t.Errorf("%+v, out of order %d", r.Messages, r.Fairness.OutOfOrder)
	}
}

// elsewhere starts a broker that the coordinator takes for somebody else's.
func elsewhere(t *testing.T) (nats.Broker, *nats.Server) {
	t.Helper()
	s, err := nats.StartServer(10)
	if err != nil {
		t.Fatal(err)
	}
	b := s.Broker()
	b.Own = false
	return b, s
}

func TestABrokerElsewhere(t *testing.T) {
	beside(t)
	b, server := elsewhere(t)
	for _, set := range []map[string]string{{"form": "listed"}, {"form": "sequenced"}} {
		r, err := Run(t.Context(), resolve(t, runs.Spec{
			Algorithm: "ricart-agrawala-broadcast", Nodes: 4, Requests: 40, Transport: "nats", Set: set,
		}), Options{Broker: &b, Environment: map[string]string{}})
		if err != nil {
			t.Fatal(err)
		}
		if r.Status != runs.OK || r.Environment["broker"] != "elsewhere" {
			t.Errorf("%v: status %s: %s; %v", set, r.Status, r.Error, r.Environment)
		}
	}
	server.Close()
	workers := &recorder{}
	_, err := execute(t, t.Context(), runs.Spec{Algorithm: "maekawa", Nodes: 3, Transport: "nats"},
		Options{Broker: &b, Started: workers.started})
	if !errors.Is(err, nats.ErrBroker) || len(workers.pids()) > 0 {
		t.Errorf("a broker that is not there: %v, %d processes", err, len(workers.pids()))
	}
}

// A broker that dies in the middle of a run ends it as failed, whether its
// broadcasts are sequenced or not.
func TestABrokerThatDiesEndsTheRun(t *testing.T) {
	beside(t)
	for i, spec := range []runs.Spec{
		{Algorithm: "ricart-agrawala-broadcast", Set: map[string]string{"form": "sequenced"}, Nodes: 4},
		{Algorithm: "suzuki-kasami", Nodes: 4},
	} {
		if !sampled(i, 2) {
			continue
		}
		b, server := elsewhere(t)
		spec.Transport, spec.Duration = "nats", runs.Duration(time.Minute)
		r := mustEnd(t, spec, Options{Broker: &b, Progress: onFirstEntries(server.Close)})
		if r.Status != runs.Failed || !strings.Contains(r.Error, "nats: ") {
			t.Errorf("%s: status %s: %s", spec.Algorithm, r.Status, r.Error)
		}
		if r.Entries == 0 {
			t.Errorf("%s: what had been counted is lost", spec.Algorithm)
		}
	}
}

// Strangers who connect to the servers of a run and say nothing, or garbage, do not disturb
// it, and are counted.
func TestStrangersDoNotDisturbARun(t *testing.T) {
	beside(t)
	const strangers = 40
	c, err := start(t.Context(), resolve(t, runs.Spec{
		Algorithm: "ricart-agrawala", Nodes: 4, Transport: "nats", Requests: 200, CS: "1ms",
	}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.end()
	for i := range strangers {
		url := []string{c.data.broker.URL, c.broker.Broker().URL}[i%2]
		conn, err := net.Dial("tcp", strings.TrimPrefix(url, "nats://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if i%4 < 2 {
			_, _ = conn.Write([]byte("garbage\r\n"))
		}
	}
	got, err := c.live(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got.Status != runs.OK || got.Entries != 200 || got.Safety.Violations != 0 || got.Wire.Refused < strangers {
		t.Errorf("status %s: %s; %d entries, %d violations, %d refused",
			got.Status, got.Error, got.Entries, got.Safety.Violations, got.Wire.Refused)
	}
}
