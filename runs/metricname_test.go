package runs_test

import (
	"strings"
	"testing"

	"dmebench/runs"
)

func TestFindMetric(t *testing.T) {
	for name, want := range map[string]string{
		"p99": runs.WaitingP99, "P50": runs.WaitingP50, "throughput": runs.Throughput, "jain": runs.JainIndex,
		"messages": runs.MessagesPerCS, "bypass": runs.MaxBypass, "sync-delay": runs.SyncDelayP50,
		"response-p99": runs.ResponseP99, "Response_Time_P99_ns": runs.ResponseP99, "waiting-time-p50": runs.WaitingP50,
		"sync-delay-over-t": runs.SyncDelayOverT, "messages-per-cs-steady": runs.SteadyPerCS, "t": runs.MeanDelay,
		"offered": runs.Offered, "throughput_cs_per_s": runs.Throughput,
	} {
		if m, err := runs.FindMetric(name); err != nil || m.Name != want {
			t.Errorf("%s is %q, %v", name, m.Name, err)
		}
	}
	for name, want := range map[string]string{
		"p90":         "the percentiles there are p50, p99, response_time_p50_ns, ",
		"p98":         "the percentiles there are p50, p99, response_time_p50_ns, ",
		"througput":   "did you mean 'throughput'?",
		"jain_indx":   "did you mean 'jain_index'?",
		"happiness":   "there are bypass, jain, messages, p50, p99, sync-delay, throughput, and every column of summary.csv",
		"":            "every column of summary.csv",
		"respons-p99": "unknown metric",
	} {
		if m, err := runs.FindMetric(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is %q, %v; want %q", name, m.Name, err, want)
		}
	}
}

// Every metric is found by its own name, and no two are the same by their plain names.
func TestEveryMetricIsFound(t *testing.T) {
	for _, m := range runs.Metrics() {
		for _, name := range []string{m.Name, strings.ToUpper(m.Name), strings.ReplaceAll(m.Name, "_", "-")} {
			if got, err := runs.FindMetric(name); err != nil || got.Name != m.Name {
				t.Errorf("%s is %q, %v", name, got.Name, err)
			}
		}
	}
}
