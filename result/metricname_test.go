package result_test

import (
	"strings"
	"testing"

	"dmebench/result"
)

func TestFindMetric(t *testing.T) {
	for name, want := range map[string]string{
		"p99": result.WaitingP99, "P50": result.WaitingP50, "throughput": result.Throughput, "jain": result.JainIndex,
		"messages": result.MessagesPerCS, "bypass": result.MaxBypass, "sync-delay": result.SyncDelayP50,
		"response-p99": result.ResponseP99, "Response_Time_P99_ns": result.ResponseP99, "waiting-time-p50": result.WaitingP50,
		"sync-delay-over-t": result.SyncDelayOverT, "messages-per-cs-steady": result.SteadyPerCS, "t": result.MeanDelay,
		"offered": result.Offered, "throughput_cs_per_s": result.Throughput,
	} {
		if m, err := result.FindMetric(name); err != nil || m.Name != want {
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
		if m, err := result.FindMetric(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is %q, %v; want %q", name, m.Name, err, want)
		}
	}
}

// Every metric is found by its own name, and no two are the same by their plain names.
func TestEveryMetricIsFound(t *testing.T) {
	for _, m := range result.Metrics() {
		for _, name := range []string{m.Name, strings.ToUpper(m.Name), strings.ReplaceAll(m.Name, "_", "-")} {
			if got, err := result.FindMetric(name); err != nil || got.Name != m.Name {
				t.Errorf("%s is %q, %v", name, got.Name, err)
			}
		}
	}
}
