// Package runs is the vocabulary of results: what one run was asked to do (a
// [Spec]) and what it found out (a [Result]); which runs are repetitions of one
// another (a [Key] and its projections); the numbers that a run has (a [Metric]);
// the columns of tables for other programs ([Columns]); and the file of a sweep (a
// [Store]), which says what belongs to which entry of an [Experiment].
//
// [Read] reads results wherever they were left. The package imports nothing of the
// program, so that others can read results too. It judges nothing, and carries
// nothing out.
package runs

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Spec is the configuration of one run, as flags or a file give it. Its JSON
// form travels to workers and is part of the digest by which a sweep continues:
// fields that were not given are left out, so that a new one does not change it.
type Spec struct {
	Algorithm      string            `json:"algorithm"`
	Nodes          int               `json:"nodes"`
	Transport      string            `json:"transport"`
	Workload       string            `json:"workload"`
	Rate           float64           `json:"rate,omitempty"`       // requests per second and node
	TotalRate      float64           `json:"total_rate,omitempty"` // requests per second of the system
	CS             string            `json:"cs"`                   // DURATION or exp:DURATION
	Requests       int               `json:"requests,omitempty"`   // total; 0 with a duration means no limit
	Duration       Duration          `json:"duration,omitempty"`
	Seed           uint64            `json:"seed"`
	NodesPerWorker int               `json:"nodes_per_worker"`
	Warmup         string            `json:"warmup"` // "auto" or a number of entries
	StallAfter     Duration          `json:"stall_after"`
	Set            map[string]string `json:"set,omitempty"`
	Listen         string            `json:"listen,omitempty"` // HOST:PORT of the control plane's broker
	AllowMismatch  bool              `json:"allow_mismatch,omitempty"`
	Faults         []string          `json:"faults,omitempty"`   // what is done to nodes on purpose, as package fault reads it
	Resource       string            `json:"resource,omitempty"` // what every critical section reads, changes and writes back
}

// Defaults of a Spec (the requests' is 100·N).
const (
	DefaultTransport  = "tcp"
	DefaultWorkload   = "saturate"
	DefaultCS         = "100us"
	DefaultSeed       = 1
	DefaultWarmup     = "auto"
	DefaultStallAfter = 10 * time.Second
)

// WithDefaults returns the spec with every field that was left zero at its default. Requests has
// one only if neither requests nor a duration nor a trace says when the run ends.
func (s Spec) WithDefaults() Spec {
	s.Transport = cmp.Or(s.Transport, DefaultTransport)
	s.Workload = cmp.Or(s.Workload, DefaultWorkload)
	s.CS = cmp.Or(s.CS, DefaultCS)
	s.Seed = cmp.Or(s.Seed, DefaultSeed)
	s.NodesPerWorker = cmp.Or(s.NodesPerWorker, 1)
	s.Warmup = cmp.Or(s.Warmup, DefaultWarmup)
	s.StallAfter = cmp.Or(s.StallAfter, Duration(DefaultStallAfter))
	if s.Requests == 0 && s.Duration == 0 && s.Workload != "trace" {
		s.Requests = 100 * s.Nodes
	}
	return s
}

// Without returns the spec as if a dimension (see [Dimensions]) had not been given.
func (s Spec) Without(dimension string) Spec {
	v := reflect.ValueOf(&s).Elem()
	for f, field := range v.Fields() {
		if key, _, _ := strings.Cut(f.Tag.Get("json"), ","); key == dimension {
			field.SetZero()
		}
	}
	return s
}

// Command is the command line of such a run, without options that have their default.
func (s Spec) Command() string {
	d := Spec{Nodes: s.Nodes}.WithDefaults()
	parts := []string{"dmebench run " + Quoted(s.Algorithm) + " -n " + strconv.Itoa(s.Nodes)}
	add := func(given bool, flag string, value any) {
		if given {
			parts = append(parts, "--"+flag+" "+Quoted(fmt.Sprint(value)))
		}
	}
	add(s.Transport != d.Transport, "transport", s.Transport)
	add(s.Workload != d.Workload, "workload", s.Workload)
	add(s.Rate > 0, "rate", s.Rate)
	add(s.TotalRate > 0, "total-rate", s.TotalRate)
	add(s.CS != d.CS, "cs", s.CS)
	add(s.Requests > 0 && s.Requests != d.Requests, "requests", s.Requests)
	add(s.Duration > 0, "duration", s.Duration)
	add(s.NodesPerWorker > 1, "nodes-per-worker", s.NodesPerWorker)
	add(s.Warmup != d.Warmup && s.Warmup != "", "warmup", s.Warmup)
	add(s.StallAfter > 0 && s.StallAfter != d.StallAfter, "stall-after", s.StallAfter)
	for _, name := range slices.Sorted(maps.Keys(s.Set)) {
		add(true, "set", name+"="+s.Set[name])
	}
	for _, fault := range s.Faults {
		add(true, "fault", fault)
	}
	add(s.Resource != "", "resource", s.Resource)
	if s.AllowMismatch {
		parts = append(parts, "--allow-mismatch")
	}
	add(true, "seed", s.Seed)
	return strings.Join(parts, " ")
}

