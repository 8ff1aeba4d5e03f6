package export_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"golang.org/x/perf/benchfmt"

	"dmebench/report/compare"
	"dmebench/report/export"
	"dmebench/runs"
	"dmebench/stats"
)

const entries = 400

// ran is the result of one repetition with distributions of times.
func ran(t *testing.T, label string, n, repetition int, scale float64) runs.Run {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(n), uint64(repetition)))
	distribution := func(mean float64) (string, *runs.Quantiles) {
		h := hdrhistogram.New(1, 60e9, 2)
		for range entries {
			if err := h.RecordValue(int64(scale * mean * (0.5 + rng.ExpFloat64()))); err != nil {
				t.Fatal(err)
			}
		}
		b, err := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
		if err != nil {
			t.Fatal(err)
		}
		q := func(p float64) int64 { return h.ValueAtQuantile(p) }
		return string(b), &runs.Quantiles{Count: entries, Mean: h.Mean(), P50: q(50), P90: q(90), P99: q(99), P999: q(99.9), Max: h.Max()}
	}
	perCS, rate := float64(3*(n-1))/2, 200/scale*(1+0.01*rng.NormFloat64())
	r := &runs.Result{
		SchemaVersion: runs.SchemaVersion, Algorithm: "maekawa", Nodes: n, Transport: "tcp", Workload: "saturate",
		Seed: uint64(repetition), Status: runs.OK, Requests: entries, Entries: entries,
		Messages: runs.Messages{PerCS: &perCS}, Throughput: &rate,
		Environment: map[string]string{"os": "linux", "arch": "amd64", "cpu": "A CPU @ 2 GHz", "load_average": fmt.Sprint(repetition)},
		Spec: runs.Spec{
			Algorithm: "maekawa", Nodes: n, Transport: "tcp", Workload: "saturate", CS: "100us", Requests: entries,
			Set: map[string]string{"quorum": "grid"}, Seed: uint64(repetition), NodesPerWorker: 1, Warmup: "auto",
		},
	}
	r.Histograms.Response, r.ResponseTime = distribution(1e6)
	r.Histograms.Waiting, r.WaitingTime = distribution(5e5)
	if n > 3 {
		r.Histograms.SyncDelay, r.SyncDelay = distribution(5e4)
	}
	return runs.Run{Label: label, Repetition: repetition, Result: r}
}

func experiment(t *testing.T, scale float64) []runs.Run {
	var runs []runs.Run
	for i := range 8 {
		for _, n := range []int{3, 7} {
			runs = append(runs, ran(t, "maekawa-grid", n, i+1, scale))
		}
	}
	return runs
}

