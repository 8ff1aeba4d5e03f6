package report_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"dmebench/internal/testkit"
	"dmebench/report"
	"dmebench/report/page"
	"dmebench/report/plots"
	"dmebench/runs"
)

// measured makes up the result of a run, plausible enough to be drawn.
func measured(t *testing.T, algorithm, workload string, n, rep int) *runs.Result {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(n), uint64(rep)))
	h := hdrhistogram.New(1, 60e9, 2)
	mean := 1e5 * float64(n) * (0.9 + 0.2*rng.Float64())
	for range 200 {
		if err := h.RecordValue(int64(mean * (0.5 + rng.ExpFloat64()))); err != nil {
			t.Fatal(err)
		}
	}
	b, err := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		t.Fatal(err)
	}
	times := func() *runs.Quantiles {
		q := func(p float64) int64 { return h.ValueAtQuantile(p) }
		return &runs.Quantiles{Count: 200, Mean: h.Mean(), P50: q(50), P90: q(90), P99: q(99), P999: q(99.9), Max: h.Max()}
	}
	entries := uint64(50 * n)
	messages := 2 * uint64(n-1) * entries
	number := func(x float64) *float64 { return &x }
	return &runs.Result{
		SchemaVersion: runs.SchemaVersion, Algorithm: algorithm, Nodes: n, Transport: "tcp", Workload: workload,
		Seed: uint64(rep), Status: runs.OK, Requests: entries, Entries: entries,
		Messages: runs.Messages{
			Total: messages, Transmissions: messages, PerCS: number(float64(messages) / float64(entries)),
			SteadyPerCS: number(float64(messages) / float64(entries)),
			ByKind:      map[string]uint64{"REQUEST": messages / 2, "REPLY": messages / 2},
		},
		Throughput: number(1e9 / mean), ResponseTime: times(), WaitingTime: times(), SyncDelay: times(),
		T: number(5e4), SyncDelayOverT: number(1 + rng.Float64()/10), CS: number(1e5),
		Fairness: runs.Fairness{Jain: number(0.99), LongestRun: 2, MaxBypass: uint64(n)},
		Safety:   runs.Safety{Checked: entries, Method: "shared-page"},
		Work:     runs.Work{MaxOverMean: number(1.25)},
		Workers:  n, Warnings: []string{fmt.Sprintf("generator late by %d µs (p99)", 100+rep)},
		Environment: map[string]string{"cpus": "2"},
		Spec: runs.Spec{
			Algorithm: algorithm, Nodes: n, Transport: "tcp", Workload: workload, CS: "100us", Requests: 50 * n,
			Seed: uint64(rep), NodesPerWorker: 1, Warmup: "auto",
		},
		Histograms: runs.Histograms{Response: string(b), Waiting: string(b)},
	}
}

// experiment is all repetitions of all cells.
func experiment(t *testing.T, labels []string, workloads []string, sizes []int, repetitions int) report.Input {
	in := report.Input{Set: runs.Set{Header: runs.Header{
		Experiment: runs.Experiment{Name: "quickstart"}, File: "name: quickstart\n",
		Started: time.Date(2026, 11, 20, 9, 30, 0, 0, time.UTC), Environment: map[string]string{"host": "bench-1"},
	}}}
	for _, w := range workloads {
		for _, n := range sizes {
			for rep := 1; rep <= repetitions; rep++ {
				for _, label := range labels {
					in.Runs = append(in.Runs, runs.Run{
						Label: label, Transport: "tcp", Workload: w, Repetition: rep - 1, Result: measured(t, label, w, n, rep),
					})
				}
			}
		}
	}
	return in
}

// lean leaves nothing but messages, so that there is one figure to draw.
func lean(in report.Input) report.Input {
	for _, r := range in.Runs {
		r.Result.Throughput, r.Result.ResponseTime, r.Result.WaitingTime, r.Result.SyncDelay = nil, nil, nil, nil
		r.Result.SyncDelayOverT, r.Result.Histograms = nil, runs.Histograms{}
		r.Result.Messages.ByKind, r.Result.Fairness, r.Result.Work = nil, runs.Fairness{}, runs.Work{}
	}
	return in
}

// built is the files of a report, and what it was made of.
type built struct {
	in    report.Input
	files map[string][]byte
}

// build makes a report with its figures, in one format only unless others are asked for:
// pixels are dear where races are looked for.
func build(t *testing.T, in report.Input) built {
	t.Helper()
	in.Plots = true
	if in.Formats == nil {
		in.Formats = []plots.Format{plots.SVG}
	}
	b, err := filesOf(in)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func filesOf(in report.Input) (built, error) {
	b := built{in, make(map[string][]byte)}
	files, err := in.Files()
	for _, f := range files {
		b.files[f.Name] = f.Data
	}
	return b, err
}

// page is what the page shows.
func (b built) page(t *testing.T) *page.Data {
	t.Helper()
	d, err := b.in.Page()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// captions are those of captions.txt, by the names of the figures.
func (b built) captions(t *testing.T) map[string]string {
	t.Helper()
	captions := make(map[string]string)
	for _, one := range strings.Split(strings.TrimSpace(string(b.file(t, "captions.txt"))), "\n\n") {
		name, caption, _ := strings.Cut(one, "\n")
		captions[name] = caption
	}
	return captions
}

func (b built) csv(t *testing.T) []map[string]string {
	t.Helper()
	return testkit.Table(t, b.file(t, "summary.csv"))
}

// crashed is an experiment of six repetitions, whose nodes are killed and take
// 40 ms, 41 ms, … until another enters.
func crashed(t *testing.T, faults ...string) report.Input {
	in := experiment(t, []string{"a", "b"}, []string{"saturate"}, []int{5}, 6)
	for i, r := range in.Runs {
		disturb(r.Result, int64(40+i/2)*1e6, faults...)
	}
	return in
}

func disturb(r *runs.Result, recovered int64, faults ...string) {
	r.Spec.Faults = faults
	served, messages := recovered+5e6, uint64(33)
	r.Series = &runs.Series{IntervalNS: 10e6}
	for range 40 {
		p99 := int64(7e6)
		r.Series.Entries, r.Series.P99NS = append(r.Series.Entries, 5), append(r.Series.P99NS, &p99)
	}
	for i, f := range faults {
		what, _, _ := strings.Cut(f, " ")
		r.Faults = append(r.Faults, runs.Fault{
			Fault: f, What: what, AtNS: 150e6 + int64(i)*50e6, Nodes: []int{3},
			RecoveredNS: &recovered, ServedNS: &served, Messages: &messages, Waiting: 4, Lost: 1,
		})
	}
}
