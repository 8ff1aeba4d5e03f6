package ping

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"dmebench/internal/platform/layout"
	"dmebench/stats"
	"dmebench/units"
)

const SchemaVersion = 1

type Side string

// The sides.
const (
	Bare Side = "bare" // plain sockets, or the client library alone
	Ours Side = "ours" // the transport
)

// Report is what a measurement has found out. Its JSON form is a contract: keys
// are added, never changed. Unknown values are null.
type Report struct {
	SchemaVersion int               `json:"schema_version"`
	Spec          Spec              `json:"spec"`
	Environment   map[string]string `json:"environment"`
	Placement     Placement         `json:"placement"`
	Measurements  []Measurement     `json:"measurements"`
}

type Placement struct {
	Processes   int    `json:"processes"`           // of each side
	GOMAXPROCS  int    `json:"gomaxprocs"`          // of each process
	Pinned      bool   `json:"pinned"`              // each to one processor
	CPUs        []int  `json:"cpus"`                // by process, if they were pinned
	PairsPerSet int    `json:"pairs_per_processes"` // pairs that the same processes made
	NATSServer  string `json:"nats_server,omitempty"`
}

type Measurement struct {
	Transport  string       `json:"transport"`
	UDPLayer   string       `json:"udp_layer,omitempty"`
	Test       Test         `json:"test"`
	Tokens     int          `json:"tokens,omitempty"`
	Pairs      []Pair       `json:"pairs"`
	Quantities []Comparison `json:"quantities"`
}

type Pair struct {
	Processes int    `json:"processes"` // the set of processes, from 1
	First     Side   `json:"first"`     // the side measured first
	Bare      Values `json:"bare"`
	Ours      Values `json:"ours"`
}

type Values map[string]float64

// The measures of a stretch. A test gives some of these.
const (
	Trips        = "round_trips" // how many were made
	RoundTripP50 = "round_trip_p50_ns"
	RoundTripP99 = "round_trip_p99_ns"
	OneWayP50    = "one_way_p50_ns"
	OneWayP99    = "one_way_p99_ns"

	Hops        = "hops" // how many were made
	HopRate     = "hops_per_s"
	HopsPerCore = "hops_per_core_s" // per second of processor time of all processes

	Messages        = "messages" // how many have arrived
	MessageRate     = "messages_per_s"
	MessagesPerCore = "messages_per_core_s" // per second of processor time of both processes
	Lost            = "lost"                // messages that have not arrived

	ProcessorTime = "cpu_s" // used by the processes that take part
)

func (v Values) addProcessorTime(seconds float64) {
	v[ProcessorTime] = seconds
	for _, x := range []struct{ rate, count string }{{HopsPerCore, Hops}, {MessagesPerCore, Messages}} {
		if count, ok := v[x.count]; ok && seconds > 0 {
			v[x.rate] = count / seconds
		}
	}
}

type quantity struct {
	name  string
	title string
	time  bool // less is faster
}

var quantities = map[Test][]quantity{
	RoundTrip: {
		{RoundTripP50, "round trip, p50", true}, {RoundTripP99, "round trip, p99", true},
		{OneWayP50, "one way, p50", true}, {OneWayP99, "one way, p99", true},
	},
	Ring:   {{HopRate, "hops/s", false}, {HopsPerCore, "hops per core second", false}},
	Stream: {{MessageRate, "messages/s", false}, {MessagesPerCore, "messages per core second", false}},
}

func (q quantity) of(v Values) float64 {
	if x, ok := v[q.name]; ok {
		return x
	}
	return math.NaN()
}

func (q quantity) format(x *float64) string {
	switch {
	case x == nil:
		return units.Missing
	case q.time:
		return units.Time(*x)
	}
	return units.Number(*x)
}

type Comparison struct {
	Name     string   `json:"name"`
	Bare     *float64 `json:"bare"` // median
	Ours     *float64 `json:"ours"` // median
	Ratio    Ratio    `json:"speed_ratio"`
	Warnings []string `json:"warnings"`
}