func benchmarks(t *testing.T, list []runs.Run, metrics ...string) []byte {
	t.Helper()
	chosen, err := compare.Options{Metrics: metrics}.Check()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := export.Benchfmt(&out, &runs.Set{Runs: list}, chosen); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// The real benchstat reads both sides and finds what 'compare' finds.
func TestBenchstatReadsIt(t *testing.T) {
	dir := t.TempDir()
	benchstat := filepath.Join(dir, "benchstat")
	if out, err := exec.Command("go", "build", "-o", benchstat, "golang.org/x/perf/cmd/benchstat").CombinedOutput(); err != nil {
		t.Fatalf("cannot build benchstat: %v\n%s", err, out)
	}
	before, after := experiment(t, 1), experiment(t, 1.5)
	a, b := filepath.Join(dir, "a.txt"), filepath.Join(dir, "b.txt")
	for path, runs := range map[string][]runs.Run{a: before, b: after} {
		if err := os.WriteFile(path, benchmarks(t, runs), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var stderr bytes.Buffer
	cmd := exec.Command(benchstat, "-format", "csv", "-row", "/nodes", a, b)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("benchstat: %v\n%s", err, stderr.String())
	}
	c, err := compare.Compare(&runs.Set{Runs: before}, &runs.Set{Runs: after}, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, table := range c.Tables {
		unit, factor := map[string]string{
			"messages_per_cs": "msgs/CS", "throughput_cs_per_s": "CS/s", "response_time_p50_ns": "response-p50-sec",
			"response_time_p99_ns": "response-p99-sec", "waiting_time_p50_ns": "waiting-p50-sec",
			"waiting_time_p99_ns": "waiting-p99-sec", "sync_delay_p50_ns": "sync-delay-p50-sec",
		}[table.Metric], 1.0
		if strings.HasSuffix(table.Metric, "_ns") {
			factor = 1e-9
		}
		for _, r := range table.Rows {
			found := benchstatRow(t, out, unit, r.Cell.Settings["nodes"])
			for i, want := range map[int]float64{1: *r.A.Median * factor, 3: *r.B.Median * factor} {
				if got, err := strconv.ParseFloat(found[i], 64); err != nil || math.Abs(got-want) > 1e-9*want {
					t.Errorf("%s, N = %s: benchstat has %s, want %v", unit, r.Cell.Settings["nodes"], found[i], want)
				}
			}
			change, p := "~", fmt.Sprintf("p=%.3f n=8", *r.P)
			if r.Significant {
				change = fmt.Sprintf("%+.2f%%", 100**r.Change)
			}
			if found[5] != change || found[6] != p {
				t.Errorf("%s, N = %s: benchstat says %s, %s; compare %s, %s", unit, r.Cell.Settings["nodes"], found[5], found[6], change, p)
			}
			compared++
		}
	}
	if compared != 13 { // 7 metrics of 2 cells, and no synchronization delay for 3 nodes
		t.Errorf("compared %d rows", compared)
	}
}

// benchstatRow finds the row of some number of nodes in the table of a unit.
func benchstatRow(t *testing.T, out []byte, unit, nodes string) []string {
	t.Helper()
	r := csv.NewReader(bytes.NewReader(out))
	r.FieldsPerRecord = -1
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	inside := false
	for _, row := range rows {
		if len(row) > 1 && row[0] == "" && row[1] != "" && !strings.HasSuffix(row[1], ".txt") {
			inside = row[1] == unit
		}
		if inside && len(row) > 6 && row[0] == nodes {
			return row
		}
	}
	t.Fatalf("benchstat has no row of %s, N = %s in\n%s", unit, nodes, out)
	return nil
}

// Every line is read as what it was, whatever labels and options hold.
func TestBenchfmtIsRead(t *testing.T) {
	list := experiment(t, 1)
	odd := ran(t, "grid / 3=x\u00a0y-4", 7, 1, 1)
	odd.Result.Spec.Set = map[string]string{"weights": "1 2/3-4"}
	odd.Result.Environment = nil
	bad := ran(t, "maekawa-grid", 3, 9, 1)
	bad.Result.Status = runs.Stalled
	var metrics []string
	for _, m := range runs.Metrics() {
		metrics = append(metrics, m.Name)
	}
	text := benchmarks(t, append(list, odd, bad), metrics...)
	reader := benchfmt.NewReader(bytes.NewReader(text), "export")
	lines := 0
	var last *benchfmt.Result
	for reader.Scan() {
		switch record := reader.Result().(type) {
		case *benchfmt.SyntaxError:
			t.Error(record)
		case *benchfmt.Result:
			lines++
			last = record.Clone()
			if want := list[0].Result; lines == 1 {
				if x, ok := record.Value("msgs/CS"); !ok || x != *want.Messages.PerCS {
					t.Errorf("%v msgs/CS, want %v", x, *want.Messages.PerCS)
				}
				if x, ok := record.Value("response-p50-sec"); !ok || math.Abs(x-float64(want.ResponseTime.P50)*1e-9) > 1e-12 {
					t.Errorf("%v response-p50-sec, want %d ns", x, want.ResponseTime.P50)
				}
				if record.Iters != entries || record.GetConfig("goos") != "linux" || record.GetConfig("cpu") != "A CPU @ 2 GHz" {
					t.Errorf("%+v", record)
				}
				if name := record.Name.String(); name != "DME/algorithm=maekawa/label=maekawa-grid/quorum=grid/nodes=3/cs=100us/"+
					"requests=400/transport=tcp/workload=saturate" {
					t.Errorf("name %s", name)
				}
			}
		}
	}
	if err := reader.Err(); err != nil {
		t.Fatal(err)
	}
	if lines != len(list)+1 {
		t.Fatalf("%d lines, want %d", lines, len(list)+1)
	}
	base, parts := last.Name.Parts()
	if string(base) != "DME" || len(parts) != 8 || string(parts[1]) != "/label=grid___3_x_y-4" ||
		string(parts[2]) != "/weights=1_2_3-4" || string(parts[7]) != "/workload=saturate" {
		t.Errorf("the odd name is %q %q", base, parts)
	}
	if last.GetConfig("goos") != "" {
		t.Error("a run without an environment has that of another one")
	}
}

// Each line of a percentile text is what the merged histogram says.
func TestHgrmIsTheMergedHistogram(t *testing.T) {
	list := experiment(t, 1)
	files, err := export.Hgrm(&runs.Set{Runs: list})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 5 {
		t.Fatalf("%d files", len(files))
	}
	var encoded []string
	for _, r := range list {
		if r.Result.Nodes == 7 {
			encoded = append(encoded, r.Result.Histograms.Response)
		}
	}
	packed, err := stats.Merge(encoded)
	if err != nil {
		t.Fatal(err)
	}
	h := hdrhistogram.New(1, packed.HighestTrackableValue(), int(packed.SignificantFigures()))
	packed.MergeInto(h)
	text := named(t, files, "maekawa-grid-n7-tcp-saturate-response.hgrm")
	lines, total := 0, false
	for line := range strings.Lines(text) {
		var value, percentile float64
		var count int64
		if n, _ := fmt.Sscan(line, &value, &percentile, &count); n == 3 {
			lines++
			// The percentile lies between two ranks; microseconds are what is written.
			rank, all := percentile*float64(h.TotalCount()), float64(h.TotalCount())
			lo, hi := h.ValueAtQuantile(100*math.Floor(rank)/all), h.ValueAtQuantile(100*math.Ceil(rank)/all)
			if got := value * 1e6; (got < float64(lo)-500 || got > float64(hi)+500) && !h.ValuesAreEquivalent(int64(got)-500, lo) {
				t.Errorf("%.6f: %v ns, want %d to %d", percentile, got, lo, hi)
			}
			if at := h.ValueAtQuantile(100 * float64(count) / float64(h.TotalCount())); math.Abs(float64(at)-value*1e6) > 500 {
				t.Errorf("up to %v ms there are %d values, but that many are below %d ns", value, count, at)
			}
		}
		total = total || strings.Contains(line, fmt.Sprintf("Total count    = %12d", 8*entries))
	}
	if lines < 20 || !total {
		t.Errorf("%d lines, total count there: %v", lines, total)
	}
}

// The log is read back by HdrHistogram's own reader: every histogram of every
// repetition, bucket by bucket.
func TestHlogRoundTrip(t *testing.T) {
	list := experiment(t, 1)
	started := time.Date(2026, 11, 20, 9, 30, 0, 0, time.UTC)
	files, err := export.Hlog(&runs.Set{Header: runs.Header{Started: started}, Runs: list})
	if err != nil {
		t.Fatal(err)
	}
	text := named(t, files, "maekawa-grid-n7-tcp-saturate.hlog")
	if !strings.HasPrefix(text, "#[Histogram log format version 1.3]\n") {
		t.Errorf("the log begins with %.60q", text)
	}
	reader := hdrhistogram.NewHistogramLogReader(strings.NewReader(text))
	end := started.UnixMilli()
	for _, r := range list {
		if r.Result.Nodes != 7 {
			continue
		}
		start := end
		for _, want := range []struct{ tag, encoded string }{
			{"response", r.Result.Histograms.Response}, {"waiting", r.Result.Histograms.Waiting},
			{"sync-delay", r.Result.Histograms.SyncDelay},
		} {
			got, err := reader.NextIntervalHistogram()
			if err != nil || got == nil {
				t.Fatalf("%s: %v, %v", want.tag, got, err)
			}
			h, err := hdrhistogram.Decode([]byte(want.encoded))
			if err != nil {
				t.Fatal(err)
			}
			if got.Tag() != want.tag || !got.Equals(h) || got.TotalCount() != entries {
				t.Errorf("repetition %d: tag %q, %d values, want %q and the histogram that was written", r.Repetition, got.Tag(),
					got.TotalCount(), want.tag)
			}
			// The log writes seconds as decimals, which the reader cuts off.
			if late := got.StartTimeMs() - start; late < -1 || late > 1 || got.EndTimeMs() <= start {
				t.Errorf("repetition %d: from %d to %d, want from %d", r.Repetition, got.StartTimeMs(), got.EndTimeMs(), start)
			}
			end = got.EndTimeMs()
		}
		// 400 entries at about 200 a second.
		if end-start < 1900 || end-start > 2100 {
			t.Errorf("repetition %d takes %d ms", r.Repetition, end-start)
		}
	}
	if h, err := reader.NextIntervalHistogram(); h != nil || err != nil {
		t.Errorf("after the last one: %v, %v", h, err)
	}
}

func TestCSV(t *testing.T) {
	list := experiment(t, 1)
	bad := ran(t, "maekawa-grid", 3, 9, 1)
	bad.Result.Status, bad.Result.Throughput = runs.Stalled, nil
	in := &runs.Set{Runs: append(list, bad)}
	files, err := export.CSV(in)
	if err != nil {
		t.Fatal(err)
	}
	table := func(name string) []map[string]string {
		rows, err := csv.NewReader(strings.NewReader(named(t, files, name))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		var all []map[string]string
		for _, row := range rows[1:] {
			m := make(map[string]string)
			for i, key := range rows[0] {
				if _, twice := m[key]; twice {
					t.Errorf("%s has two columns %s", name, key)
				}
				m[key] = row[i]
			}
			all = append(all, m)
		}
		return all
	}
	if summary := table("summary.csv"); len(summary) != 2 || summary[0]["messages_per_cs"] != "3" || summary[0]["repetitions"] != "9" {
		t.Errorf("%v", summary)
	}
	rows := table("runs.csv")
	if len(rows) != 17 {
		t.Fatalf("%d runs", len(rows))
	}
	first, last := rows[0], rows[16]
	if first["status"] != "ok" || first["seed"] != "1" || first["set"] != "quorum=grid" || first["nodes"] != "3" ||
		first["response_time_p50_ns"] == "" {
		t.Errorf("%v", first)
	}
	if last["status"] != "stalled" || last["throughput_cs_per_s"] != "" || last["repetition"] != "10" {
		t.Errorf("%v", last)
	}
	// The buckets of a run hold all its critical sections, and of runs that did
	// not end well there are none.
	counts := make(map[string]int)
	for _, row := range table("times.csv") {
		n, err := strconv.Atoi(row["count"])
		from, errFrom := strconv.ParseInt(row["from_ns"], 10, 64)
		to, errTo := strconv.ParseInt(row["to_ns"], 10, 64)
		if err != nil || errFrom != nil || errTo != nil || from > to || n < 1 {
			t.Fatalf("%v", row)
		}
		counts[row["nodes"]+"/"+row["repetition"]+"/"+row["quantity"]] += n
	}
	if len(counts) != 8*5 {
		t.Errorf("%d distributions, want 40", len(counts))
	}
	for which, n := range counts {
		if n != entries {
			t.Errorf("%s has %d values", which, n)
		}
	}
}

// Cells that would share a name do not share a file.
func TestFilesHaveNamesOfTheirOwn(t *testing.T) {
	one, other := ran(t, "maekawa", 7, 1, 1), ran(t, "maekawa", 7, 1, 1)
	other.Result.Spec.Requests = 50
	files, err := export.Hlog(&runs.Set{Runs: []runs.Run{one, other}})
	if err != nil || len(files) != 2 || files[0].Name == files[1].Name {
		t.Errorf("%v, %v", files, err)
	}
	if !strings.Contains(string(files[0].Data), "#[StartTime: 0 (seconds since epoch)") {
		t.Errorf("%.300s", files[0].Data)
	}
}

func TestNothingToExport(t *testing.T) {
	failed := ran(t, "maekawa", 7, 1, 1)
	failed.Result.Status = runs.Failed
	bare := ran(t, "maekawa", 7, 1, 1)
	bare.Result.Histograms = runs.Histograms{}
	broken := ran(t, "maekawa", 7, 1, 1)
	broken.Result.Histograms.Waiting = "rubbish"
	for name, list := range map[string][]runs.Run{
		"no runs": nil, "failed": {failed}, "no histograms": {bare}, "broken histogram": {broken},
	} {
		set := &runs.Set{Runs: list}
		if _, err := export.Hgrm(set); err == nil {
			t.Errorf("%s: Hgrm succeeded", name)
		}
		if _, err := export.Hlog(set); err == nil {
			t.Errorf("%s: Hlog succeeded", name)
		}
	}
	if err := export.Benchfmt(&bytes.Buffer{}, &runs.Set{Runs: []runs.Run{failed}}, runs.Metrics()); err == nil {
		t.Error("Benchfmt of failed runs succeeded")
	}
	if _, err := export.CSV(&runs.Set{Runs: []runs.Run{broken}}); err == nil {
		t.Error("CSV of a broken histogram succeeded")
	}
}

func named(t *testing.T, files []export.File, name string) string {
	t.Helper()
	var names []string
	for _, f := range files {
		if f.Name == name {
			return string(f.Data)
		}
		names = append(names, f.Name)
	}
	t.Fatalf("there is no %s; there are %v", name, names)
	return ""
}
