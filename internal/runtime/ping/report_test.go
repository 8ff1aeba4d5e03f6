package ping

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"dmebench/internal/testkit"
)

// ringOf returns a measurement whose pairs have the given ratios of rates.
func ringOf(ratios ...float64) *Measurement {
	m := &Measurement{Transport: "tcp", Test: Ring, Tokens: 1}
	for i, r := range ratios {
		bare := 1000 * float64(i+1) // ratios are of neighbours, whatever the level
		m.Pairs = append(m.Pairs, Pair{
			Bare: Values{HopRate: bare, HopsPerCore: 500},
			Ours: Values{HopRate: r * bare, HopsPerCore: 250},
		})
	}
	return m
}

// example has all that a report can say: enough pairs for an interval, too few, and
// one without a ratio.
func example() *Report {
	s := DefaultSpec()
	s.Networks = []string{"tcp"}
	all := []Measurement{*ringOf(1.0, 0.1, 0.9, 0.2, 0.8, 0.3, 0.7, 0.4, 0.6, 0.5), *ringOf(1, 1, 1, 1, 1, 1, 1, 1, 1), {
		Transport: "udp", UDPLayer: "fifo", Test: RoundTrip,
		Pairs: []Pair{{
			Bare: Values{RoundTripP50: 10, RoundTripP99: 30, OneWayP50: 5},
			Ours: Values{RoundTripP50: 20, RoundTripP99: 15, OneWayP50: 0},
		}},
	}}
	for i := range all {
		all[i].compare()
	}
	return &Report{
		SchemaVersion: SchemaVersion, Spec: s, Environment: map[string]string{"cores": "2", "os": "linux", "arch": "amd64"},
		Placement:    Placement{Processes: 8, GOMAXPROCS: 1, Pinned: true, CPUs: []int{0, 1, 0, 1}, PairsPerSet: pairsPerSet},
		Measurements: all,
	}
}

// Between the 2nd and the 9th of ten pairs lies the median with 97.9%; nine are too few.
// Of times, the ratio is one of speeds.
func TestReport(t *testing.T) {
	r := example()
	var text, markdown bytes.Buffer
	if err := errors.Join(r.WriteText(&text), r.WriteMarkdown(&markdown)); err != nil {
		t.Fatal(err)
	}
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	testkit.FileMustBe(t, "testdata/report.txt", text.Bytes())
	testkit.FileMustBe(t, "testdata/report.md", markdown.Bytes())
	testkit.FileMustBe(t, "testdata/report.json", append(b, '\n'))
}
