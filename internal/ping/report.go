package ping

import (
	"fmt"

	"dmebench/report/stats"
)

// SchemaVersion is the version of the report's JSON form.
const SchemaVersion = 1

// Side is one of the two that are compared.
type Side string

// The sides.
const (
	Bare Side = "bare" // plain sockets, or the client library alone
	Ours Side = "ours" // the transport
)

// Report is what a measurement has found out. Its JSON form is a contract: keys
// are added, never changed. What is not known is null.
type Report struct {
	SchemaVersion int               `json:"schema_version"`
	Spec          Spec              `json:"spec"`
	Environment   map[string]string `json:"environment"`
	Placement     Placement         `json:"placement"`
	Measurements  []Measurement     `json:"measurements"`
}

// Placement says where the processes ran.
type Placement struct {
	Processes   int    `json:"processes"`           // of each side
	GOMAXPROCS  int    `json:"gomaxprocs"`          // of each process
	Pinned      bool   `json:"pinned"`              // each to one processor
	CPUs        []int  `json:"cpus"`                // by process, where they were pinned
	PairsPerSet int    `json:"pairs_per_processes"` // pairs that the same processes made
	NATSServer  string `json:"nats_server,omitempty"`
}

// Measurement is a test over a network.
type Measurement struct {
	Transport  string       `json:"transport"`
	UDPLayer   string       `json:"udp_layer,omitempty"`
	Test       Test         `json:"test"`
	Tokens     int          `json:"tokens,omitempty"`
	Pairs      []Pair       `json:"pairs"`
	Quantities []Comparison `json:"quantities"`
}

// Pair is two neighbouring stretches, one of each side.
type Pair struct {
	Processes int    `json:"processes"` // which set of processes, from 1
	First     Side   `json:"first"`     // which side was measured first
	Bare      Values `json:"bare"`
	Ours      Values `json:"ours"`
}

// Comparison is what the pairs say of one quantity.
type Comparison struct {
	Name     string   `json:"name"`
	Bare     *float64 `json:"bare"` // median
	Ours     *float64 `json:"ours"` // median
	Ratio    Ratio    `json:"speed_ratio"`
	Warnings []string `json:"warnings"`
}

// Ratio is the median of the ratios of speeds, ours to bare, pair by pair: above
// 1 ours is faster, also where the quantity is a time.
type Ratio struct {
	Pairs      int      `json:"pairs"`
	Median     *float64 `json:"median"`
	Lo         *float64 `json:"lo"` // confidence interval of the median
	Hi         *float64 `json:"hi"`
	Confidence float64  `json:"confidence"`
}

// compare summarizes the pairs.
func (m *Measurement) compare() {
	m.Quantities = nil
	for _, q := range quantities[m.Test] {
		var bare, ours, ratios []float64
		for _, p := range m.Pairs {
			bare, ours = appendKnown(bare, p.Bare, q.name), appendKnown(ours, p.Ours, q.name)
			ratios = append(ratios, q.speedRatio(p.Bare, p.Ours))
		}
		e := stats.Median(ratios)
		c := Comparison{
			Name: q.name, Bare: median(bare), Ours: median(ours),
			Ratio:    Ratio{Pairs: e.N, Confidence: stats.Confidence},
			Warnings: []string{},
		}
		if e.N > 0 {
			c.Ratio.Median = &e.Median
		}
		if e.N < len(ratios) {
			c.Warnings = append(c.Warnings, fmt.Sprintf("%d of %d pairs have no ratio", len(ratios)-e.N, len(ratios)))
		}
		switch {
		case e.N < MinPairs:
			c.Warnings = append(c.Warnings, fmt.Sprintf("%d pairs are too few for a confidence interval; take at least %d", e.N, MinPairs))
		case e.Bounded():
			c.Ratio.Lo, c.Ratio.Hi = &e.Lo, &e.Hi
		}
		m.Quantities = append(m.Quantities, c)
	}
}

func appendKnown(to []float64, v Values, name string) []float64 {
	if x, ok := v[name]; ok {
		to = append(to, x)
	}
	return to
}

func median(x []float64) *float64 {
	if e := stats.Median(x); e.N > 0 {
		return &e.Median
	}
	return nil
}
