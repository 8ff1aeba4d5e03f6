package coordinator

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"dmebench/internal/record/entrylog"
	"dmebench/internal/runtime/live"
	"dmebench/internal/runtime/run"
	"dmebench/internal/testkit"
	"dmebench/runs"
)

// Under saturation over UDP that loses a twentieth of everything beneath the
// layer fifo, no message is lost or comes twice and every request is served.
func TestLossySoakInShort(t *testing.T) {
	soak(t, runs.Spec{Nodes: 4, Requests: 400}, &memory{})
}

// With DMEBENCH_TESTS=full: the same for ten minutes, in which no worker grows, but for its
// log.
func TestLossySoak(t *testing.T) {
	if !testkit.Full() {
		t.Skip("with DMEBENCH_TESTS=full only")
	}
	m := &memory{}
	r := soak(t, runs.Spec{Nodes: 8, Duration: runs.Duration(10 * time.Minute)}, m)
	m.judge(t, r)
}

func soak(t *testing.T, spec runs.Spec, m *memory) *runs.Result {
	t.Helper()
	// In a critical section that takes its time, the others' requests arrive.
	spec.Algorithm, spec.Transport, spec.CS = "suzuki-kasami", "udp", "100us"
	spec.Set = map[string]string{run.LayerOption: "fifo", "loss": "0.05"}
	workers := &recorder{}
	r, err := execute(t, t.Context(), spec, Options{
		Started:  workers.started,
		Progress: func(*live.State) { m.sample(workers.pids()) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Status != runs.OK {
		t.Fatalf("status %s: %s %v", r.Status, r.Error, r.FailedStderr)
	}
	var handled uint64
	for _, n := range r.Work.HandledByNode {
		handled += n
	}
	if r.Messages.Total != handled || r.Wire.Frames != r.Messages.Total {
		t.Errorf("%d messages sent, %d handled, %d frames", r.Messages.Total, handled, r.Wire.Frames)
	}
	if r.Messages.Refused != 0 || r.Wire.Refused != 0 {
		t.Errorf("%d messages and %d frames refused", r.Messages.Refused, r.Wire.Refused)
	}
	if r.Requests != r.Entries || r.Entries == 0 || spec.Requests > 0 && r.Entries != uint64(spec.Requests) {
		t.Errorf("%d requests, %d entries", r.Requests, r.Entries)
	}
	if r.Safety.Violations != 0 || r.Wire.Retransmissions == 0 {
		t.Errorf("%d violations; %d retransmissions although much was lost", r.Safety.Violations, r.Wire.Retransmissions)
	}
	wire, err := json.Marshal(r.Wire)
	t.Logf("%d entries, %d messages, on the wire %s, %v", r.Entries, r.Messages.Total, wire, err)
	return r
}

// memory is what workers take, over time.
type memory struct {
	samples [][]int // resident bytes by worker, once for each call of sample
}

// slack is how much a worker may have grown beside its log between the second
// and the last tenth of a run: for the pace of the garbage collector, which
// lets a heap of a few megabytes breathe by as much.
const slack = 8 << 20

func (m *memory) sample(pids []int) {
	var now []int
	for _, pid := range pids {
		// Pages in all, and resident ones.
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
		fields := strings.Fields(string(b))
		if err != nil || len(fields) < 2 {
			return // not there, or on no Linux
		}
		pages, err := strconv.Atoi(fields[1])
		if err != nil {
			return
		}
		now = append(now, pages*os.Getpagesize())
	}
	m.samples = append(m.samples, now)
}

func (m *memory) judge(t *testing.T, r *runs.Result) {
	n := len(m.samples)
	if n < 100 {
		t.Fatalf("%d samples of the workers' memory", n)
	}
	for w := range r.Workers {
		median := func(from, to int) int {
			var part []int
			for _, s := range m.samples[from:to] {
				part = append(part, s[w])
			}
			slices.Sort(part)
			return part[len(part)/2]
		}
		early, late := median(n/10, n/5), median(n-n/10, n)
		log := int(r.Work.EntriesByNode[w]) * int(unsafe.Sizeof(entrylog.Entry{}))
		t.Logf("worker %d: %d KiB resident early, %d KiB late, of which its log is %d KiB", w+1, early>>10, late>>10, log>>10)
		if grown := late - early; grown > log+slack {
			t.Errorf("worker %d has grown by %d bytes; its log takes %d", w+1, grown, log)
		}
	}
}
