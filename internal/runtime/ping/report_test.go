package ping

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
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

func TestRatioOfKnownPairs(t *testing.T) {
	m := ringOf(1.0, 0.1, 0.9, 0.2, 0.8, 0.3, 0.7, 0.4, 0.6, 0.5)
	m.compare()
	rate, perCore := m.Quantities[0], m.Quantities[1]
	// Between the 2nd and the 9th of ten lies the median with 97.9%.
	if got := rate.Ratio.String(); got != "0.550 [0.200, 0.900]" {
		t.Errorf("ratio %s", got)
	}
	if rate.Ratio.Pairs != 10 || rate.Ratio.Confidence != 0.95 || len(rate.Warnings) != 0 {
		t.Errorf("%+v", rate)
	}
	if *rate.Bare != 5500 {
		t.Errorf("median %v of the bare rates", *rate.Bare)
	}
	if got := perCore.Ratio.String(); got != "0.500 [0.500, 0.500]" {
		t.Errorf("ratio per core %s", got)
	}
}

func TestRatioOfTimesIsOfSpeeds(t *testing.T) {
	m := &Measurement{Test: RoundTrip, Pairs: []Pair{{
		Bare: Values{RoundTripP50: 10, RoundTripP99: 30, OneWayP50: 5},
		Ours: Values{RoundTripP50: 20, RoundTripP99: 15, OneWayP50: 0},
	}}}
	m.compare()
	var got []string
	for _, c := range m.Quantities {
		got = append(got, c.Ratio.String())
	}
	if s := strings.Join(got, " "); s != "0.500 2.000 – –" {
		t.Errorf("ratios %s", s)
	}
	if w := strings.Join(m.Quantities[2].Warnings, "; "); !strings.Contains(w, "1 of 1 pairs have no ratio") {
		t.Errorf("warnings: %s", w)
	}
}

func TestFewPairsHaveNoInterval(t *testing.T) {
	m := ringOf(1, 1, 1, 1, 1, 1, 1, 1, 1)
	m.compare()
	c := m.Quantities[0]
	if c.Ratio.Lo != nil || c.Ratio.Hi != nil || c.Ratio.Median == nil {
		t.Errorf("%+v", c.Ratio)
	}
	if w := strings.Join(c.Warnings, "; "); !strings.Contains(w, "9 pairs are too few") {
		t.Errorf("warnings: %s", w)
	}
}

func TestProcessorTimeOfNothingIsNoRate(t *testing.T) {
	v := Values{Messages: 100}
	v.addProcessorTime(0)
	if _, ok := v[MessagesPerCore]; ok {
		t.Error("a rate over no time")
	}
	v.addProcessorTime(0.5)
	if v[MessagesPerCore] != 200 || v[ProcessorTime] != 0.5 {
		t.Errorf("%v", v)
	}
}

func example() *Report {
	s := DefaultSpec()
	s.Networks = []string{"tcp"}
	m := ringOf(1.0, 0.1, 0.9, 0.2, 0.8, 0.3, 0.7, 0.4, 0.6, 0.5)
	m.compare()
	return &Report{
		SchemaVersion: SchemaVersion, Spec: s, Environment: map[string]string{"cores": "2", "os": "linux", "arch": "amd64"},
		Placement:    Placement{Processes: 8, GOMAXPROCS: 1, Pinned: true, CPUs: []int{0, 1, 0, 1}, PairsPerSet: pairsPerSet},
		Measurements: []Measurement{*m},
	}
}

func TestJSONShape(t *testing.T) {
	r := example()
	few := ringOf(1)
	few.compare()
	r.Measurements = append(r.Measurements, *few)
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var got any
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"schema_version":              "1",
		"spec.stretch_ns":             fmt.Sprint(float64(200 * time.Millisecond)),
		"environment.cores":           "2",
		"placement.pinned":            "true",
		"placement.cpus":              "[0 1 0 1]",
		"placement.gomaxprocs":        "1",
		"measurements.0.transport":    "tcp",
		"measurements.0.test":         "ring",
		"measurements.0.tokens":       "1",
		"measurements.0.pairs.9.bare": "map[hops_per_core_s:500 hops_per_s:10000]",
		"measurements.0.pairs.9.ours": "map[hops_per_core_s:250 hops_per_s:5000]",
		"measurements.0.quantities.0": "map[bare:5500 name:hops_per_s ours:2950 " +
			"speed_ratio:map[confidence:0.95 hi:0.9 lo:0.2 median:0.55 pairs:10] warnings:[]]",
		"measurements.1.quantities.0.speed_ratio.median": "1",
		"measurements.1.quantities.0.speed_ratio.lo":     "<nil>",
	} {
		value := got
		for key := range strings.SplitSeq(path, ".") {
			switch x := value.(type) {
			case map[string]any:
				value = x[key]
			case []any:
				var i int
				fmt.Sscan(key, &i)
				value = x[i]
			}
		}
		if s := fmt.Sprint(value); s != want {
			t.Errorf("%s is %s, want %s", path, s, want)
		}
	}
}

func TestTables(t *testing.T) {
	var text, markdown strings.Builder
	r := example()
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteMarkdown(&markdown); err != nil {
		t.Fatal(err)
	}
	if want := `transport  test           quantity              bare   ours   speed ratio
tcp        ring, 1 token  hops/s                5,500  2,950  0.550 [0.200, 0.900]
tcp        ring, 1 token  hops per core second  500    250    0.500 [0.500, 0.500]

Medians of 10 pairs of stretches of 200ms, messages of 32 bytes. The speed ratio is ours to bare, with its 95% confidence interval.
8 processes of each side with GOMAXPROCS 1, pinned in turn to processors 0 1; 2 cores, linux amd64.
`; text.String() != want {
		t.Errorf("got\n%s\nwant\n%s", text.String(), want)
	}
	if want := "| tcp | ring, 1 token | hops/s | 5,500 | 2,950 | 0.550 [0.200, 0.900] |\n"; !strings.Contains(markdown.String(), want) {
		t.Errorf("got\n%s\nwithout\n%s", markdown.String(), want)
	}
}