// Quoted writes a word as a shell takes it.
func Quoted(word string) string {
	plain := func(r rune) bool {
		return r == '-' || r >= '+' && r <= '/' || r == ':' || r == '=' || r == '_' ||
			r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Sim is the name of the simulated network; every other one is real.
const Sim = "sim"

// Duration is a time.Duration that reads and writes as "1.5s".
type Duration time.Duration

func (d Duration) String() string { return time.Duration(d).String() }

// MarshalText writes the duration as time.Duration does.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what time.ParseDuration reads.
func (d *Duration) UnmarshalText(text []byte) error {
	x, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("%q is not a duration such as 500ms or 10s", text)
	}
	*d = Duration(x)
	return nil
}

// Std returns the duration as the standard library's type.
func (d Duration) Std() time.Duration { return time.Duration(d) }

// Experiment is what an experiment file says: what is compared, on how many
// nodes, over which transports, under which workloads, how often. Its JSON form
// stands in the header of a [Store].
type Experiment struct {
	SchemaVersion  int            `json:"schema_version" yaml:"schema_version"`
	Name           string         `json:"name" yaml:"name"` // of the folder of its results
	Description    string         `json:"description,omitempty" yaml:"description,omitempty"`
	Algorithms     List[Entry]    `json:"algorithms" yaml:"algorithms"`
	Nodes          []int          `json:"nodes" yaml:"nodes,flow"`
	Transports     List[Entry]    `json:"transports" yaml:"transports"`
	Sites          *Sites         `json:"sites,omitempty" yaml:"sites,omitempty"` // of all transports
	Workloads      List[Workload] `json:"workloads" yaml:"workloads"`
	Repetitions    int            `json:"repetitions" yaml:"repetitions,omitempty"`
	Seed           uint64         `json:"seed" yaml:"seed,omitempty"` // of the first repetition
	NodesPerWorker int            `json:"nodes_per_worker,omitempty" yaml:"nodes_per_worker,omitempty"`
	Warmup         string         `json:"warmup,omitempty" yaml:"warmup,omitempty"`
	StallAfter     Duration       `json:"stall_after,omitempty" yaml:"stall_after,omitempty"`
	AllowMismatch  bool           `json:"allow_mismatch,omitempty" yaml:"allow_mismatch,omitempty"` // even if links lack what is needed
	SkipInvalid    bool           `json:"skip_invalid,omitempty" yaml:"skip_invalid,omitempty"`     // leave out what cannot run
	Faults         []string       `json:"faults,omitempty" yaml:"faults,omitempty"`                 // of every run, for package fault
	Resource       string         `json:"resource,omitempty" yaml:"resource,omitempty"`             // used by every critical section
	Axes           []Axis         `json:"axes,omitempty" yaml:"axes,omitempty"`
	Figures        []Figure       `json:"figures,omitempty" yaml:"figures,omitempty"` // shown first by a report, and drawn for papers
}

// Sites says where nodes are, for the settings sites and place of each transport.
type Sites struct {
	File  string `json:"file" yaml:"file"` // of lines "from,to,delay"; regions stands for those that the program has
	Place string `json:"place,omitempty" yaml:"place,omitempty"`
}

// Entry is an algorithm or a transport with its settings.
type Entry struct {
	Name     string            `json:"name" yaml:"name"`
	Label    string            `json:"label,omitempty" yaml:"label,omitempty"` // unique among its kind
	Set      map[string]string `json:"set,omitempty" yaml:"set,omitempty,flow"`
	MaxNodes int               `json:"max_nodes,omitempty" yaml:"max_nodes,omitempty"` // leave out larger systems; 0 for no limit
}

// Workload is a workload with its settings; what was not given is zero.
type Workload struct {
	Name            string            `json:"name" yaml:"name"`
	Label           string            `json:"label,omitempty" yaml:"label,omitempty"` // unique among workloads
	CS              string            `json:"cs,omitempty" yaml:"cs,omitempty"`
	Rate            float64           `json:"rate,omitempty" yaml:"rate,omitempty"`             // requests per second and node
	TotalRate       float64           `json:"total_rate,omitempty" yaml:"total_rate,omitempty"` // requests per second of the system
	Requests        int               `json:"requests,omitempty" yaml:"requests,omitempty"`
	RequestsPerNode int               `json:"requests_per_node,omitempty" yaml:"requests_per_node,omitempty"`
	Duration        Duration          `json:"duration,omitempty" yaml:"duration,omitempty"`
	Set             map[string]string `json:"set,omitempty" yaml:"set,omitempty,flow"`
	Faults          []string          `json:"faults,omitempty" yaml:"faults,omitempty"` // beside those of the experiment
}

// Axis is a quantity against which figures of an experiment are drawn, beside
// the number of nodes, as the experiment's author asks for it.
type Axis struct {
	// Name ends the names of the figures' files: letters, digits and '-'.
	Name string `json:"name" yaml:"name"`

	// Over is what varies: a dimension of a [Key] (of algorithm, transport and
	// workload their labels in the experiment), or the name of an option.
	Over string `json:"over" yaml:"over,omitempty"`

	// Title names the quantity for a reader, with its unit. It may be "".
	Title string `json:"title,omitempty" yaml:"title,omitempty"`

	// Values says which number a text stands for, such as 3 for "radiating:3".
	// Texts that are numbers or durations need none; other texts stand side by
	// side in the order of the runs.
	Values map[string]float64 `json:"values,omitempty" yaml:"values,omitempty"`
}

// List is a list of entries. In YAML an entry may be its name alone.
type List[T Entry | Workload] []T