// Ratio is the median of the ratios of speeds, ours to bare, pair by pair: above 1 ours is faster,
// even if the quantity is a time.
type Ratio struct {
	Pairs      int      `json:"pairs"`
	Median     *float64 `json:"median"`
	Lo         *float64 `json:"lo"` // confidence interval of the median
	Hi         *float64 `json:"hi"`
	Confidence float64  `json:"confidence"`
}

func (r Ratio) String() string {
	switch {
	case r.Median == nil:
		return units.Missing
	case r.Lo == nil || r.Hi == nil:
		return fmt.Sprintf("%.3f", *r.Median)
	}
	return fmt.Sprintf("%.3f [%.3f, %.3f]", *r.Median, *r.Lo, *r.Hi)
}

func (m *Measurement) compare() {
	m.Quantities = nil
	for _, q := range quantities[m.Test] {
		var bare, ours, ratios []float64
		for _, p := range m.Pairs {
			b, o := q.of(p.Bare), q.of(p.Ours)
			bare, ours = append(bare, b), append(ours, o)
			if q.time {
				b, o = o, b
			}
			ratios = append(ratios, o/b) // what is not finite has no part in the median
		}
		e := stats.Median(ratios)
		c := Comparison{
			Name: q.name, Bare: stats.Known(stats.Median(bare).Median), Ours: stats.Known(stats.Median(ours).Median),
			Ratio:    Ratio{Pairs: e.N, Median: stats.Known(e.Median), Confidence: stats.Confidence},
			Warnings: []string{},
		}
		if e.N < len(ratios) {
			c.Warnings = append(c.Warnings, fmt.Sprintf("%d of %d pairs have no ratio", len(ratios)-e.N, len(ratios)))
		}
		switch {
		case e.N < MinPairs:
			c.Warnings = append(c.Warnings,
				fmt.Sprintf("%d pairs are too few for a confidence interval; take at least %d", e.N, MinPairs))
		case e.Bounded():
			c.Ratio.Lo, c.Ratio.Hi = &e.Lo, &e.Hi
		}
		m.Quantities = append(m.Quantities, c)
	}
}

func (r *Report) WriteText(out io.Writer) error {
	if err := r.table().WriteText(out); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "\n%s.\n%s.\n", r.legend(), r.placement())
	return err
}

func (r *Report) WriteMarkdown(out io.Writer) error {
	if err := r.table().WriteMarkdown(out); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "\n%s. %s.\n", r.legend(), r.placement())
	return err
}

func (r *Report) table() *layout.Table {
	t := layout.NewTable("transport", "test", "quantity", "bare", "ours", "speed ratio")
	for _, m := range r.Measurements {
		network := strings.TrimSpace(m.Transport + " " + m.UDPLayer)
		for k, q := range quantities[m.Test] {
			c := m.Quantities[k]
			t.Add(network, Task{Test: m.Test, Tokens: m.Tokens}.String(), q.title,
				q.format(c.Bare), q.format(c.Ours), c.Ratio.String())
		}
	}
	return t
}

func (r *Report) legend() string {
	s := fmt.Sprintf("Medians of %d pairs of stretches of %v, messages of %d bytes. The speed ratio is ours to bare",
		r.Spec.Pairs, r.Spec.Stretch, r.Spec.Size)
	if r.Spec.Pairs < MinPairs {
		return s + fmt.Sprintf("; an interval takes at least %d pairs", MinPairs)
	}
	return s + ", with its 95% confidence interval"
}

func (r *Report) placement() string {
	p := &r.Placement
	s := fmt.Sprintf("%d processes of each side with GOMAXPROCS %d", p.Processes, p.GOMAXPROCS)
	if !p.Pinned {
		s += ", placed by the kernel"
	} else {
		used := slices.Compact(slices.Sorted(slices.Values(p.CPUs)))
		s += fmt.Sprintf(", pinned in turn to processors %s", strings.Trim(fmt.Sprint(used), "[]"))
	}
	if cores, ok := r.Environment["cores"]; ok {
		s += fmt.Sprintf("; %s cores, %s %s", cores, r.Environment["os"], r.Environment["arch"])
	}
	return s
}
