package runs

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestSpecRoundTrip(t *testing.T) {
	for _, want := range []Spec{
		{},
		Spec{Algorithm: "ours", Nodes: 7}.WithDefaults(),
		{
			Algorithm: "ours", Nodes: 7, Transport: Sim, Workload: "poisson", Rate: 0.5, TotalRate: 1e-3, CS: "exp:1ms",
			Requests: 9, Duration: Duration(90 * time.Second), Seed: 1<<64 - 1, NodesPerWorker: 3, Warmup: "17",
			StallAfter: Duration(1500 * time.Millisecond), Set: map[string]string{"a": "b", "c": "="},
			Listen: "127.0.0.1:0", AllowMismatch: true,
		},
	} {
		b, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got Spec
		if err := json.Unmarshal(b, &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s reads back as %+v, %v", b, got, err)
		}
	}
	b, err := json.Marshal(Spec{Duration: Duration(90 * time.Second)})
	if err != nil || !strings.Contains(string(b), `"duration":"1m30s"`) {
		t.Errorf("%s, %v: a duration must read as people write it", b, err)
	}
}

// TestDefaultsLeaveNoTrace keeps the JSON form of a plain spec as it is: it
// identifies a cell of an experiment, also of one made by an older program.
func TestDefaultsLeaveNoTrace(t *testing.T) {
	b, err := json.Marshal(Spec{Algorithm: "ours", Nodes: 3}.WithDefaults())
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"algorithm":"ours","nodes":3,"transport":"tcp","workload":"saturate","cs":"100us","requests":300,` +
		`"seed":1,"nodes_per_worker":1,"warmup":"auto","stall_after":"10s"}`
	if string(b) != want {
		t.Errorf("%s\nwant %s", b, want)
	}
}

func TestDefaults(t *testing.T) {
	if got := (Spec{Nodes: 5, Duration: Duration(time.Second)}).WithDefaults().Requests; got != 0 {
		t.Errorf("%d requests beside a duration", got)
	}
	if got := (Spec{Nodes: 5, Workload: "trace"}).WithDefaults().Requests; got != 0 {
		t.Errorf("%d requests beside a trace", got)
	}
	s := Spec{Nodes: 5, Seed: 4, Requests: 3, Warmup: "0", StallAfter: 1, CS: "0s"}
	if got := s.WithDefaults(); got.Seed != 4 || got.Requests != 3 || got.Warmup != "0" || got.StallAfter != 1 || got.CS != "0s" {
		t.Errorf("what was given is gone: %+v", got)
	}
}

// TestResultKeys keeps the keys of the result that the contract names.
func TestResultKeys(t *testing.T) {
	b, err := json.Marshal(Result{Messages: Messages{}, ResponseTime: &Quantiles{}})
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	for _, path := range strings.Fields(`schema_version algorithm nodes transport workload seed status requests entries
		messages.total messages.transmissions messages.per_cs messages.steady_per_cs messages.by_kind messages.per_entry
		wire.frames wire.bytes wire.writes wire.packets wire.retransmissions wire.duplicates wire.kernel_drops throughput_cs_per_s
		response_time_ns.count response_time_ns.mean response_time_ns.p50 response_time_ns.p90 response_time_ns.p99
		response_time_ns.p999 response_time_ns.max waiting_time_ns sync_delay_ns t_ns sync_delay_over_t
		fairness.jain fairness.longest_run fairness.max_bypass fairness.max_bypass_by_one fairness.out_of_order
		work.max_over_mean work.longest_queue work.longest_message_bytes safety.violations safety.checked safety.method
		liveness.stalled liveness.pending workers warnings environment`) {
		value := any(got)
		for key := range strings.SplitSeq(path, ".") {
			object, _ := value.(map[string]any)
			var ok bool
			if value, ok = object[key]; !ok {
				t.Errorf("no key %s in %s", path, b)
				break
			}
		}
	}
}
